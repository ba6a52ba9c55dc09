/** `GET /store/orders`: the JSON, several pages, and ETags. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it } from "vitest";
import { MAX_ORDERS_PER_PAGE as ORDERS_PER_PAGE } from "../../../src/worker/db/order-list-repository.ts";
import { createKey, insertOrders } from "../../support/factories.ts";
import { type App, captureLog, startApp, watchDatabase } from "../../support/worker.ts";

const LIST = "/v1/store/orders";
const LARGEST = "9223372036854775807";

let key: string;
let log: ReturnType<typeof captureLog>;
beforeEach(async () => {
  log = captureLog();
  ({ key } = await createKey());
  await env.DB.prepare("delete from orders").run();
});
afterEach(() => {
  log.restore();
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

describe("the list of orders", () => {
  it("is an empty array when there are none", async ({ expect }) => {
    const response = await startApp()(LIST, { key });
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toBe("application/json");
    expect(response.headers.get("Cache-Control")).toBe("private, no-cache");
    expect(await response.text()).toBe("[]");
  });
});

describe("a list of several pages", () => {
  it("is one valid JSON array with every order once, sorted by id", async ({ expect }) => {
    await insertMany(25_000, -2_000);
    const database = watchDatabase();
    const response = await startApp({ DB: database.DB })(LIST, { key });
    const orders = (await response.json()) as { id: number }[];
    expect(orders.map(({ id }) => id)).toEqual(Array.from({ length: 25_000 }, (_, i) => i - 2_000));
    const pages = database.queries().filter((query) => query.includes("group_concat"));
    expect(pages).toHaveLength(3);
  });

  it("keeps all digits of the last id of a page, so that no order is lost or repeated", async ({
    expect,
  }) => {
    await insertMany(ORDERS_PER_PAGE - 1);
    const around = ["9223372036854775804", "9223372036854775805", "9223372036854775806", LARGEST];
    await insertOrders(...around.map((id) => ({ id })));
    const ids = Array.from((await listText()).matchAll(/"id":(-?\d+)/g), ([, id]) => id);
    expect(ids).toHaveLength(ORDERS_PER_PAGE + 3);
    expect(ids.slice(-4)).toEqual(around);
  });

  it("is valid if the last page is exactly full", async ({ expect }) => {
    await insertMany(ORDERS_PER_PAGE);
    expect(JSON.parse(await listText())).toHaveLength(ORDERS_PER_PAGE);
  });

  it("is aborted if a later page cannot be read, so that it cannot be taken for complete", async ({
    expect,
  }) => {
    await insertMany(ORDERS_PER_PAGE + 1);
    let pages = 0;
    const database = watchDatabase();
    const DB = new Proxy(database.DB, {
      get(target, name) {
        if (name !== "prepare") return Reflect.get(target, name);
        return (query: string) => {
          if (query.includes("group_concat") && ++pages === 2) {
            database.failWith("D1_ERROR: Network connection lost.", /group_concat/);
          }
          return target.prepare(query);
        };
      },
    });
    const app = startApp({ DB });
    const response = await app(LIST, { key });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    const requestId = response.headers.get("X-Request-Id");
    expect(log.lines()).toContainEqual(
      expect.objectContaining({ event: "order_list_stream_failed", requestId }),
    );

    database.failWith(undefined);
    expect(JSON.parse(await listText(app))).toHaveLength(ORDERS_PER_PAGE + 1);
  });

  it("is an error if the first page cannot be read", async ({ expect }) => {
    await insertOrders({ id: "1" });
    const database = watchDatabase();
    database.failWith("D1_ERROR: Network connection lost.", /group_concat/);
    const response = await startApp({ DB: database.DB })(LIST, { key });
    expect(response.status).toBe(503);
    expect(response.headers.has("ETag")).toBe(false);
  });

  it("can be aborted by its client", async ({ expect }) => {
    await insertMany(ORDERS_PER_PAGE * 2);
    const app = startApp();
    const { body } = await app(LIST, { key });
    await body?.cancel();
    expect(JSON.parse(await listText(app))).toHaveLength(ORDERS_PER_PAGE * 2);
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

  it("is sent to a client that has another list", async ({ expect }) => {
    const app = startApp();
    const etag = await etagOf(app);
    for (const other of ['"other"', etag.slice(1, -1), `${etag.slice(0, -1)}0"`, '"a", *', ""]) {
      const response = await app(LIST, { key, headers: { "If-None-Match": other } });
      expect(response.status, other).toBe(200);
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

  it("is cached, also if it has several pages", async ({ expect }) => {
    await insertMany(ORDERS_PER_PAGE + 1);
    const database = watchDatabase();
    const app = startApp({ DB: database.DB });
    const first = await listText(app);
    database.queries();
    expect(await listText(app)).toBe(first);
    expect(database.queries()).toHaveLength(1);
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

  it("has the same ETag after a change that clients cannot see", async ({ expect }) => {
    await insertOrders({ id: "1", quantity: "3" });
    const app = startApp();
    const etag = await etagOf(app);
    await env.DB.prepare("update orders set status = 'shipped', quantity = 3").run();
    expect(await etagOf(app)).toBe(etag);
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
