/** JSON whose numbers keep their digits. */
import { describe, it } from "vitest";
import { exactValue, parseExactJson } from "../../src/worker/text/exact-json.ts";

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

  it("with exactValue makes text of integers that a number would round, and of no others", ({ expect }) => {
    expect(parseExactJson("[9007199254740993, -9007199254740991, 1.5, 1e300]", exactValue)).toEqual([
      "9007199254740993",
      -9007199254740991,
      1.5,
      1e300,
    ]);
  });
});
