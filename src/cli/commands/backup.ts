/**
 * `backup` writes the database of a deployment to a file of SQL. `wrangler d1 export` rounds integers above
 * 2^53 and can change texts with line feeds, so the command reads the rows by queries of its own (ADR-32).
 */
import { readdirSync, readFileSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Command } from "commander";
import { runWrangler } from "../../local/wrangler.ts";
import { READ_SCHEMA, schemaProblem } from "../../worker/db/schema-number.ts";
import { CliError } from "../io.ts";
import { describe } from "../output.ts";
import { addCommand, type Connection } from "../session.ts";

type Options = { readonly env: string; readonly local?: string };
export type BackupRow = Readonly<Record<string, string | number | null>>;
/** Runs statements, and returns the rows of each. */
export type BackupQuery = (sql: string) => Promise<readonly BackupRow[][]>;
type Column = { readonly name: string; readonly isInteger: boolean; readonly isKey: boolean };
/** `keys` are the columns of the order in which rows are read. */
type Table = { readonly name: string; readonly columns: readonly Column[]; readonly keys: readonly Column[] };

/** The order of the restore: a row comes after those that it refers to. */
export const TABLES = [
  ...["plans", "mac_keys", "customers", "api_keys", "limiters", "key_secrets"],
  ...["bans", "audit_log", "usage", "owner_links", "orders", "cancelled_orders"],
];

/**
 * What changes with each change of an operator, and the last cancel. What limiters report can change meanwhile:
 * it refers to nothing.
 */
const MARK = `select (select coalesce(max(id), 0) from audit_log) || ' ' || (select count(*) from mac_keys) as changes,
  (select coalesce(max(id), 0) from cancelled_orders) || '' as cancel`;
const MAX_TRIES = 5;

const FIRST_ROWS = 1_000;
const MAX_ROWS = 20_000;
/** An answer of D1 has up to 50 MB. With the names of the columns, it is two or three times as long. */
const PAGE_CHARS = 8_000_000;
/** D1 takes statements of up to 100,000 bytes. A row is shorter than the rest. */
const STATEMENT_CHARS = 40_000;

const MIGRATIONS = join(import.meta.dirname, "../../../migrations");
const RESTORES =
  "The file was restored on this machine, and so is whole. It needs wrangler d1 execute --file, or SQLite 3.44 or newer.";

export function addBackupCommand(program: Command, session: Connection): void {
  const does =
    "Write the database of a deployment to a file, for `wrangler d1 execute --file`. wrangler has to be signed in.";
  addCommand(program, "backup <file>", does, "backup backup.sql", "backup staging.sql --env staging")
    .option("--env <name>", "the environment of wrangler.toml; default: production", "")
    .option("--local <folder>", "the data of npm start in this folder, such as .wrangler/state")
    .action(async (file: string, options: Options) => {
      const figures = await backUp(file, queryOf(options));
      session.io.stdout.write(
        `${session.json ? JSON.stringify(figures) : `${describe(figures)}\n${RESTORES}`}\n`,
      );
    });
}

/** Writes another file first, so that a file of this name is always whole. Returns the rows of each table. */
export async function backUp(file: string, query: BackupQuery): Promise<Record<string, number>> {
  const part = `${file}.part`;
  try {
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const figures = await readAll(part, query);
      if (figures === "changed") continue;
      await rename(part, file);
      return figures;
    }
  } finally {
    await rm(part, { force: true });
  }
  throw new CliError(
    `Operators have changed something each of the ${MAX_TRIES} times that the database was read. Take the backup when nobody does.`,
  );
}

/** Writes the file, and runs each statement in a database of its own, as a restore does. */
async function readAll(part: string, query: BackupQuery): Promise<Record<string, number> | "changed"> {
  const pragmas = TABLES.map((table) => `pragma table_list(${table}); pragma table_info(${table})`);
  const [schema = [], ...infos] = await query([READ_SCHEMA, ...pragmas].join("; "));
  const problem = schemaProblem(schema);
  if (problem !== undefined)
    throw new CliError(`Use the command of the version that is deployed. ${problem.says}`);
  const tables = TABLES.map((name, i) => tableOf(name, infos[2 * i]?.[0], infos[2 * i + 1] ?? []));
  const output = await open(part, "w", 0o600).catch((thrown) => {
    throw new CliError(`${thrown.message}.`);
  });
  const restored = newDatabase();
  restored.exec("pragma journal_mode = off; begin");
  const write = async (statement: string) => {
    await output.write(`${statement};\n`);
    restored.exec(statement);
  };
  // Clients go on: what they cancel is read when all orders were read.
  const atOnce = tables.filter(({ name }) => name !== "cancelled_orders");
  const first = await query([...atOnce.map((table) => pageOf(table, FIRST_ROWS)), MARK].join("; "));
  const [mark = {}] = first.at(-1) ?? [];
  const isChanged = async () => (await query(MARK))[0]?.[0]?.changes !== mark.changes;
  try {
    // The migration of a new database has written rows of these two tables.
    await write("delete from plans");
    await write("delete from mac_keys");
    for (const table of tables) {
      const firstRows = first[atOnce.indexOf(table)];
      for await (const statement of insertsOf(table, firstRows, query)) await write(statement);
      // Triggers count the keys again.
      if (table.name === "plans") await write(COUNT_AGAIN);
    }
    await write(
      `delete from orders where id in (select order_id from cancelled_orders where id > ${mark.cancel})`,
    );
    if (await isChanged()) return "changed";
    const countOf = (name: string) => Number(restored.prepare(`select count(*) as n from ${name}`).get()?.n);
    return Object.fromEntries(TABLES.map((name) => [name, countOf(name)]));
  } catch (thrown) {
    if (thrown instanceof CliError) throw thrown;
    if (await isChanged()) return "changed";
    throw new CliError(`The file could not be restored: ${Object(thrown).message}.`);
  } finally {
    await output.close();
    restored.close();
  }
}

/** SQLite keeps a database without a name in memory, and what is too much for it in a file without a name. */
export function newDatabase(): DatabaseSync {
  const database = new DatabaseSync("");
  const files = readdirSync(MIGRATIONS).filter((name) => name.endsWith(".sql"));
  for (const name of files.toSorted()) database.exec(readFileSync(join(MIGRATIONS, name), "utf8"));
  return database;
}

const COUNT_AGAIN =
  "update plans set key_count = 0, keys_without_minute_limit = 0, keys_without_day_limit = 0";

const ROWID: Column = { name: "rowid", isInteger: true, isKey: true };

/** Rows are read in the order of the rowid, which the restore makes anew: the list of keys has this order. */
function tableOf(name: string, kind: BackupRow | undefined, infos: readonly BackupRow[]): Table {
  const columns = infos.map((info) => ({
    name: String(info.name),
    isInteger: info.type === "INTEGER",
    isKey: Number(info.pk) > 0,
  }));
  return { name, columns, keys: kind?.wr === 0 ? [ROWID] : columns.filter(({ isKey }) => isKey) };
}

/** Integers come as text, because JSON numbers have no 64 bits. */
function pageOf({ name, columns, keys }: Table, limit: number, last?: BackupRow): string {
  const shown = [...new Set([...keys, ...columns])].map((column) =>
    column.isInteger ? `cast(${column.name} as text) as ${column.name}` : column.name,
  );
  const names = keys.map((key) => `${name}.${key.name}`).join(", ");
  const after = last && ` where (${names}) > (${keys.map((key) => literalOf(key, last)).join(", ")})`;
  return `select ${shown.join(", ")} from ${name}${after ?? ""} order by ${names} limit ${limit}`;
}

/** Writes the rows of the first page, and reads the others. */
async function* insertsOf(
  table: Table,
  firstRows: readonly BackupRow[] | undefined,
  query: BackupQuery,
): AsyncGenerator<string, void> {
  const names = table.columns.map(({ name }) => name).join(", ");
  let limit = FIRST_ROWS;
  let rows = firstRows ?? (await query(pageOf(table, limit)))[0] ?? [];
  for (;;) {
    let chars = 0;
    for (const values of valuesOf(table, rows)) {
      yield `with r (${names}) as (values\n${values})\ninsert into ${table.name} (${names}) select * from r`;
      chars += values.length;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return;
    limit = Math.min(MAX_ROWS, Math.ceil((limit * PAGE_CHARS) / chars));
    [rows = []] = await query(pageOf(table, limit, last));
  }
}

function* valuesOf({ columns }: Table, rows: readonly BackupRow[]): Generator<string, void> {
  let values: string[] = [];
  let chars = 0;
  for (const row of rows) {
    const text = `(${columns.map((column) => literalOf(column, row)).join(", ")})`;
    if (values.length > 0 && chars + text.length > STATEMENT_CHARS) {
      yield values.join(",\n");
      [values, chars] = [[], 0];
    }
    values.push(text);
    chars += text.length;
  }
  if (values.length > 0) yield values.join(",\n");
}

/** No text can end a line or a statement, for whatever program splits the file. */
function literalOf({ name, isInteger }: Column, row: BackupRow): string {
  const value = row[name] ?? null;
  if (value === null) return "null";
  const text = String(value);
  if (isInteger) return text;
  const isPlain = /^(?!.*(?:--|\/\*))[ !#-&(-:<-[\]-~"]*$/.test(text);
  return isPlain ? `'${text}'` : `cast(x'${Buffer.from(text).toString("hex")}' as text)`;
}

/** Each query is a run of wrangler, which has the credential of the account. */
function queryOf({ env, local }: Options): BackupQuery {
  const where = local === undefined ? ["--remote"] : ["--local", "--persist-to", local];
  return async (sql) => {
    const args = ["d1", "execute", "DB", `--env=${env}`, ...where, "--json", "--command", sql];
    const { code, out, says } = await runWrangler(args);
    if (code !== 0) {
      const advice = local === undefined ? ": is wrangler signed in?" : ".";
      throw new CliError(`wrangler could not read the database${advice}\n${says}`);
    }
    const answer: { readonly results: BackupRow[] }[] = JSON.parse(out);
    return answer.map(({ results }) => results);
  };
}
