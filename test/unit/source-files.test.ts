/** Rules that Biome does not have: every source file begins with a comment that describes it, and no file is too long. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const MAX_SOURCE_LINES = 250;
const MAX_TEST_LINES = 400;

/** Not our text: packages, and the types that are generated from the OpenAPI document. */
const exclude = ["**/node_modules/**", "test/contract/openapi-types.d.ts"];
const read = (pattern: string) =>
  globSync(pattern, { cwd: ROOT, exclude }).map((file) => ({
    file,
    text: readFileSync(join(ROOT, file), "utf8"),
  }));
const sources = read("src/**/*.{ts,tsx}");
const tests = read("test/**/*.ts");

const longerThan = (lines: number) => (each: { text: string }) => each.text.split("\n").length - 1 > lines;
const fileOf = (each: { file: string }) => each.file;

describe("every source file", () => {
  it("begins with a comment that describes the file", ({ expect }) => {
    expect(sources.length).toBeGreaterThan(50);
    expect(sources.filter(({ text }) => !/^(?:#!.*\n)?\/\*\* ?\S|^\/\*\*\n/.test(text)).map(fileOf)).toEqual(
      [],
    );
  });

  it("takes no URL's path for a file's, which a space or another letter than ASCII would change", ({
    expect,
  }) => {
    const misread = /import\.meta\.url\)\.pathname/;
    expect([...sources, ...tests].filter(({ text }) => misread.test(text)).map(fileOf)).toEqual([]);
  });

  it(`has at most ${MAX_SOURCE_LINES} lines, and a test at most ${MAX_TEST_LINES}`, ({ expect }) => {
    expect(tests.length).toBeGreaterThan(50);
    expect(sources.filter(longerThan(MAX_SOURCE_LINES)).map(fileOf)).toEqual([]);
    expect(tests.filter(longerThan(MAX_TEST_LINES)).map(fileOf)).toEqual([]);
  });
});
