/** CSV of text that spreadsheets would run as a formula. */
import { describe, it } from "vitest";
import { csvLines } from "../../src/worker/csv.ts";

describe("a CSV cell", () => {
  it("that a spreadsheet would take for a formula begins with an apostrophe", ({ expect }) => {
    // Excel takes the full-width forms for the ASCII ones in some languages.
    for (const sign of ["=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\n", "\r"]) {
      expect(csvLines([[`${sign}1`]])[0]?.replace(/^"/, "")[0], JSON.stringify(sign)).toBe("'");
    }
    expect(csvLines([["a=1", -1, "1"]])).toEqual(["a=1,-1,1"]);
  });
});
