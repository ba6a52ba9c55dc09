/** `npm run db:generate`, in a copy of the project. */
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";

const root = join(import.meta.dirname, "..", "..");

let project: string;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "store-orders-migrations-"));
  for (const folder of ["migrations", "src/worker/db"]) {
    cpSync(join(root, folder), join(project, folder), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(project, "node_modules"));
});
afterAll(() => {
  rmSync(project, { recursive: true, force: true });
});

function migrations(): string[] {
  return readdirSync(join(project, "migrations")).filter((file) => file.endsWith(".sql"));
}

function generate(...args: string[]): { status: number | null; output: string } {
  const program = join(root, "src/tools/db-generate.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: project,
    encoding: "utf8",
  });
  return { status, output: stdout + stderr };
}

describe("the next migration", () => {
  it("is not written while the schema equals the migrations, which is exit code 1", ({ expect }) => {
    const before = migrations();
    const { status, output } = generate();
    expect([status, output]).toEqual([1, expect.stringContaining("No schema changes")]);
    expect(migrations()).toEqual(before);
  });

  it.for([
    ["--help", "--name"],
    ["-h", "--name"],
    ["--version", "drizzle-kit"],
    ["-v", "drizzle-kit"],
  ] as const)("is not written by %s, which needs no terminal", ([option, text], { expect }) => {
    const before = migrations();
    const { status, output } = generate(option);
    expect([status, output]).toEqual([0, expect.stringContaining(text)]);
    expect(migrations()).toEqual(before);
  });

  it.for([
    ["a renamed column, about which it must ask on a terminal", ["note: text()", "remark: text()"], "TTY"],
    ["an error in the schema", ["export const", "export export const"], "Transform failed"],
    ["an import of what is not there", ["export const", 'import "./gone.ts";\nexport const'], "gone.ts"],
  ] as const)("is not written for %s, which is exit code 1", ([, [from, to], message], { expect }) => {
    const before = migrations();
    const schema = join(project, "src/worker/db/schema.ts");
    const text = readFileSync(schema, "utf8");
    writeFileSync(schema, text.replace(from, to));
    const { status, output } = generate("--name", "remark");
    writeFileSync(schema, text);
    expect([status, output]).toEqual([1, expect.stringContaining(message)]);
    expect(migrations()).toEqual(before);
  });

  it("is not written beside snapshots of two branches, which is exit code 1", ({ expect }) => {
    const before = migrations();
    const meta = join(project, "migrations/meta");
    const [last = ""] = readdirSync(meta)
      .filter((file) => file.endsWith("_snapshot.json"))
      .sort()
      .reverse();
    const branch = join(meta, "9999_snapshot.json");
    cpSync(join(meta, last), branch);
    const journal = join(meta, "_journal.json");
    const text = readFileSync(journal, "utf8");
    const { entries, ...rest } = JSON.parse(text);
    const entry = { ...entries.at(-1), idx: 9999, tag: "9999_branch" };
    writeFileSync(journal, JSON.stringify({ ...rest, entries: [...entries, entry] }));
    const { status, output } = generate("--name", "branch");
    writeFileSync(journal, text);
    rmSync(branch);
    expect([status, output]).toEqual([1, expect.stringContaining("collision")]);
    expect(migrations()).toEqual(before);
  });

  it("makes a new table STRICT, and does not change the others", ({ expect }) => {
    const before = migrations();
    const known = before.map((file) => readFileSync(join(project, "migrations", file), "utf8"));
    appendFileSync(
      join(project, "src/worker/db/schema.ts"),
      `\nexport const shelves = sqliteTable("shelves", { id: integer().primaryKey(), name: text().notNull() });\n`,
    );
    const { status, output } = generate("--name", "shelves");
    expect(status, output).toBe(0);

    const added = migrations().filter((file) => !before.includes(file));
    expect(added).toEqual([expect.stringMatching(/^\d{4}_shelves\.sql$/)]);
    const sql = readFileSync(join(project, "migrations", added[0] ?? ""), "utf8");
    expect(sql.replace(/\s+/g, " ").trim()).toBe(
      "CREATE TABLE `shelves` ( `id` integer PRIMARY KEY NOT NULL, `name` text NOT NULL ) STRICT;",
    );
    expect(before.map((file) => readFileSync(join(project, "migrations", file), "utf8"))).toEqual(known);
  });
});
