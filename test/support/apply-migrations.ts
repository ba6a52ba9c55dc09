/** Before each test file: empty storage with the migrated tables. The files share one runtime. */
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { SET_MAC_KEY } from "./mint.ts";

const MAX_RESETS = 5;

async function hasTables(): Promise<boolean> {
  const row = await env.DB.prepare("select 1 from sqlite_master where name = 'plans'").first();
  return row !== null;
}

// On a loaded machine, one reset has been seen to leave the tables of the file before.
for (let resets = 0; resets < MAX_RESETS; resets++) {
  await reset();
  if (!(await hasTables())) break;
}
if (await hasTables()) throw new Error(`the storage has tables after ${MAX_RESETS} resets`);
// One batch, as each statement by itself takes a millisecond.
const statements = [...env.TEST_MIGRATIONS.flatMap(({ queries }) => queries), SET_MAC_KEY];
await env.DB.batch(statements.map((statement) => env.DB.prepare(statement)));
