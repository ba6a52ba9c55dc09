/** Readers of a list that was abandoned: they go on with queries of their own, as of their revision, or fail. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { openDatabase } from "../../../src/worker/db/database.ts";
import { readPage, readRevision } from "../../../src/worker/db/order-list-repository.ts";
import { readChunks, readToEnd } from "../../../src/worker/orders/order-list-reader.ts";
import { type Chunk, toChunks } from "../../../src/worker/orders/order-list-snapshot.ts";
import { SharedList } from "../../../src/worker/orders/shared-list.ts";
import { countCosts } from "../../support/count-costs.ts";
import { createKey, insertOrders } from "../../support/factories.ts";
import { captureLog, LIST, startApp } from "../../support/worker.ts";

let log: ReturnType<typeof captureLog>;
beforeEach(async () => {
  log = captureLog();
  await env.DB.prepare("delete from orders").run();
});
afterEach(() => {
  log.restore();
  vi.restoreAllMocks();
});

async function jsonNow(): Promise<string> {
  const { results } = await env.DB.prepare("select json from order_json order by id").all<{ json: string }>();
  return results.map(({ json }) => json).join(",");
}

async function insertMany(fromId: number, count: number): Promise<void> {
  await env.DB.prepare(
    `with recursive n(i) as (select ?1 union all select i + 1 from n where i + 1 < ?1 + ?2)
     insert into orders (id, quantity) select i, 1 from n`,
  )
    .bind(fromId, count)
    .run();
}

/** A reader that has the first chunk of a cached list of 2,500 orders. */
async function readFirstChunk() {
  await insertMany(1, 2_500);
  const before = await jsonNow();
  const revision = await readRevision(openDatabase(env.DB));
  const list = new SharedList(revision, toChunks(before));
  const chunks = readToEnd(
    list,
    (fromId, limit) => readChunks(env, undefined, revision, fromId, limit),
    "req_1",
  );
  const first = await chunks.next();
  if (first.done) throw new Error("the list is empty");
  return { before, revision, list, chunks, first: first.value };
}

async function textOf(first: Chunk, rest: AsyncIterable<Chunk>): Promise<string> {
  const parts = [first.bytes];
  for await (const { bytes } of rest) parts.push(bytes);
  return (await new Blob(parts).text()).slice(1);
}

describe("a reader of a list that was abandoned", () => {
  it("gets the rest as it was at the revision, whatever changed since", async ({ expect }) => {
    const { before, list, chunks, first } = await readFirstChunk();
    list.abandon();
    await env.DB.prepare("update orders set quantity = 7 where id % 3 = 0").run();
    await env.DB.prepare("delete from orders where id > 500 and id % 5 = 0").run();
    await env.DB.prepare("insert into orders (id, quantity) values (5000, 1), (-1, 1)").run();
    expect(await textOf(first, chunks)).toBe(before);
  });

  it("gets the rest after more changes than a page has orders, of which most are deletions", async ({
    expect,
  }) => {
    const { before, list, chunks, first } = await readFirstChunk();
    list.abandon();
    await env.DB.prepare("update orders set id = id + 10000 where id > 900 and id <= 1300").run();
    await env.DB.prepare("update orders set quantity = 7").run();
    await env.DB.prepare("delete from orders where id % 10 > 0 and id < 10000").run();
    await insertMany(20_000, 2_000);
    expect(await textOf(first, chunks)).toBe(before);
  });

  it("reads each change once for each query", async ({ expect }) => {
    await insertMany(1, 10_000);
    const revision = await readRevision(openDatabase(env.DB));
    await env.DB.prepare("update orders set quantity = 7").run();
    const costs = countCosts();
    await readPage(openDatabase(costs.DB), revision, 1n, 1_000);
    expect(costs.rowsRead()).toBeGreaterThan(10_000);
    expect(costs.rowsRead()).toBeLessThan(20_000);
  });

  it("gets the rest while the feed has all that changed since, even without the row of the revision", async ({
    expect,
  }) => {
    const { before, revision, list, chunks, first } = await readFirstChunk();
    list.abandon();
    await env.DB.prepare("delete from orders where id = 2000").run();
    await env.DB.prepare("delete from order_changes where revision <= ?").bind(revision.number).run();
    expect(await textOf(first, chunks)).toBe(before);
  });

  it("fails when the feed has lost what changed since", async ({ expect }) => {
    const { revision, list, chunks, first } = await readFirstChunk();
    list.abandon();
    await env.DB.prepare("delete from orders where id = 2000 or id = 2001").run();
    await env.DB.prepare("delete from order_changes where revision <= ?")
      .bind(revision.number + 1)
      .run();
    await expect(textOf(first, chunks)).rejects.toThrow("the change feed does not reach back");
    expect(log.text()).toContain("order_list_stream_failed");
  });

  it("fails when the database was restored to a time before the revision, and changed again", async ({
    expect,
  }) => {
    const { revision, list, chunks, first } = await readFirstChunk();
    list.abandon();
    await env.DB.prepare("update order_changes set token = 'restored' where revision = ?")
      .bind(revision.number)
      .run();
    await expect(textOf(first, chunks)).rejects.toThrow("the change feed does not reach back");
  });
});

describe("a reading that never ends, as the runtime cancelled its request", () => {
  it("delays the list that joined it, and no later one", async ({ expect }) => {
    const schedule = globalThis.setTimeout;
    // Polls of a reading that has made no progress for 0.3 seconds.
    const lookSooner = (call: () => void, ms = 0) => schedule(call, ms >= 100 && ms <= 250 ? 5 : ms);
    // With the two parameters that the Worker uses.
    vi.spyOn(globalThis, "setTimeout").mockImplementation(lookSooner as typeof setTimeout);
    const { key } = await createKey({ perMinute: 9_000, perDay: 9_000 });
    await insertOrders({ id: "1" }, { id: "2" });
    const never = () => new Promise<never>(() => {});
    const hung = { bind: () => hung, all: never, raw: never, run: never, first: never };
    let pages = 0;
    const prepare = (sql: string) =>
      sql.includes("from listed") && pages++ === 0 ? hung : env.DB.prepare(sql);
    // The app uses these two members.
    const DB = { prepare, batch: env.DB.batch.bind(env.DB) } as unknown as D1Database;
    const app = startApp({ DB });
    expect(await (await app(LIST, { key })).text()).toBe('[{"id":1},{"id":2}]');
    for (let i = 0; i < 3; i++) expect((await app(LIST, { key })).status).toBe(200);
    expect(pages).toBe(3); // the hung one, that reader's own, and one for the cache
  });
});
