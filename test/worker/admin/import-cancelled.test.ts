/** Imports of orders that clients have cancelled meanwhile: a cancel is final, unless the operator says otherwise. */
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, it } from "vitest";
import type { ImportResult } from "../../../src/worker/orders/import-requests.ts";
import { createKey, newOrderId, type TestKey } from "../../support/factories.ts";
import { captureLog, LIST, startApp } from "../../support/worker.ts";
import { operatorOf } from "./admin-support.ts";

const app = startApp();
const operator = operatorOf(app);

let caller: TestKey;
beforeAll(async () => {
  caller = await createKey();
});

let log: ReturnType<typeof captureLog>;
beforeEach(() => {
  log = captureLog();
});
afterEach(() => log.restore());

async function load(query: string, ...lines: readonly string[]): Promise<ImportResult> {
  const answer = await operator("POST", `/orders${query}`, lines.join("\n"));
  if (answer.status !== 200) throw new Error(answer.text);
  return JSON.parse(answer.text);
}

async function cancel(id: string): Promise<void> {
  const { status } = await app(`${LIST}/${id}`, { method: "DELETE", key: caller.key });
  if (status !== 204) throw new Error(`the cancel got ${status}`);
}

async function statusOf(id: string): Promise<string | null> {
  return env.DB.prepare("select status from orders where id = ?").bind(id).first<string>("status");
}

/** Of two orders of a file, the first one is cancelled. */
async function fileWithCancelled() {
  const ids = [newOrderId(), newOrderId()] as const;
  const lines = ids.map((id) => `{"id":${id},"quantity":1}`);
  await load("", ...lines);
  await cancel(ids[0]);
  return { cancelled: ids[0], kept: ids[1], lines };
}

describe("a file that is imported again", () => {
  it("leaves an order cancelled that a client has cancelled, and counts it, also in a dry run", async ({
    expect,
  }) => {
    const { cancelled, lines } = await fileWithCancelled();
    const counts = { inserted: 1, updated: 0, unchanged: 1, cancelled: 1, refusedCount: 0 };
    const file = [...lines, `{"id":${newOrderId()}}`];
    expect(await load("?dry-run", ...file)).toMatchObject(counts);
    const result = await load("", ...file);
    expect(result).toMatchObject(counts);
    expect(await statusOf(cancelled)).toBeNull();

    const figures = { inserted: 1, updated: 0, unchanged: 1, cancelled: 1, reinserted: 0, refused: 0 };
    const { imports } = (await operator("GET", "/orders/imports?limit=1")).body;
    expect(imports).toMatchObject([{ id: result.import, ...figures }]);
    const { audit } = (await operator("GET", `/audit?object=${result.import}`)).body;
    expect(audit).toMatchObject([{ after: figures }]);
  });

  it("counts each line of a cancelled order, also a status that goes nowhere", async ({ expect }) => {
    const { cancelled, lines } = await fileWithCancelled();
    const file = [lines[0] ?? "", `{"id":${cancelled},"status":"shipped"}`];
    const counts = { inserted: 0, updated: 0, unchanged: 0, cancelled: 2, backwards: 0 };
    expect(await load("", ...file)).toMatchObject(counts);
    expect(await statusOf(cancelled)).toBeNull();
  });

  it("inserts it with restore-cancelled, and the cancellation stays known", async ({ expect }) => {
    const { cancelled, lines } = await fileWithCancelled();
    const counts = { inserted: 2, unchanged: 1, cancelled: 0, reinserted: 1 };
    const file = [...lines, `{"id":${newOrderId()}}`];
    expect(await load("?restore-cancelled&dry-run", ...file)).toMatchObject(counts);
    const result = await load("?restore-cancelled", ...file);
    expect(result).toMatchObject(counts);
    const { import: id } = result;
    const { imports } = (await operator("GET", "/orders/imports?limit=1")).body;
    expect(imports).toMatchObject([{ id, ...counts }]);
    const { audit } = (await operator("GET", `/audit?object=${id}`)).body;
    expect(audit).toMatchObject([{ after: counts }]);
    expect(await statusOf(cancelled)).toBe("pending");
    expect(await load("", ...lines)).toMatchObject({ inserted: 0, unchanged: 2, cancelled: 0 });
    expect((await operator("GET", "/orders/cancelled?limit=1")).body.cancelled).toMatchObject([
      { id: Number(cancelled) },
    ]);
  });

  it("inserts it when its cancellation is no longer kept", async ({ expect }) => {
    const { cancelled, lines } = await fileWithCancelled();
    await env.DB.prepare("delete from cancelled_orders where order_id = ?").bind(cancelled).run();
    expect(await load("", ...lines)).toMatchObject({ inserted: 1, cancelled: 0 });
  });

  it("counts each order once if a request is sent again", async ({ expect }) => {
    const { lines } = await fileWithCancelled();
    const query = `?import=imp_${crypto.randomUUID()}`;
    const first = await load(query, ...lines);
    expect(first).toMatchObject({ unchanged: 1, cancelled: 1 });
    expect(await load(query, ...lines)).toEqual(first);
    const [next] = [newOrderId()];
    expect(await load(`${query}&from=2`, `{"id":${next}}`)).toMatchObject({ inserted: 1, cancelled: 1 });
  });
});

describe("a part that another request has stored meanwhile", () => {
  /** The same request is stored just before this one is. */
  async function sendTwice(query: string, body: string) {
    let batches = 0;
    const batch = async (statements: D1PreparedStatement[]) => {
      if (++batches === 1) await load(query, body);
      return env.DB.batch(statements);
    };
    // The app uses these two members only.
    const DB = { prepare: (sql: string) => env.DB.prepare(sql), batch } as unknown as D1Database;
    return operatorOf(startApp({ DB }))("POST", `/orders${query}`, body);
  }

  it("is not counted again if all its lines are refused", async ({ expect }) => {
    const query = `?import=imp_${crypto.randomUUID()}`;
    await load(query, `{"id":${newOrderId()}}`);
    expect((await sendTwice(`${query}&from=1`, "x\nx")).status).toBe(409);
    const { imports } = (await operator("GET", "/orders/imports?limit=1")).body;
    expect(imports).toMatchObject([{ inserted: 1, refused: 2 }]);
  });

  it("is not counted again if all its orders are left cancelled", async ({ expect }) => {
    const { lines } = await fileWithCancelled();
    expect((await sendTwice(`?import=imp_${crypto.randomUUID()}`, lines[0] ?? "")).status).toBe(409);
    const { imports } = (await operator("GET", "/orders/imports?limit=1")).body;
    expect(imports).toMatchObject([{ cancelled: 1 }]);
  });
});
