/**
 * `backup` writes the database of a deployment to a file of SQL. `wrangler d1 export` rounds integers above
 * 2^53 and can change texts with line feeds, so the command reads the rows by queries of its own (ADR-32).
 */
import { execFile } from "node:child_process";
import { open, rename, rm } from "node:fs/promises";
import { promisify } from "node:util";
import type { Command } from "commander";
import { wranglerCommand } from "../../local/wrangler.ts";
import { CliError } from "../io.ts";
import { describe } from "../output.ts";
import { addCommand, type Session } from "../session.ts";

type Options = { readonly env: string; readonly local?: string };
type Row = Readonly<Record<string, string | number | null>>;
/** Runs statements, and returns the rows of each. */
type Query = (sql: string) => Promise<readonly Row[][]>;
type Column = { readonly name: string; readonly isInteger: boolean; readonly isKey: boolean };

/**
 * The order of the restore. A row that is stored while the backup runs may be missing, but nothing that is
 * there contradicts: cancelled orders are read before orders, or an order could be in both.
 */
export const TABLES = [
  ...["plans", "mac_keys", "api_keys", "limiters", "key_secrets"],
  ...["bans", "audit_log", "usage", "past_owners", "cancelled_orders", "orders", "owner_links"],
];

const PAGE_ROWS = 2_000;
/** D1 takes statements of up to 100,000 bytes. A row is shorter than the rest. */
const STATEMENT_CHARS = 40_000;
const MAX_OUTPUT_BYTES = 512 * 2 ** 20;

export function addBackupCommand(program: Command, session: Session): void {
  const does =
    "Write the database of a deployment to a file, for `wrangler d1 execute --file`. wrangler has to be signed in.";
  addCommand(program, "backup <file>", does, "backup backup.sql", "backup staging.sql --env staging")
    .option("--env <name>", "the environment of wrangler.toml; default: production", "")
    .option("--local <folder>", "the data of npm start in this folder, .wrangler/state by default there")
    .action(async (file: string, options: Options) => {
      const figures = await backUp(file, queryOf(options));
      session.io.stdout.write(`${session.json ? JSON.stringify(figures) : describe(figures)}\n`);
    });
}

/** Writes another file first, so that a file of this name is always whole. Returns the rows of each table. */
async function backUp(file: string, query: Query): Promise<Record<string, number>> {
  const part = `${file}.part`;
  const output = await open(part, "w", 0o600).catch((thrown) => {
    throw new CliError(`${thrown.message}.`);
  });
  const figures: Record<string, number> = {};
  try {
    // The migration of a new database has written rows of these two tables.
    await output.write("delete from plans;\ndelete from mac_keys;\n");
    const infos = await query(
      TABLES.map((table) => `pragma table_list(${table}); pragma table_info(${table})`).join("; "),
    );
    for (const [i, table] of TABLES.entries()) {
      const [kind] = infos[2 * i] ?? [];
      if (kind === undefined) throw new CliError(`The database has no table ${table}: is it the right one?`);
      const columns = (infos[2 * i + 1] ?? []).map(columnOf);
      figures[table] = 0;
      for await (const rows of pagesOf(query, table, columns, kind.wr === 0)) {
        figures[table] += rows.length;
        for (const statement of insertsOf(table, columns, rows)) {
          await output.write(`${statement};\n`);
        }
      }
      // Triggers count the keys again.
      if (table === "plans") await output.write(`${COUNT_AGAIN};\n`);
    }
  } catch (thrown) {
    await rm(part, { force: true });
    throw thrown;
  } finally {
    await output.close();
  }
  await rename(part, file);
  return figures;
}

const COUNT_AGAIN =
  "update plans set key_count = 0, keys_without_minute_limit = 0, keys_without_day_limit = 0";

function columnOf({ name, type, pk }: Row): Column {
  return { name: String(name), isInteger: type === "INTEGER", isKey: Number(pk) > 0 };
}

const ROWID: Column = { name: "rowid", isInteger: true, isKey: true };

/**
 * Integers come as text, because JSON numbers have no 64 bits. Rows come in the order of the rowid, which the
 * restore makes anew: the list of keys has this order.
 */
async function* pagesOf(
  query: Query,
  table: string,
  columns: readonly Column[],
  hasRowid: boolean,
): AsyncGenerator<Row[], void> {
  const keys = hasRowid ? [ROWID] : columns.filter(({ isKey }) => isKey);
  const shown = [...new Set([...keys, ...columns])].map(({ name, isInteger }) =>
    isInteger ? `cast(${name} as text) as ${name}` : name,
  );
  const names = keys.map(({ name }) => `${table}.${name}`).join(", ");
  for (let after = ""; ; ) {
    const [rows = []] = await query(
      `select ${shown.join(", ")} from ${table}${after} order by ${names} limit ${PAGE_ROWS}`,
    );
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) return;
    after = ` where (${names}) > (${keys.map((key) => literalOf(key, last)).join(", ")})`;
  }
}

function* insertsOf(
  table: string,
  columns: readonly Column[],
  rows: readonly Row[],
): Generator<string, void> {
  const names = columns.map(({ name }) => name).join(", ");
  // A key that was created after the keys were read has a secret, and is not there.
  const only = table === "key_secrets" ? " where key_id in (select id from api_keys)" : "";
  const insert = (values: string[]) =>
    `with r (${names}) as (values\n${values.join(",\n")})\ninsert into ${table} (${names}) select * from r${only}`;
  let values: string[] = [];
  let chars = 0;
  for (const row of rows) {
    const text = `(${columns.map((column) => literalOf(column, row)).join(", ")})`;
    if (values.length > 0 && chars + text.length > STATEMENT_CHARS) {
      yield insert(values);
      [values, chars] = [[], 0];
    }
    values.push(text);
    chars += text.length;
  }
  if (values.length > 0) yield insert(values);
}

/** No text can end a line or a statement, for whatever program splits the file. */
function literalOf({ name, isInteger }: Column, row: Row): string {
  const value = row[name] ?? null;
  if (value === null) return "null";
  const text = String(value);
  if (isInteger) return text;
  const isPlain = /^(?!.*(?:--|\/\*))[ !#-&(-:<-[\]-~"]*$/.test(text);
  return isPlain ? `'${text}'` : `cast(x'${Buffer.from(text).toString("hex")}' as text)`;
}

/** Each query is a run of wrangler, which has the credential of the account. */
function queryOf({ env, local }: Options): Query {
  const where = local === undefined ? ["--remote"] : ["--local", "--persist-to", local];
  return async (sql) => {
    const args = ["d1", "execute", "DB", `--env=${env}`, ...where, "--json", "--command", sql];
    try {
      const { stdout } = await promisify(execFile)(process.execPath, wranglerCommand(args), {
        maxBuffer: MAX_OUTPUT_BYTES,
      });
      const answer: { readonly results: Row[] }[] = JSON.parse(stdout);
      return answer.map(({ results }) => results);
    } catch (thrown) {
      const { stdout = "", stderr = "" } = Object(thrown);
      throw new CliError(
        `wrangler could not read the database${local === undefined ? ": is wrangler signed in?" : "."}\n${stdout}${stderr}`.trim(),
      );
    }
  };
}
