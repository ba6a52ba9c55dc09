/**
 * `npm run db:generate -- --name what_it_does`: writes the next migration from src/worker/db/schema.ts and order-schema.ts, in the current
 * project folder.
 *
 * drizzle does not know STRICT, so it is added to every table that the new migration creates. Edit the file for what
 * drizzle cannot express: triggers, WITHOUT ROWID, the reason for an index.
 *
 * Exit codes: 0 a migration was written; 1 none was written, for a reason that is printed: for instance, the schema has no changes or
 * an error, or there is no terminal to ask whether a column was renamed.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Options for which drizzle-kit writes no migration. */
const INFORMING: ReadonlySet<string> = new Set(["--help", "-h", "--version", "-v"]);
const FOLDER = "migrations";
const DRIZZLE_KIT = join(import.meta.dirname, "../../node_modules/drizzle-kit/bin.cjs");

const options = process.argv.slice(2);
const before = migrations();
const { status } = spawnSync(
  process.execPath,
  [
    DRIZZLE_KIT,
    "generate",
    "--dialect",
    "sqlite",
    "--schema",
    "src/worker/db/{schema,order-schema}.ts",
    "--out",
    FOLDER,
    ...options,
  ],
  { stdio: "inherit" },
);
const added = migrations().filter((each) => !before.includes(each));
for (const file of added) {
  const path = `${FOLDER}/${file}`;
  writeFileSync(path, withStrictTables(readFileSync(path, "utf8")));
}
// drizzle-kit's status is 0 also after most of its errors.
const isDone = added.length > 0 || options.some((option) => INFORMING.has(option));
process.exitCode = isDone && status === 0 ? 0 : 1;

function migrations(): string[] {
  return readdirSync(FOLDER).filter((file) => file.endsWith(".sql"));
}

/** drizzle-kit ends a table with `);` on a line of its own. */
function withStrictTables(sql: string): string {
  return sql.replace(/^(CREATE TABLE [\s\S]*?\n\));/gm, "$1 STRICT;");
}
