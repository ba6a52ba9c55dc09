/** docs/performance.md has the tables that `npm run bench -- --scaling` prints. */
import { it } from "vitest";
import { scalingTables } from "../../../bench/scaling.ts";
import { readText } from "../../support/sources.ts";

it("docs/performance.md has the tables of --scaling", ({ expect }) => {
  const document = readText("docs/performance.md");
  const tables = scalingTables().split("\n\n");
  expect(tables.filter((table) => !document.includes(table))).toEqual([]);
});
