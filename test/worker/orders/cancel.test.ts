/** `DELETE /store/orders/{orderId}`: outcomes, ids that are no int64, concurrency and failures. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, it, vi } from "vitest";
import { MAX_CANCEL_MS } from "../../../src/worker/client/orders/cancel.ts";
import { createKey, insertOrders, newOrderId, type TestKey } from "../../support/factories.ts";
import { type App, startApp, watchDatabase } from "../../support/worker.ts";

const LIST = "/v1/store/orders";

let caller: TestKey;
beforeEach(async () => {
  caller = await createKey();
});

function cancel(id: string, app: App = startApp(), init: RequestInit = {}): Promise<Response> {
  return app(`${LIST}/${id}`, { method: "DELETE", key: caller.key, ...init });
}

async function countOrders(id: string): Promise<number | null> {
  return env.DB.prepare("select count(*) as n from orders where id = ?").bind(id).first<number>("n");
}

type CancelledRow = { order_id: string; cancelled_by: string; cancelled_at: number; request_id: string };

async function cancelledRows(id: string): Promise<CancelledRow[]> {
  const { results } = await env.DB.prepare(
    `select cast(order_id as text) as order_id, cast(pet_id as text) as pet_id, cast(quantity as text) as quantity,
       ship_date, complete, cancelled_by, cancelled_at, request_id from cancelled_orders where order_id = ?`,
  )
    .bind(id)
    .all<CancelledRow>();
  return results;
}

describe("cancelling an order", () => {
  it("stores the order with the key, the time and the request that cancelled it", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2031-05-01T12:00:00.900Z") });
    const id = "9223372036854775807";
    await insertOrders({
      id,
      petId: "9007199254740993",
      quantity: "-9223372036854775808",
      shipDate: "2026-11-21T10:00:00.000Z",
      complete: false,
    });
    const response = await cancel(id);
    expect(response.status).toBe(204);
    expect(await cancelledRows(id)).toEqual([
      {
        order_id: id,
        pet_id: "9007199254740993",
        quantity: "-9223372036854775808",
        ship_date: "2026-11-21T10:00:00.000Z",
        complete: 0,
        cancelled_by: caller.id,
        cancelled_at: Date.parse("2031-05-01T12:00:00Z") / 1000,
        request_id: response.headers.get("X-Request-Id"),
      },
    ]);
  });

  it("works for an order that was loaded again after it was cancelled", async ({ expect }) => {
    const id = newOrderId();
    for (let round = 1; round <= 2; round++) {
      await insertOrders({ id });
      expect((await cancel(id)).status).toBe(204);
      expect(await cancelledRows(id)).toHaveLength(round);
    }
  });
});

describe("an id that is no int64", () => {
  // `isInt64` has a test of its own. Here, each is an id as it stands in a path.
  const invalidIds =
    "abc 1.5 -0 007 %2B1 %201 1%0A 1%2F2 ..%2F1 %00 %ZZ %25 %FF %EF%BC%91 1'%20or%20'1'='1 :orderId";

  it("is 404 with an Error object, and changes no order", async ({ expect }) => {
    const database = watchDatabase();
    const app = startApp({ DB: database.DB });
    await insertOrders({ id: "1" }, { id: "7" }, { id: "0" }, { id: "1000" });
    await cancel(newOrderId(), app);
    database.queries();
    for (const id of [...invalidIds.split(" "), "9223372036854775808", "9".repeat(4_000)]) {
      const response = await cancel(id, app);
      expect(response.status, id).toBe(404);
      expect(response.headers.get("Content-Type"), id).toBe("application/json");
      expect(await response.json(), id).toEqual({
        code: "order_not_found",
        message: "There is no such order: its id is an int64.",
        status: 404,
      });
    }
    expect(database.queries()).toEqual([]);
    for (const id of ["1", "7", "0", "1000"]) expect(await countOrders(id), id).toBe(1);
  });

  it("may have percent-encoded digits, since the path is the same", async ({ expect }) => {
    await insertOrders({ id: "77" });
    expect((await cancel("%37%37")).status).toBe(204);
  });
});

describe("concurrent requests", () => {
  it("that cancel one order 50 times get one 204 and 49 times 404, and store one row", async ({ expect }) => {
    const id = newOrderId();
    await insertOrders({ id });
    const apps = [startApp(), startApp(), startApp()];
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async (_, i) => (await cancel(id, apps[i % 3])).status),
    );
    expect(statuses.filter((status) => status === 204)).toHaveLength(1);
    expect(statuses.filter((status) => status === 404)).toHaveLength(49);
    expect(await cancelledRows(id)).toHaveLength(1);
    expect(await countOrders(id)).toBe(0);
  });

  it("that cancel and ship one order either cancel it or ship it, as the status of the response shows", async ({
    expect,
  }) => {
    const ids = Array.from({ length: 12 }, newOrderId);
    await insertOrders(...ids.map((id) => ({ id })));
    const outcomes = await Promise.all(ids.map((id, i) => cancelWhileShipping(id, i % 2 === 0)));
    for (const { id, status, wasShipped } of outcomes) {
      expect([204, 409]).toContain(status);
      expect(wasShipped, id).toBe(status === 409);
      expect(await countOrders(id), id).toBe(status === 409 ? 1 : 0);
      expect(await cancelledRows(id), id).toHaveLength(status === 409 ? 0 : 1);
    }
    expect(new Set(outcomes.map(({ status }) => status)).size, "each outcome occurs").toBe(2);
  });
});

/** Ships the order while it is cancelled: both statements run at the same time, and either can be first. */
async function cancelWhileShipping(id: string, shipsFirst: boolean) {
  const ship = () =>
    env.DB.prepare("update orders set status = 'shipped' where id = ? and status = 'pending'").bind(id).run();
  let shipping: ReturnType<typeof ship> | undefined;
  const DB = {
    prepare: (sql: string) => env.DB.prepare(sql),
    batch: (statements: D1PreparedStatement[]) => {
      if (shipsFirst) shipping = ship();
      const batch = env.DB.batch(statements);
      shipping ??= ship();
      return batch;
    },
  };
  // The app uses only these two members.
  const { status } = await cancel(id, startApp({ DB: DB as unknown as D1Database }));
  const changes = (await shipping)?.meta.changes ?? 0;
  return { id, status, wasShipped: changes > 0 };
}

describe("a database that fails", () => {
  it("is 503 if it does not answer in time, and the DELETE sent again says what became of the order", async ({
    expect,
  }) => {
    const id = newOrderId();
    await insertOrders({ id });
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const DB = {
      prepare: (sql: string) => env.DB.prepare(sql),
      batch: async (statements: D1PreparedStatement[]) => {
        await env.DB.batch(statements);
        resolve();
        return new Promise(() => {});
      },
    };
    // The time of a cancel ends with D1's work. The limiter has the same timers, so they are not replaced.
    const { setTimeout } = globalThis;
    const end = (action: () => void, ms: number) =>
      ms === MAX_CANCEL_MS ? void done.then(action) : setTimeout(action, ms);
    vi.stubGlobal("setTimeout", end);
    // The app uses only these two members.
    const response = await cancel(id, startApp({ DB: DB as unknown as D1Database }));
    vi.unstubAllGlobals();
    expect(response.status).toBe(503);
    expect(response.headers.get("Retry-After")).toBe("5");
    expect(await response.text()).toContain("it may have been made");
    expect((await cancel(id)).status).toBe(404);
    expect(await cancelledRows(id)).toHaveLength(1);
  });
});
