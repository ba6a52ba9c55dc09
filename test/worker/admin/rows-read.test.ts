/** What a call of the admin API reads in D1 follows what it shows, not how many keys, bans and days of usage there are. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, it } from "vitest";
import { MAX_LIMITERS_INSPECTED } from "../../../src/worker/admin/live-usage.ts";
import { MAX_KEYS_NOTIFIED } from "../../../src/worker/admin/plan-service.ts";
import { startApp, startEachTestAt } from "../../support/worker.ts";
import { operatorOf, unreachableLimiters } from "./admin-support.ts";

const KEYS = 100_000;
/** Never used, so they have no limiters to notify or to inspect. */
const UNUSED_KEYS = 10_000;
const NOW_MS = Date.UTC(2036, 2, 1, 12);
const NOW = NOW_MS / 1000;

const PAGE = 100;
/** A call whose object is one key shows the key, its bans, or its last 90 days. */
const ONE_KEY = 10;

/** Every key was used on three days, and has a ban: a third of them are live, lifted and over. */
async function fillTables(): Promise<void> {
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${KEYS})`;
  const usageOf = (day: string) =>
    `insert into daily_usage ${numbers} select '${day}', printf('key_%06d', i), i % 1000, 0, 0 from n`;
  const statements = [
    `insert into api_keys (id, name, plan, created_at, first_used_at)
     ${numbers} select printf('key_%06d', i), 'test', 'business', 0, i from n`,
    `insert into key_secrets (hash, key_id, hint, created_at)
     ${numbers} select printf('%064d', i), printf('key_%06d', i), 'sok_…', 0 from n where i <= 1000`,
    `insert into api_keys (id, name, plan, created_at)
     ${numbers} select printf('unused_%06d', i), 'test', 'free', 0 from n where i <= ${UNUSED_KEYS}`,
    usageOf("2036-02-20"),
    usageOf("2036-02-29"),
    usageOf("2036-03-01"),
    `insert into bans (id, key_id, cause, strikes, started_at, ends_at, lifted_at)
     ${numbers} select printf('ban_%06d', i), printf('key_%06d', i), 'strikes', 20, ${NOW - KEYS} + i,
       ${NOW} + iif(i % 3 = 0, -i, i), iif(i % 3 = 1, ${NOW} - i, null) from n`,
  ];
  await env.DB.batch(statements.map((sql) => env.DB.prepare(sql)));
}

/** D1 with the rows that its statements read counted. */
function countRowsRead() {
  const originals = new WeakMap<D1PreparedStatement, D1PreparedStatement>();
  let rowsRead = 0;
  const count = <Row>(result: D1Result<Row>) => {
    rowsRead += result.meta.rows_read;
    return result;
  };
  const counting = (statement: D1PreparedStatement): D1PreparedStatement => {
    const all = async () => count(await statement.all());
    // A raw result has no figures, so its query runs twice. The admin API changes nothing outside batches.
    const raw = async () => {
      await all();
      return statement.raw();
    };
    const bind = (...values: unknown[]) => counting(statement.bind(...values));
    // drizzle uses these members only.
    const wrapped = { bind, all, raw, run: all } as unknown as D1PreparedStatement;
    originals.set(wrapped, statement);
    return wrapped;
  };
  const batch = async (statements: D1PreparedStatement[]) => {
    const results = await env.DB.batch(statements.map((each) => originals.get(each) ?? each));
    return results.map(count);
  };
  const prepare = (sql: string) => counting(env.DB.prepare(sql));
  return {
    // The admin API uses these members only.
    DB: { prepare, batch } as unknown as D1Database,
    /** Since the last call. */
    rowsRead() {
      const since = rowsRead;
      rowsRead = 0;
      return since;
    },
  };
}

const { DB, rowsRead } = countRowsRead();
// Unreachable limiters answer nothing, so that everything is read from D1.
const operator = operatorOf(startApp({ DB, KEY_LIMITER: unreachableLimiters() }));

beforeAll(fillTables, 60_000);
startEachTestAt(NOW_MS);

type Call = [method: string, path: string, page: number, body?: unknown];

const WITH_LIMITERS = PAGE + MAX_LIMITERS_INSPECTED;

const reads: Call[] = [
  ["GET", "/keys", PAGE],
  ["GET", "/keys?plan=business", PAGE],
  ["GET", "/keys?status=active", PAGE],
  ["GET", "/keys?status=disabled", PAGE],
  ["GET", "/keys?plan=business&status=expired&name=nobody", PAGE],
  ["GET", "/keys?plan=business&name=test", PAGE],
  ["GET", "/keys/key_000007", ONE_KEY],
  ["GET", "/keys/key_000007/usage", 90],
  ["GET", "/plans", 4],
  ["GET", "/bans", WITH_LIMITERS],
  ["GET", "/bans?state=live", WITH_LIMITERS],
  ["GET", "/bans?state=past", PAGE],
  ["GET", "/bans?key=key_000007", ONE_KEY],
  ["GET", "/bans?key=key_000007&state=live", ONE_KEY],
  // Today's and yesterday's keys are chosen from as many reports as limiters are inspected.
  ["GET", "/usage", MAX_LIMITERS_INSPECTED + MAX_LIMITERS_INSPECTED],
  ["GET", "/usage?day=2036-02-29", MAX_LIMITERS_INSPECTED + MAX_LIMITERS_INSPECTED],
  ["GET", "/usage?day=2036-02-20", PAGE],
  ["GET", "/audit", PAGE],
  ["GET", "/audit?object=key_000007", PAGE],
  ["GET", "/orders/cancelled", PAGE],
];

const writes: Call[] = [
  ["POST", "/keys", ONE_KEY, { name: "new", plan: "pro" }],
  ["PATCH", "/keys/key_000008", ONE_KEY, { name: "renamed" }],
  ["PATCH", "/keys/key_000008", ONE_KEY, { plan: "pro" }],
  ["POST", "/keys/key_000008/rotate", ONE_KEY, {}],
  ["PUT", "/keys/key_000008/ban", ONE_KEY, { seconds: 60, reason: "test" }],
  ["DELETE", "/keys/key_000008/ban", ONE_KEY, {}],
  ["DELETE", "/keys/key_000008", ONE_KEY],
  ["PATCH", "/plans/business", MAX_KEYS_NOTIFIED, { requestsPerMinute: 999 }],
  ["PATCH", "/plans/free", ONE_KEY, { requestsPerMinute: 61 }],
];

describe("with 100,000 keys, bans and reports a day, at most ten times the page is read by", () => {
  for (const [method, path, page, body] of [...reads, ...writes]) {
    const change = body === undefined ? "" : ` ${JSON.stringify(body)}`;
    it(`${method} ${path}${change}`, async ({ expect }) => {
      rowsRead();
      const { status } = await operator(method, path, body);
      expect(status).toBeOneOf([200, 201]);
      expect(rowsRead()).toBeLessThanOrEqual(10 * page);
    });
  }
});
