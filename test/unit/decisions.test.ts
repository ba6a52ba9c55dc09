/** The README's decisions (`**D7. Title.** …`) and the code that cites them (`(D7)`). */
import { describe, it } from "vitest";
import { filesUnder, readText } from "../support/sources.ts";

const readme = readText("README.md");
const decided = [...readme.matchAll(/^(?:[-*]\s+|#+\s+)?\*{0,2}D(\d+)\. /gm)].map(([, number]) =>
  Number(number),
);

/** `(D7)`, or `(D7, D8)`. The database of that name never stands alone in parentheses. */
function citationsIn(file: string): { file: string; number: number }[] {
  const groups = [...readText(file).matchAll(/\((D\d+(?:, D\d+)*)\)/g)].map(([, group = ""]) => group);
  return groups.flatMap((group) =>
    group.split(", ").map((name) => ({ file, number: Number(name.slice(1)) })),
  );
}

const files = [
  ...filesUnder("src", ".ts"),
  ...filesUnder("migrations", ".sql"),
  ...filesUnder("test", ".ts"),
  "wrangler.toml",
];

describe("the decisions", () => {
  it("are numbered from D1 without a gap or a repetition, in order", ({ expect }) => {
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
