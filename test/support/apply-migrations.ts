/** Before each test file: empty storage with the migrated tables. The files share one runtime. */
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { SET_MAC_KEY } from "./mint.ts";

const MAX_RESETS = 5;

/** Statements with their values. They make the tables in a sixth of the time that the migrations take. */
type Statements = readonly (readonly [string, ...unknown[]])[];
const shared: typeof globalThis & { made?: Statements } = globalThis;

async function hasTables(): Promise<boolean> {
  const row = await env.DB.prepare("select 1 from sqlite_master where name = 'plans'").first();
  return row !== null;
}

async function migrate(): Promise<Statements> {
  // One batch, as each statement by itself takes a millisecond.
  const statements = [...env.TEST_MIGRATIONS.flatMap(({ queries }) => queries), SET_MAC_KEY];
  await env.DB.batch(statements.map((statement) => env.DB.prepare(statement)));
  const { results } = await env.DB.prepare(
    "select type = 'table' as isTable, name, sql from sqlite_master where sql is not null and name not glob '_cf_*' and name not glob 'sqlite_*' order by rowid",
  ).all<{ isTable: number; name: string; sql: string }>();
  const tables = results.filter(({ isTable }) => isTable === 1);
  const others = results.filter(({ isTable }) => isTable === 0);
  const rows = await Promise.all(
    tables.map(async ({ name }) => {
      const values = await env.DB.prepare(`select * from ${name}`).raw();
      return values.map((row) => [`insert into ${name} values (${row.map(() => "?")})`, ...row] as const);
    }),
  );
  // Triggers come after the rows.
  return [
    ...tables.map(({ sql }) => [sql] as const),
    ...rows.flat(),
    ...others.map(({ sql }) => [sql] as const),
  ];
}

// On a loaded machine, one reset has been seen to leave the tables of the file before.
for (let resets = 0; resets < MAX_RESETS; resets++) {
  await reset();
  if (!(await hasTables())) break;
}
if (await hasTables()) throw new Error(`the storage has tables after ${MAX_RESETS} resets`);
if (shared.made === undefined) shared.made = await migrate();
else await env.DB.batch(shared.made.map(([sql, ...values]) => env.DB.prepare(sql).bind(...values)));
