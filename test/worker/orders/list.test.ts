/** `GET /store/orders`: the JSON, several pages, and ETags. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it } from "vitest";
import { SIZES } from "../../../src/worker/client/orders/list-sql.ts";
import { createKey, insertOrders } from "../../support/factories.ts";
import { type App, LIST, log, pause, startApp, watchDatabase } from "../../support/worker.ts";
import { countCosts, wrapDatabase } from "../../support/wrap-database.ts";

const LARGEST = "9223372036854775807";
const REAL_SIZES = { ...SIZES };

let key: string;
beforeEach(async () => {
  ({ key } = await createKey());
  await env.DB.prepare("delete from orders").run();
  // A tenth of the real ones, so that a tenth of the orders shows the same.
  Object.assign(SIZES, { ordersPerPage: 1_000, ordersPerChunk: 100, changesPerChunk: 50 });
});
afterEach(() => {
  Object.assign(SIZES, REAL_SIZES);
});

async function listText(app: App = startApp()): Promise<string> {
  return (await app(LIST, { key })).text();
}

/** Inserts many orders in one statement, with ids from `from` on. */
async function insertMany(count: number, from = 1): Promise<void> {
  await env.DB.prepare(
    `with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < cast(?1 as integer))
     insert into orders (id, pet_id, quantity, ship_date, complete, status)
     select cast(?2 as integer) + i, i, i % 9, '2026-11-21T10:00:00.000Z', i % 2, 'pending' from n`,
  )
    .bind(count, from)
    .run();
}

describe("a list of several pages", () => {
  it("is one valid JSON array with every order once, sorted by id", async ({ expect }) => {
    await insertMany(2_500, -200);
    const database = watchDatabase();
    const response = await startApp({ DB: database.DB })(LIST, { key });
    const orders = (await response.json()) as { id: number }[];
    expect(orders.map(({ id }) => id)).toEqual(Array.from({ length: 2_500 }, (_, i) => i - 200));
    // No change came between the pages, so they show one moment without a further query.
    const queries = database.queries().filter((query) => /order_changes/.test(query));
    expect(queries.map((query) => /id >= cast/.test(query))).toEqual([true, true, true]);
  });

  it("keeps all digits of the last id of a page, so that no order is lost or repeated", async ({
    expect,
  }) => {
    await insertMany(SIZES.ordersPerPage - 1);
    const around = ["9223372036854775804", "9223372036854775805", "9223372036854775806", LARGEST];
    await insertOrders(...around.map((id) => ({ id })));
    const ids = Array.from((await listText()).matchAll(/"id":(-?\d+)/g), ([, id]) => id);
    expect(ids).toHaveLength(SIZES.ordersPerPage + 3);
    expect(ids.slice(-4)).toEqual(around);
  });

  it("is valid if the last page is exactly full", async ({ expect }) => {
    await insertMany(SIZES.ordersPerPage);
    expect(JSON.parse(await listText())).toHaveLength(SIZES.ordersPerPage);
  });

  it("is a 503 if a page or the changes cannot be read, and the next list is read anew", async ({
    expect,
  }) => {
    await insertMany(SIZES.ordersPerPage + 1);
    const database = watchDatabase();
    const app = startApp({ DB: database.DB });
    const listWithout = async (sql: RegExp) => {
      database.failWith("D1_ERROR: Network connection lost.", sql);
      const response = await app(LIST, { key });
      database.failWith(undefined);
      return [response.status, response.headers.has("ETag")];
    };
    expect(await listWithout(/id >= cast/)).toEqual([503, false]);
    expect(JSON.parse(await listText(app))).toHaveLength(SIZES.ordersPerPage + 1);
    await insertOrders({ id: "-1" });
    expect(await listWithout(/json_each/)).toEqual([503, false]);
    expect(JSON.parse(await listText(app))).toHaveLength(SIZES.ordersPerPage + 2);
    await env.DB.prepare("delete from orders where id = 5").run();
    database.failWith("D1_ERROR: string or blob too big: SQLITE_TOOBIG", /json_each/);
    expect((await app(LIST, { key })).status).toBe(500);
    database.failWith(undefined);
    database.queries();
    expect(JSON.parse(await listText(app))).toHaveLength(SIZES.ordersPerPage + 1);
    expect(database.queries()).toContainEqual(expect.stringContaining("id >= cast"));
  });

  it("can be aborted by its client", async ({ expect }) => {
    await insertMany(SIZES.ordersPerPage * 2);
    const app = startApp();
    const { body } = await app(LIST, { key });
    await body?.cancel();
    expect(JSON.parse(await listText(app))).toHaveLength(SIZES.ordersPerPage * 2);
  });
});

describe("an unchanged list", () => {
  async function etagOf(app: App): Promise<string> {
    return (await app(LIST, { key })).headers.get("ETag") ?? "";
  }

  it("is 304 without a body for a client that has it", async ({ expect }) => {
    const app = startApp();
    const etag = await etagOf(app);
    expect(etag).toMatch(/^"[^"]+"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, `"other",W/${etag}`, "*", ` ${etag} `]) {
      const response = await app(LIST, { key, headers: { "If-None-Match": known } });
      expect(response.status, known).toBe(304);
      expect(await response.text()).toBe("");
      expect(response.headers.get("ETag")).toBe(etag);
      expect(response.headers.get("Cache-Control")).toBe("private, no-cache");
      expect(response.headers.has("X-RateLimit-Remaining")).toBe(true);
    }
  });

  it.for([
    ['W/"', '"', "nginx, HAProxy, Cloudflare"],
    ['"', '-gzip"', "Apache, lighttpd"],
    ['W/"', '-br"', "Apache"],
    ['"', '--gzip"', "Jetty"],
    ['"', ';gzip"', "older caches"],
    ['"', '"-gzip', "older Apache"],
    ['"', '-x-gzip"', "by its older name"],
  ])("is 304 for a proxy that has compressed it: %s…%s (%s)", async ([before, after], { expect }) => {
    const app = startApp();
    const known = `${before}${(await etagOf(app)).slice(1, -1)}${after}`;
    for (const tags of [known, `"other", ${known}`])
      expect((await app(LIST, { key, headers: { "If-None-Match": tags } })).status, tags).toBe(304);
  });

  it("is sent to a client that names it among more than 1,000 characters", async ({ expect }) => {
    const app = startApp();
    const etag = await etagOf(app);
    for (const [chars, status] of [
      [1_000, 304],
      [1_001, 200],
    ] as const) {
      const known = `"${"x".repeat(chars - etag.length - 3)}",${etag}`;
      expect(known).toHaveLength(chars);
      expect((await app(LIST, { key, headers: { "If-None-Match": known } })).status).toBe(status);
    }
  });

  it("costs one row read: for a 304, and for a cached list", async ({ expect }) => {
    await insertOrders({ id: "1" }, { id: "2" });
    const database = watchDatabase();
    const app = startApp({ DB: database.DB });
    const etag = await etagOf(app);
    database.queries();
    const answers = [await app(LIST, { key, headers: { "If-None-Match": etag } }), await app(LIST, { key })];
    expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(["", '[{"id":1},{"id":2}]']);
    const queries = database.queries();
    expect(queries).toHaveLength(2);
    for (const query of queries) {
      const { meta } = await env.DB.prepare(query).all();
      expect(meta.rows_read, query).toBe(1);
    }
  });

  it("has another ETag and the new content after every change, in every isolate", async ({ expect }) => {
    const [here, elsewhere] = [startApp(), startApp()];
    const tags = [await etagOf(here)];
    const change = async (sql: string) => {
      await env.DB.prepare(sql).run();
      const [answer, other] = [await here(LIST, { key }), await elsewhere(LIST, { key })];
      expect(await answer.text()).toBe(await other.text());
      expect(answer.headers.get("ETag")).toBe(other.headers.get("ETag"));
      tags.push(answer.headers.get("ETag") ?? "");
      return listText(here);
    };
    expect(await change("insert into orders (id) values (1)")).toBe('[{"id":1}]');
    expect(await change("update orders set quantity = 3 where id = 1")).toBe('[{"id":1,"quantity":3}]');
    expect(await change("update orders set id = 2 where id = 1")).toBe('[{"id":2,"quantity":3}]');
    expect(await change("delete from orders where id = 2")).toBe("[]");
    expect(new Set(tags).size).toBe(5);
  });

  it("never has the same ETag again, even if the database is restored to an earlier time", async ({
    expect,
  }) => {
    const app = startApp();
    const tagBefore = await etagOf(app);
    const last = await env.DB.prepare("select max(revision) from order_changes").first<number>(
      "max(revision)",
    );
    await env.DB.prepare("delete from order_changes where revision = ?").bind(last).run();
    await insertOrders({ id: "1" });
    const again = await env.DB.prepare("select max(revision) from order_changes").first("max(revision)");
    expect(again).toBe(last);
    expect(await etagOf(app)).not.toBe(tagBefore);
    expect(await listText(app)).toBe('[{"id":1}]');
  });
});

describe("a list that is too large to be kept", () => {
  beforeEach(() => Object.assign(SIZES, { maxListBytes: 100_000, ordersPerPage: 500, ordersPerChunk: 100 }));

  it("is whole, without an ETag, and read again for each client", async ({ expect }) => {
    await insertMany(4_500);
    const { DB, take } = countCosts(env.DB);
    const app = startApp({ DB });
    for (let i = 0; i < 2; i++) {
      take();
      const response = await app(LIST, { key });
      expect(response.headers.has("ETag")).toBe(false);
      const orders = await response.json<{ id: number }[]>();
      expect(orders.map(({ id }) => id)).toEqual(Array.from({ length: 4_500 }, (_, n) => n + 1));
    }
    expect(take().calls).toBe(4); // the revision, and three pages
  });

  it("breaks off if a page cannot be read, so that it cannot be taken for complete", async ({ expect }) => {
    await insertMany(4_500);
    const database = watchDatabase();
    const app = startApp({ DB: database.DB });
    await listText(app);
    const response = await app(LIST, { key });
    database.failWith("D1_ERROR: Network connection lost.", /id >= cast/);
    await expect(response.text()).rejects.toThrow();
    const requestId = response.headers.get("X-Request-Id");
    expect(log.lines()).toContainEqual(
      expect.objectContaining({ event: "order_list_stream_failed", requestId }),
    );
  });
});

/** D1 that answers the nth query with this text as it was at its time, when `release` is called. */
function holdQuery(text: string, nth: number) {
  const [isRead, isReleased] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let count = 0;
  const DB = wrapDatabase(env.DB, async (sql, run) => {
    const isHeld = sql.some((each) => each.includes(text)) && ++count === nth;
    const result = await run();
    if (isHeld) {
      isRead.resolve();
      await isReleased.promise;
    }
    return result;
  });
  return { DB, isRead: isRead.promise, release: isReleased.resolve, count: () => count };
}

describe("lists at once", () => {
  it("are not answered by a read of the revision that began before them", async ({ expect }) => {
    await insertMany(10);
    const { DB, isRead, release } = holdQuery("number, token from order_changes", 1);
    const app = startApp({ DB });
    await listText(app); // without a list that is kept, the orders would be read later anyway
    const first = app(LIST, { key });
    await isRead;
    expect((await startApp()(`${LIST}/5`, { key, method: "DELETE" })).status).toBe(204);
    const second = app(LIST, { key });
    await pause(100); // until it has joined the read
    release();
    expect(await (await second).text()).not.toContain('"id":5,');
    expect((await first).status).toBe(200);
  });

  it("share a refresh, and those that came while it went on share the next one", async ({ expect }) => {
    await insertMany(10);
    const { DB, isRead, release, count } = holdQuery("json_each", 1);
    const app = startApp({ DB });
    await listText(app);
    const lists: Promise<string>[] = [];
    for (const quantity of [77, 78, 79]) {
      await env.DB.prepare("update orders set quantity = ? where id = 3").bind(quantity).run();
      lists.push(listText(app));
      await isRead;
      await pause(50); // until it has read the revision
    }
    release();
    const bodies = await Promise.all(lists);
    expect(bodies.map((body) => /"quantity":(7\d)/.exec(body)?.[1])).toEqual(["77", "79", "79"]);
    expect(count()).toBe(2);
  });

  it("after one cancel read one chunk, in 3 statements for 100 lists", async ({ expect }) => {
    await insertMany(2_000);
    const { DB, take } = countCosts(env.DB);
    const app = startApp({ DB });
    await listText(app);
    const keys = await Promise.all(Array.from({ length: 7 }, () => createKey()));
    await env.DB.prepare("delete from orders where id = 1234").run();
    take();
    const send = (i: number) => app(LIST, { key: keys[i % keys.length]?.key ?? "" });
    const responses = await Promise.all(Array.from({ length: 100 }, (_, i) => send(i)));
    const { calls, rowsRead } = take();
    expect(calls).toBeLessThanOrEqual(3);
    expect(rowsRead).toBeLessThanOrEqual(300);
    const sent = responses.filter(({ status }) => status === 200);
    expect(sent, "further ones get a 503").toHaveLength(64);
    const [one, ...others] = sent;
    expect(JSON.parse((await one?.text()) ?? "")).toHaveLength(1_999);
    await Promise.all(others.map(({ body }) => body?.cancel()));
    expect(await listText(app), "their places are free again").toContain("1233");
  });

  it("split and join chunks for 2 statements and the rows of two chunks after each change", async ({
    expect,
  }) => {
    await insertMany(150);
    const { DB, take } = countCosts(env.DB);
    const app = startApp({ DB });
    await listText(app);
    const deleteSome = "delete from orders where id > ?1 and id <= ?1 + 10";
    const insertSome =
      "insert into orders (id, quantity) select -1 - ?1 - id, 1 from orders where id > 100 limit 10";
    for (const sql of [deleteSome, insertSome]) {
      for (let from = 0; from < 60; from += 10) {
        await env.DB.prepare(sql).bind(from).run();
        take();
        await listText(app);
        const { calls, rowsRead } = take();
        expect(calls).toBeLessThanOrEqual(2);
        expect(rowsRead).toBeLessThanOrEqual(300);
      }
    }
  });
});
