/** The order list cache with several concurrent clients: the isolate's memory must not grow with their number. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { ORDERS_PER_PAGE } from "../../../src/worker/db/order-repository.ts";
import { MAX_COLLECT_MS } from "../../../src/worker/orders/order-list-cache.ts";
import { createKey } from "../../support/factories.ts";
import { captureLog, startApp, watchDatabase } from "../../support/worker.ts";

let log: ReturnType<typeof captureLog>;
beforeEach(async () => {
  log = captureLog();
  await env.DB.prepare("delete from orders").run();
  await env.DB.prepare(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < cast(? as integer))
     insert into orders (id, status) select i, 'pending' from n`,
  )
    .bind(2 * ORDERS_PER_PAGE)
    .run();
});
afterEach(() => {
  log.restore();
  vi.useRealTimers();
});

/** An isolate, and a client that counts the queries of its requests. */
async function startIsolate() {
  const { key } = await createKey();
  const database = watchDatabase();
  const app = startApp({ DB: database.DB });
  const open = (method = "GET") => app("/v1/store/orders", { key, method });
  await open("HEAD"); // from here on, the key record is cached
  return {
    open,
    /** Reads the list. One query reads the revision; more queries mean that the list was not cached. */
    async isCached(): Promise<boolean> {
      database.queries();
      await (await open()).text();
      return database.queries().length === 1;
    },
  };
}

describe("a list that several clients read at once", () => {
  it("is collected for one of them only, and cached once that client has all of it", async ({ expect }) => {
    const { open, isCached } = await startIsolate();
    const slow = (await open()).body?.getReader();
    await slow?.read();
    expect(await isCached()).toBe(false);
    expect(await isCached()).toBe(false);
    while (slow && !(await slow.read()).done);
    expect(await isCached()).toBe(true);
  });

  it("is collected for another client if the first one is too slow, or leaves", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const { open, isCached } = await startIsolate();
    const slow = (await open()).body?.getReader();
    await slow?.read();
    vi.setSystemTime(Date.now() + MAX_COLLECT_MS);
    expect(await isCached()).toBe(false); // read from D1, and cached from now on
    expect(await isCached()).toBe(true);

    await env.DB.prepare("delete from orders where id = 1").run();
    const leaving = (await open()).body?.getReader();
    await leaving?.read();
    await leaving?.cancel();
    expect(await isCached()).toBe(false);
    expect(await isCached()).toBe(true);
  });

  it("is not replaced by an older list whose client finishes later", async ({ expect }) => {
    const { open, isCached } = await startIsolate();
    const slow = (await open()).body?.getReader();
    await slow?.read();
    await env.DB.prepare("delete from orders where id = 1").run();
    expect(await isCached()).toBe(false);
    while (slow && !(await slow.read()).done);
    expect(await isCached()).toBe(true);
  });
});
