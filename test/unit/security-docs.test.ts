/** docs/security.md: each item cites files and tests that exist, and no item of the standards is listed twice. */
import { describe, it } from "vitest";
import { exists, readText } from "../support/sources.ts";

const DOCUMENT = "docs/security.md";

type Row = { readonly item: string; readonly where: string[]; readonly tests: string[] };

/** The rows of the tables that cite files: item, how, where, test. */
const cited = readText(DOCUMENT)
  .split("\n")
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .filter((cells) => cells.length === 6 && /^(?:API)?\d/.test(cells[1] ?? ""))
  .map(
    ([, item = "", , where = "", tests = ""]): Row => ({ item, where: codeIn(where), tests: codeIn(tests) }),
  );

function codeIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

describe("each item of docs/security.md", () => {
  it("is of the OWASP API Security Top 10, complete, or of ASVS", ({ expect }) => {
    const numbers = cited
      .map(({ item }) => /^API(\d+) /.exec(item)?.[1])
      .filter((number) => number !== undefined);
    expect(numbers).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
    expect(cited.length).toBeGreaterThan(60);
  });

  it("cites a file where it is met, and a test, and both exist", ({ expect }) => {
    for (const { item, where, tests } of cited) {
      expect(where, item).not.toEqual([]);
      expect(tests, item).not.toEqual([]);
      expect(
        [...where, ...tests].filter((path) => !exists(path)),
        item,
      ).toEqual([]);
      expect(
        tests.filter((path) => !/^test\/.*\.test\.ts$/.test(path)),
        item,
      ).toEqual([]);
    }
  });

  it("is listed once, also among those that do not apply", ({ expect }) => {
    const [, tables = ""] = readText(DOCUMENT).split("## ASVS 5.0, level 2");
    const items = [...tables.matchAll(/^\| ((?:\d+\.\d+\.\d+(?:–\d+\.\d+\.\d+)?(?:, )?)+)/gm)]
      .flatMap(([, list = ""]) => list.split(", "))
      .flatMap(expand);
    expect(items.length).toBeGreaterThan(150);
    expect(items.filter((item, i) => items.indexOf(item) !== i)).toEqual([]);
  });
});

/** `2.1.1–2.1.3` as its three items; of a range over several sections, its ends. */
function expand(range: string): string[] {
  const [from = "", to] = range.trim().split("–");
  const [section, first] = [from.slice(0, from.lastIndexOf(".")), Number(from.split(".").at(-1))];
  if (to === undefined) return [from];
  if (!to.startsWith(`${section}.`)) return [from, to];
  const last = Number(to.split(".").at(-1));
  return Array.from({ length: last - first + 1 }, (_, i) => `${section}.${first + i}`);
}
