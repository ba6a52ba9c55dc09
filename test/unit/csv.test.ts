/** CSV of text that spreadsheets would run as a formula. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { csvLines, toCsv } from "../../src/worker/csv.ts";

/** The cells as a program reads them whose separators are these. As in Excel, text after a closing quotation mark is kept. */
function cellsOf(csv: string, separators: string, hasQuotes: boolean): string[] {
  const cells: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (let i = 0; i < csv.length; i++) {
    const char = csv.charAt(i);
    if (isQuoted && char === '"' && csv[i + 1] === '"') cell += csv[i++];
    else if (hasQuotes && char === '"' && (isQuoted || cell === "")) isQuoted = !isQuoted;
    else if (isQuoted || !`${separators}\r\n`.includes(char)) cell += char;
    else {
      cells.push(cell);
      cell = "";
    }
  }
  return [...cells, cell];
}

const FORMULA = /^[\s"]*[=+\-@＝＋－＠]/;

describe("a text in a CSV cell", () => {
  it("has an apostrophe before a formula sign at its beginning, after a separator and after a line break", ({
    expect,
  }) => {
    // Excel takes the full-width forms for the ASCII ones in some languages.
    for (const sign of ["=", "+", "-", "@", "＝", "＋", "－", "＠"]) {
      for (const before of ["", " ", "\t", "\r", "\n", "\u200b", "a;", "a,", "a\t", "a\n", "a; ", 'a;"']) {
        const [line = ""] = csvLines([[`${before}${sign}1`]]);
        expect(line, JSON.stringify(before + sign)).toContain(`'${sign}1`);
      }
    }
    expect(csvLines([["acme;=1+1;x", "acme,\n@a"]])).toEqual([`"acme;'=1+1;x","acme,\n'@a"`]);
  });

  it("is unchanged where no cell can begin, and numbers are unchanged", ({ expect }) => {
    expect(csvLines([["a=1", "a - b", "a@b.example", -1, 1.5, null, undefined]])).toEqual([
      "a=1,a - b,a@b.example,-1,1.5,,",
    ]);
  });

  it("is no formula for any separator, with and without quotation marks", ({ expect }) => {
    const text = fc.string({ unit: fc.constantFrom(...'=+-@＝,;\t\r\n" a1') });
    const rows = fc.array(fc.array(text, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(rows, fc.subarray([",", ";", "\t"]), fc.boolean(), (table, separators, hasQuotes) => {
        const cells = cellsOf(toCsv(table), separators.join(""), hasQuotes);
        expect(cells.filter((cell) => FORMULA.test(cell))).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("a CSV file", () => {
  it("has quotation marks where a separator, a quotation mark or a line break is", ({ expect }) => {
    expect(
      toCsv([
        ["line", "reason"],
        [2, 'a, "b"'],
        [-3, "a;b"],
      ]),
    ).toBe('line,reason\r\n2,"a, ""b"""\r\n-3,"a;b"\r\n');
  });
});
