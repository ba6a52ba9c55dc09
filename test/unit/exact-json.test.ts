/** JSON whose numbers keep their digits. */
import { describe, it } from "vitest";
import { exactNumber, parseExactJson } from "../../src/worker/text/exact-json.ts";

describe("parseExactJson", () => {
  it("passes each number's value and its digits in the text", ({ expect }) => {
    const seen: [number, string][] = [];
    const parsed = parseExactJson('{"a":[9223372036854775807,-1.50e2],"b":{"c":0}}', (value, source) => {
      seen.push([value, source]);
      return source;
    });
    expect(parsed).toEqual({ a: ["9223372036854775807", "-1.50e2"], b: { c: "0" } });
    expect(seen).toEqual([
      [2 ** 63, "9223372036854775807"],
      [-150, "-1.50e2"],
      [0, "0"],
    ]);
  });

  it("parses everything else as JSON.parse does", ({ expect }) => {
    const text = '{"a":"1","b":[true,null,"x"],"c":{}}';
    expect(parseExactJson(text, () => "a number")).toEqual(JSON.parse(text));
    expect(() => parseExactJson("{", () => 0)).toThrow(SyntaxError);
  });

  it("with exactNumber keeps every digit until JSON.stringify writes it", ({ expect }) => {
    const text = '{"id":9223372036854775807,"n":[-9007199254740993,1.5,7]}';
    expect(JSON.stringify(parseExactJson(text, exactNumber))).toBe(text);
  });
});
