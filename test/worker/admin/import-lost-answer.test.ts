/** An import whose chunk is stored, and whose answer is lost: nothing is said that is not true, and nothing counts twice. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { newOrderId } from "../../support/factories.ts";
import { captureLog, startApp } from "../../support/worker.ts";
import { operatorOf } from "./admin-support.ts";

const operator = operatorOf(startApp());

let log: ReturnType<typeof captureLog>;
beforeEach(() => {
  log = captureLog();
});
afterEach(() => log.restore());

/** D1 executes every batch. The answer to the one with this number is lost. */
function losing(lost: number, message: string) {
  let batches = 0;
  const batch = async (statements: D1PreparedStatement[]) => {
    const results = await env.DB.batch(statements);
    if (++batches === lost) throw new Error(message);
    return results;
  };
  // The app uses these two members only.
  const DB = { prepare: (query: string) => env.DB.prepare(query), batch } as unknown as D1Database;
  return operatorOf(startApp({ DB }));
}

const newImport = () => `imp_${crypto.randomUUID()}`;

function newOrders(count: number, members = ""): { readonly id: string; readonly line: string }[] {
  return Array.from({ length: count }, () => {
    const id = newOrderId();
    return { id, line: `{"id":${id}${members}}` };
  });
}

const textOf = (orders: readonly { readonly line: string }[]) => orders.map(({ line }) => line).join("\n");

async function statusOf(id: string): Promise<unknown> {
  return env.DB.prepare("select status from orders where id = ?").bind(id).first("status");
}

const OUTAGES = [
  "Network connection lost.",
  "D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.",
  "internal error; reference = 0123456789abcdef0123456789abcdef",
];

describe("a chunk that is stored, and whose answer is lost", () => {
  for (const message of OUTAGES) {
    it(`does not count as not stored, and counts once when it is sent again: ${message}`, async ({
      expect,
    }) => {
      const id = newImport();
      const lines = [...newOrders(2).map(({ line }) => line), '{"id":"x"}'].join("\n");
      const first = await losing(1, message)("POST", `/orders?import=${id}`, lines);
      expect(first.status).toBe(503);
      expect(first.body.message).toBe(
        `The database cannot be reached. Whether lines 1 to 3 were stored is not known. Sent again as the import ${id}, it goes on after what is stored.`,
      );
      const again = await operator("POST", `/orders?import=${id}`, lines);
      expect(again.body).toMatchObject({ inserted: 2, updated: 0, unchanged: 0, refusedCount: 1 });
      expect(again.body.refused).toHaveLength(1);
    });
  }

  it("ends the import, also by an error that nobody knows: its lines are not called refused, nor do later ones follow", async ({
    expect,
  }) => {
    const id = newImport();
    const [changed, ...others] = newOrders(1_000, ',"status":"shipped"');
    const later = `{"id":${changed?.id}}`;
    const body = `${textOf([...(changed ? [changed] : []), ...others])}\n${later}`;
    const failed = await losing(1, "socket hang up")("POST", `/orders?import=${id}`, body);
    expect(failed.status).toBe(500);
    expect(log.text()).not.toContain("order_import_chunk_failed");
    const again = await operator("POST", `/orders?import=${id}`, body);
    expect(again.body).toMatchObject({ inserted: 1_000, updated: 0, unchanged: 1, refusedCount: 0 });
    expect(await statusOf(changed?.id ?? "")).toBe("shipped");
  });

  it("is not stored again over what an operator has changed meanwhile", async ({ expect }) => {
    const id = newImport();
    const [order] = newOrders(1, ',"quantity":1');
    const body = order?.line ?? "";
    await losing(1, "Network connection lost.")("POST", `/orders?import=${id}`, body);
    await operator("PATCH", `/orders/${order?.id}`, { status: "shipped" });
    const again = await operator("POST", `/orders?import=${id}`, body);
    expect(again.body).toMatchObject({ inserted: 1, unchanged: 0 });
    expect(await statusOf(order?.id ?? "")).toBe("shipped");
  });
});

describe("an import that runs while the database is restored to before it began", () => {
  it("is a 409, and stores nothing more", async ({ expect }) => {
    const id = newImport();
    const orders = newOrders(3_000);
    const encoder = new TextEncoder();
    const chunks = [orders.slice(0, 2_000), orders.slice(2_000)].map((part) =>
      encoder.encode(`${textOf(part)}\n`),
    );
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (chunks.length === 1) {
            await vi.waitUntil(async () => (await insertedOf(id)) === 2_000);
            // What a restore leaves of it: nothing. Its orders and audit row do not matter here.
            await env.DB.prepare("delete from order_imports where id = ?").bind(id).run();
          }
          const chunk = chunks.shift();
          if (chunk) controller.enqueue(chunk);
          else controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { Authorization: `Bearer ${env.ADMIN_TOKEN}` };
    const response = await startApp()(`/admin/orders?import=${id}`, { method: "POST", headers, body });
    expect([response.status, await response.json()]).toMatchObject([
      409,
      { message: expect.stringContaining("or the database was restored.") },
    ]);
    expect(await insertedOf(id)).toBeNull();
    expect(await statusOf(orders.at(-1)?.id ?? "")).toBeNull();
  });

  async function insertedOf(id: string): Promise<unknown> {
    return env.DB.prepare("select inserted from order_imports where id = ?").bind(id).first("inserted");
  }
});
