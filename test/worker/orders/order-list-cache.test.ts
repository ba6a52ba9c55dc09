/** What an isolate keeps of the list while several clients read it at once: its memory must not grow with them. */
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

/** An isolate, and a client of it that knows how many queries its reading cost. */
async function startIsolate() {
  const { key } = await createKey();
  const database = watchDatabase();
  const app = startApp({ DB: database.DB });
  const open = (method = "GET") => app("/v1/store/orders", { key, method });
  await open("HEAD"); // from here on, the key's record is known
  return {
    open,
    /** One query says that nothing changed; more are what the isolate did not have. */
    async isKept(): Promise<boolean> {
      database.queries();
      await (await open()).text();
      return database.queries().length === 1;
    },
  };
}

describe("a list that several clients read at once", () => {
  it("is copied for one of them only, and kept once that one has all of it", async ({ expect }) => {
    const { open, isKept } = await startIsolate();
    const slow = (await open()).body?.getReader();
    await slow?.read();
    expect(await isKept()).toBe(false);
    expect(await isKept()).toBe(false);
    while (slow && !(await slow.read()).done);
    expect(await isKept()).toBe(true);
  });

  it("is copied for another when the first reads too slowly, or leaves", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const { open, isKept } = await startIsolate();
    const slow = (await open()).body?.getReader();
    await slow?.read();
    vi.setSystemTime(Date.now() + MAX_COLLECT_MS);
    expect(await isKept()).toBe(false); // read anew, and kept from now on
    expect(await isKept()).toBe(true);

    await env.DB.prepare("delete from orders where id = 1").run();
    const leaving = (await open()).body?.getReader();
    await leaving?.read();
    await leaving?.cancel();
    expect(await isKept()).toBe(false);
    expect(await isKept()).toBe(true);
  });

  it("is not replaced by an older one that was read to its end later", async ({ expect }) => {
    const { open, isKept } = await startIsolate();
    const slow = (await open()).body?.getReader();
    await slow?.read();
    await env.DB.prepare("delete from orders where id = 1").run();
    expect(await isKept()).toBe(false);
    while (slow && !(await slow.read()).done);
    expect(await isKept()).toBe(true);
  });
});
