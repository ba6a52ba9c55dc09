/**
 * What a call of the admin API reads in D1 follows what it shows, not how many keys, bans and hours of usage there are: by
 * the rows that it read, and by SQLite's plan of each of its statements. Only the usage of a day reads the rows of that day.
 */
import { env } from "cloudflare:workers";
import { beforeAll, describe, it } from "vitest";
import { MAX_KEYS_NOTIFIED } from "../../../src/worker/admin/plan-service.ts";
import { toCursor } from "../../../src/worker/admin/routes/cursor.ts";
import { startApp, startEachTestAt } from "../../support/worker.ts";
import { operatorOf, unreachableLimiters } from "./admin-support.ts";

const KEYS = 100_000;
/** Never used, so they have no limiters to notify or to inspect. */
const UNUSED_KEYS = 10_000;
const ORDERS = 20_000;
const NOW_MS = Date.UTC(2036, 2, 1, 12);
const NOW = NOW_MS / 1000;

const PAGE = 100;
/** A change writes its rows, their index entries and the audit row with four. A change of a plan writes no row of its keys. */
const MAX_ROWS_WRITTEN = 18;
/** A call whose object is one key shows the key, its bans, or its last 90 days. */
const ONE_KEY = 10;

/** Every key was used on four days, and has a ban: a third of them are live, lifted and over. */
async function fillTables(): Promise<void> {
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${KEYS})`;
  const usageOf = (day: string) =>
    `insert into usage ${numbers} select unixepoch('${day}T10:00:00'), printf('key_%06d', i), i % 1000, max(0, i % 100 - 90), 0, null
       from n`;
  const statements = [
    `insert into api_keys (id, name, owner_name, plan, expires_at, created_at, first_used_at)
     ${numbers} select printf('key_%06d', i), 'test', iif(i % 2, printf('owner %d', i), null), 'business',
       iif(i % 2, ${NOW} + i, null), 0, i from n`,
    `insert into key_secrets (hash, key_id, hint, created_at)
     ${numbers} select printf('%064d', i), printf('key_%06d', i), printf('sok_ab…%04d', i), 0 from n where i <= 1000`,
    `insert into api_keys (id, name, plan, created_at)
     ${numbers} select printf('unused_%06d', i), 'test', 'free', 0 from n where i <= ${UNUSED_KEYS}`,
    `insert into orders (id, pet_id, status) ${numbers.replace(String(KEYS), String(ORDERS))}
     select i, i % 10, iif(i % 5000 = 0, 'delivered', 'pending') from n`,
    `insert into order_imports
     ${numbers} select null, printf('imp_%06d', i), null, 'mo', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 from n where i <= 1000`,
    `insert into audit_log (at, request_id, actor, call, object)
     ${numbers} select ${NOW - KEYS} + i, 'r', printf('op %d', i % 7), iif(i = 9, 'plans.update', 'keys.update'),
       printf('key_%06d', i) from n`,
    usageOf("2036-02-20"),
    usageOf("2036-02-21"),
    usageOf("2036-02-29"),
    usageOf("2036-03-01"),
    `insert into bans (id, key_id, cause, strikes, started_at, ends_at, lifted_at)
     ${numbers} select printf('ban_%06d', i), printf('key_%06d', i), 'strikes', 20, ${NOW - KEYS} + i,
       ${NOW} + iif(i % 3 = 0, -i, i), iif(i % 3 = 1, ${NOW} - i, null) from n`,
  ];
  await env.DB.batch(statements.map((sql) => env.DB.prepare(sql)));
}

type Executed = {
  readonly statement: D1PreparedStatement;
  readonly query: string;
  readonly values: unknown[];
};

/** D1 with the rows that its statements read and write counted, and the statements kept. */
function watchStatements() {
  const originals = new WeakMap<D1PreparedStatement, Executed>();
  let executed: Executed[] = [];
  let rowsRead = 0;
  let rowsWritten = 0;
  const count = <Row>(result: D1Result<Row>) => {
    rowsRead += result.meta.rows_read;
    rowsWritten += result.meta.rows_written;
    return result;
  };
  const watched = (original: Executed): D1PreparedStatement => {
    const { statement, query } = original;
    const all = async () => {
      executed.push(original);
      return count(await statement.all());
    };
    // A raw result has no figures, so its query runs twice. The admin API changes nothing outside batches.
    const raw = async () => {
      await all();
      return statement.raw();
    };
    const bind = (...values: unknown[]) => watched({ statement: statement.bind(...values), query, values });
    // drizzle uses these members only.
    const wrapped = { bind, all, raw, run: all } as unknown as D1PreparedStatement;
    originals.set(wrapped, original);
    return wrapped;
  };
  const batch = async (statements: D1PreparedStatement[]) => {
    const known = statements.flatMap((each) => originals.get(each) ?? []);
    executed.push(...known);
    return (await env.DB.batch(known.map(({ statement }) => statement))).map(count);
  };
  const prepare = (query: string) => watched({ statement: env.DB.prepare(query), query, values: [] });
  return {
    // The admin API uses these members only.
    DB: { prepare, batch } as unknown as D1Database,
    /** Since the last call. */
    sinceLastCall() {
      const since = { rowsRead, rowsWritten, executed };
      [rowsRead, rowsWritten, executed] = [0, 0, []];
      return since;
    },
  };
}

const { DB, sinceLastCall } = watchStatements();
// Unreachable limiters answer nothing, so that everything is read from D1.
const operator = operatorOf(startApp({ DB, KEY_LIMITER: unreachableLimiters() }));

beforeAll(fillTables, 60_000);
startEachTestAt(NOW_MS);

type Call = [method: string, path: string, page: number, body?: unknown];

const cursor = (order: string, value: string | number | null, id: string) => toCursor(order, { value, id });

const reads: Call[] = [
  ["GET", "/keys", PAGE],
  ["GET", "/keys?plan=business", PAGE],
  ["GET", "/keys?status=active", PAGE],
  ["GET", "/keys?status=disabled", PAGE],
  ["GET", "/keys?plan=business&status=expired&search=nobody", PAGE],
  ["GET", "/keys?plan=business&search=test", PAGE],
  ["GET", "/keys?direction=desc", PAGE],
  ["GET", "/keys?unusedSince=2036-02-01", PAGE],
  ["GET", "/keys?unusedSince=2036-04-01", PAGE],
  ["GET", "/keys?plan=business&direction=desc&search=test", PAGE],
  ...["name", "owner", "expiry"].flatMap((sort): Call[] => [
    ["GET", `/keys?sort=${sort}`, PAGE],
    ["GET", `/keys?sort=${sort}&direction=desc`, PAGE],
    ["GET", `/keys?sort=${sort}&plan=free&status=active&search=nobody`, PAGE],
    ["GET", `/keys?sort=${sort}&expiringBefore=2036-03-02`, PAGE],
  ]),
  ["GET", `/keys?after=${cursor("created asc", null, "key_050000")}`, PAGE],
  ["GET", `/keys?sort=name&after=${cursor("name asc", "test", "key_050000")}`, PAGE],
  ["GET", `/keys?sort=owner&direction=desc&after=${cursor("owner desc", "owner 5", "key_050000")}`, PAGE],
  ["GET", `/keys?sort=expiry&after=${cursor("expiry asc", NOW + 50_000, "key_050000")}`, PAGE],
  ["GET", `/keys?sort=expiry&after=${cursor("expiry asc", null, "key_050000")}`, PAGE],
  ["POST", "/keys/find", ONE_KEY, { id: "key_000007" }],
  ["POST", "/keys/find", ONE_KEY, { hash: "7".padStart(64, "0") }],
  ["POST", "/keys/find", ONE_KEY, { hint: "sok_ab…0007" }],
  ["GET", "/keys/key_000007", ONE_KEY],
  ["GET", "/keys/key_000007/usage?hours=24", 90],
  ["GET", "/keys/key_000007/history", ONE_KEY],
  ["GET", "/plans", 4],
  ["GET", "/bans", PAGE],
  ["GET", "/bans?state=live", PAGE],
  ["GET", "/bans?state=past", PAGE],
  ["GET", `/bans?after=${cursor("start", NOW - 50_000, "ban_050000")}`, PAGE],
  ["GET", `/bans?state=live&after=${cursor("end", NOW + 50_000, "ban_050000")}`, PAGE],
  ["GET", `/bans?state=past&after=${cursor("past end", NOW - 50_000, "ban_050000")}`, PAGE],
  ["GET", "/bans?key=key_000007", ONE_KEY],
  ["GET", `/bans?key=key_000007&after=${cursor("start", NOW, "ban")}`, ONE_KEY],
  ["GET", "/bans?key=key_000007&state=live", ONE_KEY],
  ["GET", "/audit", PAGE],
  ["GET", "/audit?object=key_000007", PAGE],
  ["GET", "/audit?object=key_000007&actor=nobody", ONE_KEY],
  ["GET", "/audit?actor=op%203&call=keys.update", PAGE],
  ["GET", "/audit?actor=op%203&call=plans.update&before=50000", PAGE],
  ["GET", "/audit?actor=nobody", ONE_KEY],
  ["GET", "/audit?call=plans.update", ONE_KEY],
  ["GET", "/audit?from=2036-02-29T12:00:00Z&to=2036-02-29T13:00:00Z", PAGE],
  ["GET", "/audit?to=2036-02-29&actor=op%203", PAGE],
  ["GET", "/orders/cancelled", PAGE],
  ["GET", "/orders/1", 1],
  ["GET", "/orders", PAGE],
  ["GET", "/orders?after=100", PAGE],
  ["GET", "/orders?status=delivered&petId=3", PAGE],
  ["GET", "/orders?status=delivered&after=100", PAGE],
  ["GET", "/orders/imports", PAGE],
  ["GET", "/orders/imports?before=500", PAGE],
];

const writes: Call[] = [
  ["POST", "/keys", ONE_KEY, { name: "new", plan: "pro" }],
  ["PATCH", "/keys/key_000008", ONE_KEY, { name: "renamed" }],
  ["PATCH", "/keys/key_000008", ONE_KEY, { plan: "pro" }],
  ["POST", "/keys/key_000008/rotate", ONE_KEY, { graceSeconds: 60 }],
  ["DELETE", `/keys/key_000008/secrets/${"8".padStart(64, "0").slice(0, 16)}`, ONE_KEY],
  ["PUT", "/keys/key_000008/ban", ONE_KEY, { seconds: 60, reason: "test" }],
  ["DELETE", "/keys/key_000008/ban", ONE_KEY],
  ["DELETE", "/keys/key_000008", ONE_KEY],
  ["PATCH", "/orders/1", ONE_KEY, { status: "shipped" }],
  ["DELETE", "/orders/1", ONE_KEY],
  ["POST", "/orders", ONE_KEY, '{"id":1}\n{"id":2,"quantity":1}'],
  ["POST", "/orders?import=imp_0123456789abcdef", ONE_KEY, '{"id":3,"quantity":1}'],
  ["POST", "/orders?dry-run", ONE_KEY, '{"id":1}\n{"id":2,"quantity":2}'],
  ["PATCH", "/plans/business", MAX_KEYS_NOTIFIED, { requestsPerMinute: 999 }],
  ["PATCH", "/plans/free", ONE_KEY, { requestsPerMinute: 61 }],
];

const KEYS_BY_ID = /order by k\.id (asc|desc) limit \?$/;
const KEYS_BY_NAME = /order by k\.name (asc|desc), k\.id (asc|desc) limit \?$/;

/** Each is the last part of the statement: SQLite reads the index backwards and stops after the page. */
const BY_INDEX_UP_TO_LIMIT = {
  "SCAN bans USING INDEX bans_by_start": /order by "bans"\."started_at" desc, "bans"\."id" desc limit \?$/,
  "SCAN audit_log": /order by "audit_log"\."id" desc limit \?$/,
  "SCAN cancelled_orders": /order by id desc limit \?$/,
  "SCAN k USING INDEX sqlite_autoindex_api_keys_1": KEYS_BY_ID,
  "SCAN k USING COVERING INDEX sqlite_autoindex_api_keys_1": KEYS_BY_ID,
  "SCAN k USING INDEX api_keys_by_name": KEYS_BY_NAME,
  "SCAN k USING COVERING INDEX api_keys_by_name": KEYS_BY_NAME,
  "SCAN orders": /order by orders\.id limit \?$/,
  "SCAN order_imports": /order by "order_imports"\."number" desc limit \?$/,
};

const SCANS_OF_FEW_ROWS = [
  /^SCAN plans$/, // four rows
  /^SCAN mac_keys$/, // one row, until a second one is added
  /^SCAN CONSTANT ROW$/, // values in the statement
  /^SCAN (ids|json_each) VIRTUAL TABLE/, // a page's ids, or the lines of an import
  /^SCAN (changed|figures)$/, // the changes of one chunk of an import, and their counts
  /^SCAN (candidates|\(subquery-\d+\))$/, // what an inner select with a limit has read
];

/** The steps of the statement's plan that read a whole table or index. Triggers are not part of a plan. */
async function fullScansOf({ query, values }: Executed): Promise<string[]> {
  const explained = env.DB.prepare(`explain query plan ${query}`).bind(...values);
  const steps = (await explained.all<{ detail: string }>()).results.map(({ detail }) => detail);
  const isSorted = steps.some((step) => step.startsWith("USE TEMP B-TREE FOR ORDER BY"));
  const isBounded = (step: string) =>
    SCANS_OF_FEW_ROWS.some((few) => few.test(step)) ||
    Object.entries(BY_INDEX_UP_TO_LIMIT).some(([scan, end]) => step === scan && !isSorted && end.test(query));
  return steps
    .filter((step) => step.startsWith("SCAN") && !isBounded(step))
    .map((step) => `${step}: ${query}`);
}

describe("with 100,000 keys, bans and reports a day, no table is scanned, and at most ten times the page is read by", () => {
  for (const [method, path, page, body] of [...reads, ...writes]) {
    const change = body === undefined ? "" : ` ${JSON.stringify(body)}`;
    it(`${method} ${path}${change}`, async ({ expect }) => {
      sinceLastCall();
      const { status } = await operator(method, path, body);
      expect(status).toBeOneOf([200, 201]);
      const { rowsRead, rowsWritten, executed } = sinceLastCall();
      expect(rowsRead).toBeLessThanOrEqual(10 * page);
      expect(rowsWritten).toBeLessThanOrEqual(method === "GET" ? 0 : MAX_ROWS_WRITTEN);
      expect((await Promise.all(executed.map(fullScansOf))).flat()).toEqual([]);
    });
  }

  it("a scan is found by this test: of all keys, of keys by part of their name, of a day's usage by key", async ({
    expect,
  }) => {
    const found = [
      "select * from api_keys",
      "select id from api_keys order by name limit 10",
      "select key_id, sum(admitted) from usage group by key_id",
      "select * from bans order by reason limit 1",
      "select count(*) from audit_log",
    ].map((query) => fullScansOf({ statement: env.DB.prepare(query), query, values: [] }));
    expect((await Promise.all(found)).map((scans) => scans.length)).toEqual([1, 1, 1, 1, 1]);
  });
});
