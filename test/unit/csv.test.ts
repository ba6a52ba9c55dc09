/** CSV of text that spreadsheets would run as a formula. */
import { describe, it } from "vitest";
import { toCsv } from "../../src/worker/text/csv.ts";

describe("a CSV file", () => {
  it("has quotation marks where a separator, a quotation mark or a line break is", ({ expect }) => {
    expect(
      toCsv([
        ["line", "reason"],
        [2, 'a, "b"'],
        [-3, "a;b\nc"],
        [null, undefined],
      ]),
    ).toBe('line,reason\r\n2,"a, ""b"""\r\n-3,"a;b\nc"\r\n,\r\n');
  });

  it("has an apostrophe before a text that a spreadsheet would run as a formula", ({ expect }) => {
    for (const sign of "=+-@＝＋－＠") expect(toCsv([[`${sign}1+2`]])).toBe(`'${sign}1+2\r\n`);
    expect(toCsv([["-9223372036854775808", "-1x"]])).toBe("-9223372036854775808,'-1x\r\n");
    expect(toCsv([["\t=1", "\r=1", "\n=1", "a=1", "a＠b"]])).toBe(`"'\t=1","'\r=1","'\n=1",a=1,a＠b\r\n`);
  });
});
