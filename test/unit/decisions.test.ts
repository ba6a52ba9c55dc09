/** docs/decisions.md (`## ADR-7. Title`) and the code that cites it (`ADR-7`). */
import { describe, it } from "vitest";
import { filesUnder, readText } from "../support/sources.ts";

const decisions = readText("docs/decisions.md");
const decided = [...decisions.matchAll(/^## ADR-(\d+)\. /gm)].map(([, number]) => Number(number));

function citationsIn(file: string): { file: string; number: number }[] {
  return [...readText(file).matchAll(/\bADR-(\d+)/g)].map(([, number]) => ({ file, number: Number(number) }));
}

const files = [
  ...filesUnder("src", ".ts"),
  ...filesUnder("migrations", ".sql"),
  ...filesUnder("test", ".ts"),
  "wrangler.toml",
];

describe("the decisions", () => {
  it("are numbered from ADR-1 without a gap or a repetition, in order", ({ expect }) => {
    expect(decided.length).toBeGreaterThan(0);
    expect(decided).toEqual(decided.map((_, index) => index + 1));
  });

  it("include each one that code cites", ({ expect }) => {
    const cited = files.flatMap(citationsIn);
    expect(cited.length).toBeGreaterThan(10);
    expect(cited.filter(({ number }) => !decided.includes(number))).toEqual([]);
  });

  it("are each cited where they are carried out", ({ expect }) => {
    const cited = files.filter((file) => !file.startsWith("test/")).flatMap(citationsIn);
    expect(decided.filter((number) => !cited.some((each) => each.number === number))).toEqual([]);
  });
});
