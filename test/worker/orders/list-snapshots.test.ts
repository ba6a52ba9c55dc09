/** Lists while the table changes: never stale, each one a snapshot of one revision, and their cost follows what changed. */
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, beforeEach, describe, it } from "vitest";
import { MAX_ORDERS_PER_PAGE } from "../../../src/worker/db/order-list-repository.ts";
import { countCosts } from "../../support/count-costs.ts";
import { createKey } from "../../support/factories.ts";
import { type App, captureLog, LIST, pause, startApp, watchDatabase } from "../../support/worker.ts";
import { wrapStatement } from "../../support/wrap-statement.ts";

let key: string;
let log: ReturnType<typeof captureLog>;
beforeEach(async () => {
  log = captureLog();
  ({ key } = await createKey({ perMinute: 1_000_000, perDay: 100_000_000 }));
  await env.DB.prepare("delete from orders").run();
});
afterEach(() => {
  log.restore();
});

async function insertMany(count: number): Promise<void> {
  await env.DB.prepare(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < cast(? as integer))
     insert into orders (id, pet_id, quantity, ship_date, complete, status)
     select i, i, i % 9, '2026-11-21T10:00:00.000Z', i % 2, 'pending' from n`,
  )
    .bind(count)
    .run();
}

/** The list as the table has it now, built without the change feed. */
async function tableNow(): Promise<string> {
  const { results } = await env.DB.prepare("select json from order_json order by id").all<{ json: string }>();
  return `[${results.map(({ json }) => json).join(",")}]`;
}

async function etagNow(): Promise<string> {
  const row = await env.DB.prepare(
    "select revision || '-' || token as tag from order_changes order by revision desc limit 1",
  ).first<string>("tag");
  return `"${row}"`;
}

type Change = { sql: string; values: (string | number | null)[] };

const id = fc.integer({ min: -20, max: 40 });
const quantity = fc.option(fc.integer({ min: 0, max: 5 }));

/** Every way in which a statement can change the table. */
const change: fc.Arbitrary<Change> = fc.oneof(
  fc
    .tuple(id, quantity)
    .map(([i, q]) => ({ sql: "insert or ignore into orders (id, quantity) values (?, ?)", values: [i, q] })),
  fc
    .tuple(quantity, id)
    .map(([q, i]) => ({ sql: "update orders set quantity = ? where id = ?", values: [q, i] })),
  fc
    .tuple(quantity, id)
    .map(([q, i]) => ({ sql: "update orders set quantity = ? where id > ?", values: [q, i] })),
  id.map((i) => ({ sql: "update orders set status = 'shipped' where id = ?", values: [i] })),
  fc
    .tuple(id, id)
    .map(([a, b]) => ({ sql: "update or ignore orders set id = ? where id = ?", values: [a, b] })),
  id.map((i) => ({ sql: "delete from orders where id = ?", values: [i] })),
  id.map((i) => ({ sql: "delete from orders where id < ?", values: [i] })),
);

describe("a list", () => {
  it("is never stale, whatever changes between the lists of three isolates", async ({ expect }) => {
    const isolates = [startApp(), startApp(), startApp()];
    const step = fc.record({ changes: fc.array(change, { maxLength: 4 }), isolate: fc.nat(2) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        for (const { changes, isolate } of steps) {
          for (const { sql, values } of changes)
            await env.DB.prepare(sql)
              .bind(...values)
              .run();
          const response = await (isolates[isolate] as App)(LIST, { key }); // of three
          expect(await response.text()).toBe(await tableNow());
          expect(response.headers.get("ETag")).toBe(await etagNow());
        }
      }),
      { numRuns: 12 },
    );
  });

  it("that a slow client reads stays the snapshot of its ETag's revision, while it is built and after", async ({
    expect,
  }) => {
    await insertMany(2 * MAX_ORDERS_PER_PAGE + 500);
    const before = await tableNow();
    const etag = await etagNow();
    const app = startApp();
    const responses = [await app(LIST, { key }), await app(LIST, { key })];
    for (const sql of [
      "delete from orders where id % 7 = 0",
      "update orders set quantity = 1000 where id % 5 = 0",
      "insert into orders (id, quantity) values (0, 1), (-5, 2), (1000000, 3)",
      "update orders set id = id + 500000 where id % 11 = 0",
      "update orders set quantity = 2000 where id % 5 = 0",
      "delete from orders where id = 0",
    ]) {
      await env.DB.prepare(sql).run();
    }
    for (const response of responses) {
      expect(response.headers.get("ETag")).toBe(etag);
      expect(await response.text()).toBe(before);
    }
    const after = await app(LIST, { key });
    expect(await after.text()).toBe(await tableNow());
    expect(after.headers.get("ETag")).toBe(await etagNow());
  });

  it("is a snapshot for a reader whose revision another replaced", async ({ expect }) => {
    await insertMany(3 * MAX_ORDERS_PER_PAGE);
    const before = await tableNow();
    const app = startApp();
    const first = await app(LIST, { key });
    const reader = first.body?.getReader();
    const parts: Uint8Array[] = [];
    const chunk = await reader?.read();
    if (chunk?.value) parts.push(chunk.value);
    await env.DB.prepare("update orders set quantity = 77").run();
    const second = app(LIST, { key });
    for (;;) {
      const part = await reader?.read();
      if (!part || part.done) break;
      parts.push(part.value);
    }
    expect(await new Blob(parts).text()).toBe(before);
    expect(await (await second).text()).toBe(await tableNow());
  });
});

/** D1 that answers the nth query with this text as it was at its time, when `release` is called. */
function holdQuery(text: string, nth: number) {
  const isRead = Promise.withResolvers<void>();
  const isReleased = Promise.withResolvers<void>();
  let count = 0;
  const hold = async (run: () => Promise<unknown>) => {
    const isHeld = ++count === nth;
    const result = await run();
    if (isHeld) {
      isRead.resolve();
      await isReleased.promise;
    }
    return result;
  };
  const prepare = (sql: string) => {
    const statement = env.DB.prepare(sql);
    return sql.includes(text) ? wrapStatement(statement, hold) : statement;
  };
  // The app uses these two members.
  const DB = { prepare, batch: env.DB.batch.bind(env.DB) } as unknown as D1Database;
  return { DB, isRead: isRead.promise, release: isReleased.resolve, count: () => count };
}

describe("a read of the revision", () => {
  it("that began before a list was requested does not answer it", async ({ expect }) => {
    await insertMany(10);
    const { DB, isRead, release } = holdQuery("select revision, token from order_changes order by", 1);
    const app = startApp({ DB });
    const first = app(LIST, { key });
    await isRead;
    expect((await startApp()(`${LIST}/5`, { key, method: "DELETE" })).status).toBe(204);
    const second = app(LIST, { key });
    await pause(100); // until it has joined the read
    release();
    expect(await (await second).text()).toBe(await tableNow());
    expect((await first).status).toBe(200);
  });
});

describe("a reading of the table", () => {
  it("is finished for its readers when the list changes, and the next one serves all that came since", async ({
    expect,
  }) => {
    await insertMany(MAX_ORDERS_PER_PAGE + 500);
    const before = await tableNow();
    const { DB, isRead, release, count } = holdQuery("from listed", 2);
    const app = startApp({ DB });
    const first = await app(LIST, { key });
    await isRead;
    const others: Promise<Response>[] = [];
    for (const quantity of [77, 78, 79]) {
      await env.DB.prepare("update orders set quantity = ?").bind(quantity).run();
      others.push(app(LIST, { key }));
      await pause(50); // until it has read the revision
    }
    release();
    expect(await first.text()).toBe(before);
    const after = await tableNow();
    for (const other of others) expect(await (await other).text()).toBe(after);
    expect(count()).toBe(2 * 2); // pages
  });
});

describe("a refresh", () => {
  it("goes on alone, and the next one serves all lists that came since", async ({ expect }) => {
    await insertMany(10);
    const { DB, isRead, release, count } = holdQuery("touched as materialized", 1);
    const app = startApp({ DB });
    await (await app(LIST, { key })).text();
    const lists: Promise<Response>[] = [];
    for (const quantity of [77, 78, 79]) {
      await env.DB.prepare("update orders set quantity = ? where id = 3").bind(quantity).run();
      lists.push(app(LIST, { key }));
      await isRead;
      await pause(50); // until it has read the revision
    }
    release();
    const bodies = await Promise.all(lists.map(async (list) => (await list).text()));
    expect(bodies.map((body) => /"quantity":(7\d)/.exec(body)?.[1])).toEqual(["77", "79", "79"]);
    expect(count()).toBe(2);
  });
});

describe("a refresh that fails", () => {
  it("is an error, and drops the cached list: the next list reads the table", async ({ expect }) => {
    await insertMany(10);
    const database = watchDatabase();
    const app = startApp({ DB: database.DB });
    await (await app(LIST, { key })).text();
    await env.DB.prepare("delete from orders where id = 5").run();
    database.failWith("D1_ERROR: string or blob too big: SQLITE_TOOBIG", /json_each/);
    expect((await app(LIST, { key })).status).toBeGreaterThanOrEqual(500);
    const next = await app(LIST, { key });
    expect(next.status).toBe(200);
    expect(await next.text()).toBe(await tableNow());
  });

  it("drops the list that it began with, also if that came while it waited for another refresh", async ({
    expect,
  }) => {
    await insertMany(10);
    const { DB: held, isRead, release } = holdQuery("touched as materialized", 1);
    const { DB: failing, failWith } = watchDatabase();
    failWith("D1_ERROR: string or blob too big: SQLITE_TOOBIG");
    let isFailing = false;
    const prepare = (sql: string) => (isFailing && sql.includes("json_each") ? failing : held).prepare(sql);
    // A list uses this member only.
    const app = startApp({ DB: { prepare } as unknown as D1Database });
    await (await app(LIST, { key })).text();
    const change = "update orders set quantity = quantity + 1 where id = 3";
    await env.DB.prepare(change).run();
    const first = app(LIST, { key });
    await isRead;
    await env.DB.prepare(change).run();
    const second = app(LIST, { key });
    await pause(50); // until it has read the revision
    isFailing = true;
    release();
    expect((await first).status).toBe(200);
    expect((await second).status).toBeGreaterThanOrEqual(500);
    expect((await app(LIST, { key })).status).toBe(200);
  });
});

describe("refreshes that split and join chunks", () => {
  it("leave the list as the table has it, for 2 statements and at most 2,200 rows each", async ({
    expect,
  }) => {
    await insertMany(1_500);
    const costs = countCosts();
    const app = startApp({ DB: costs.DB });
    await (await app(LIST, { key })).text();
    const deleteHundred = "delete from orders where id > ?1 and id <= ?1 + 100";
    const insertBetween =
      "insert into orders (id, quantity) select -1 - ?1 - id, 1 from orders where id > 1000 limit 100";
    for (const sql of [deleteHundred, insertBetween]) {
      for (let from = 0; from < 600; from += 100) {
        await env.DB.prepare(sql).bind(from).run();
        const before = { statements: costs.statements(), rowsRead: costs.rowsRead() };
        expect(await (await app(LIST, { key })).text()).toBe(await tableNow());
        expect(costs.statements() - before.statements).toBeLessThanOrEqual(2);
        expect(costs.rowsRead() - before.rowsRead).toBeLessThanOrEqual(2_200);
      }
    }
  });
});

describe("the cost of a list of 20,000 orders", () => {
  it("after one cancel is one refresh for 100 concurrent lists: 3 statements, at most 2,100 rows", async ({
    expect,
  }) => {
    await insertMany(20_000);
    const costs = countCosts();
    const app = startApp({ DB: costs.DB });
    await (await app(LIST, { key })).text();
    await env.DB.prepare("delete from orders where id = 12345").run();
    const before = { statements: costs.statements(), rowsRead: costs.rowsRead() };
    const responses = await Promise.all(Array.from({ length: 100 }, () => app(LIST, { key })));
    const [one, ...others] = responses;
    expect(await one?.text()).toBe(await tableNow());
    expect(new Set(others.map(({ headers }) => headers.get("ETag")))).toEqual(new Set([await etagNow()]));
    await Promise.all(others.map(({ body }) => body?.cancel()));
    expect(costs.statements() - before.statements).toBeLessThanOrEqual(3);
    expect(costs.rowsRead() - before.rowsRead).toBeLessThanOrEqual(2_100);
  }, 60_000);

  it("is one reading of the table for 30 concurrent lists on a cold isolate", async ({ expect }) => {
    await insertMany(20_000);
    const costs = countCosts();
    const app = startApp({ DB: costs.DB });
    await app("/v1/nothing", { key });
    const before = costs.rowsRead();
    const responses = await Promise.all(Array.from({ length: 30 }, () => app(LIST, { key })));
    const [one, ...others] = responses;
    expect(await one?.json()).toHaveLength(20_000);
    await Promise.all(others.map(({ body }) => body?.cancel()));
    expect(costs.rowsRead() - before).toBeLessThan(42_000);
  }, 60_000);
});
