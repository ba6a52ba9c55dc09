/** An import is undone as a whole: exactly, except for orders that changed since. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import type { UndoResult } from "../../../src/worker/admin/order-import-undo-service.ts";
import { deleteExpiredRows } from "../../../src/worker/retention.ts";
import { createKey, insertOrders, newOrderId } from "../../support/factories.ts";
import { captureLog, LIST, setClock, startApp } from "../../support/worker.ts";
import { wrapStatement } from "../../support/wrap-statement.ts";
import { operatorOf } from "./admin-support.ts";

const app = startApp();
const operator = operatorOf(app);

beforeEach(() => {
  captureLog();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function load(lines: readonly string[]): Promise<string> {
  const { status, body } = await operator("POST", "/orders", lines.join("\n"));
  if (status !== 200) throw new Error(JSON.stringify(body));
  return String(body.import);
}

/** Calls until all chunks are undone. Only the last answer names orders. */
async function undo(importId: string): Promise<UndoResult & { calls: number }> {
  for (let calls = 1; ; calls++) {
    const { status, text } = await operator("POST", `/orders/imports/${importId}/undo`);
    if (status !== 200) throw new Error(text);
    const result: UndoResult = JSON.parse(text);
    if (result.isComplete) return { ...result, calls };
    if (result.leftAlone.length > 0) throw new Error(`named too early: ${text}`);
  }
}

async function stored(): Promise<unknown[]> {
  return (await env.DB.prepare("select cast(id as text), * from orders order by id").all()).results;
}

async function newOrder(members: object): Promise<string> {
  const id = newOrderId();
  await insertOrders({ id, ...members });
  return id;
}

/** A database that reads before `first` runs, and writes after it. */
function writingAfter(first: () => Promise<void>): D1Database {
  let writes = 0;
  const batch = async (statements: D1PreparedStatement[]) => {
    if (++writes === 1) await first();
    return env.DB.batch(statements);
  };
  // The app uses these two members only.
  return { prepare: (query: string) => env.DB.prepare(query), batch } as unknown as D1Database;
}

/** A database whose queries for the last chunk are sent after `first` has run. */
function readingLastChunkAfter(first: () => Promise<unknown>): D1Database {
  const prepare = (query: string) => {
    const statement = env.DB.prepare(query);
    return query.startsWith("select number from order_import_chunks")
      ? wrapStatement(statement, (run) => first().then(run))
      : statement;
  };
  // The app uses these two members only.
  const DB = { prepare, batch: (statements: D1PreparedStatement[]) => env.DB.batch(statements) };
  return DB as unknown as D1Database;
}

const SHIP_DATES = [1, 2, 3].map((day) => `2026-01-0${day}T00:00:00.000Z`);
/** Of an order, each with three values. */
const MEMBERS = [
  { name: "petId", values: [1, 2, 3] },
  { name: "quantity", values: [1, 2, 3] },
  { name: "shipDate", values: SHIP_DATES },
  { name: "complete", values: [null, true, false] },
  { name: "status", values: ["pending", "processing", "shipped"] },
];

describe("undoing an import", () => {
  it("deletes new orders and sets changed ones back, with every digit, in all chunks", async ({ expect }) => {
    const max = "9223372036854775807";
    const changed = await newOrder({ petId: max, quantity: `-${max}`, status: "processing", complete: true });
    const emptied = await newOrder({ shipDate: "2026-01-01T00:00:00.000Z", quantity: "1" });
    const unchanged = await newOrder({ petId: "1" });
    const before = await stored();
    const many = Array.from({ length: 9_000 }, () => `{"id":${newOrderId()},"quantity":1}`);
    const id = await load([
      `{"id":${changed},"petId":1,"status":"delivered"}`,
      ...many.slice(0, 4_500),
      `{"id":${emptied}}`,
      `{"id":${unchanged},"petId":1}`,
      `{"id":${changed},"petId":2}`, // a later chunk changes it again
      ...many.slice(4_500),
    ]);
    expect(await stored()).not.toEqual(before);
    const { import: undone, leftAlone, calls } = await undo(id);
    expect(await stored()).toEqual(before);
    expect([leftAlone, calls]).toEqual([[], 3]);
    expect(undone.undone).toMatchObject({ deleted: 9_000, restored: 3, leftAlone: 0 });
    const { audit } = (await operator("GET", `/audit?object=${id}`)).body;
    expect(audit).toMatchObject([
      { call: "orders.undo-import", actor: "mo", after: null },
      { call: "orders.import", after: { inserted: 9_000, undone: { deleted: 9_000, restored: 3 } } },
    ]);
    const { text } = await operator("GET", "/orders/imports");
    expect(JSON.parse(text).imports[0]).toMatchObject({ id, undone: { deleted: 9_000 } });
  });

  it("leaves orders alone that were changed, deleted or cancelled since, and names them", async ({
    expect,
  }) => {
    const { key } = await createKey();
    const ids = Array.from({ length: 6 }, newOrderId);
    const [kept = "", patched = "", shipped = "", deleted = "", cancelled = "", again = ""] = ids;
    await insertOrders({ id: again, quantity: "7" });
    const id = await load(ids.map((order) => `{"id":${order},"quantity":1}`));
    await operator("PATCH", `/orders/${patched}`, { quantity: 2 });
    await operator("PATCH", `/orders/${shipped}`, { status: "shipped" });
    await operator("DELETE", `/orders/${deleted}`);
    await app(`${LIST}/${cancelled}`, { method: "DELETE", key });
    await load([`{"id":${again},"quantity":3}`]);
    const result = await undo(id);
    expect(result.leftAlone).toEqual([patched, shipped, deleted, cancelled, again]);
    expect(result.import.undone).toMatchObject({ deleted: 1, restored: 0, leftAlone: 5 });
    expect((await operator("GET", `/orders/${kept}`)).status).toBe(404);
    for (const [order, quantity] of [
      [patched, 2],
      [shipped, 1],
      [again, 3],
    ]) {
      expect((await operator("GET", `/orders/${order}`)).body).toMatchObject({ quantity });
    }
    for (const gone of [deleted, cancelled]) {
      expect((await operator("GET", `/orders/${gone}`)).status).toBe(404);
    }
  });

  it.for(MEMBERS)("compares $name", async ({ name, values: [first, second, third] }, { expect }) => {
    const [restored, kept] = [newOrderId(), newOrderId()];
    const lineOf = (id: string, value: unknown) => `{"id":${id},"${name}":${JSON.stringify(value)}}`;
    await load([lineOf(restored, first), lineOf(kept, first)]);
    const id = await load([lineOf(restored, second), lineOf(kept, second)]);
    await load([lineOf(kept, third)]);
    const { leftAlone, import: undone } = await undo(id);
    expect([leftAlone, undone]).toEqual([[kept], expect.objectContaining({ updated: 2 })]);
    expect((await operator("GET", `/orders/${restored}`)).body[name]).toBe(first);
    expect((await operator("GET", `/orders/${kept}`)).body[name]).toBe(third);
  });

  it("leaves an order alone in all chunks, and counts it once", async ({ expect }) => {
    const order = newOrderId();
    const others = Array.from({ length: 2_000 }, () => `{"id":${newOrderId()}}`);
    const imported = [`{"id":${order},"quantity":1}`, ...others, `{"id":${order},"quantity":2}`];
    const id = await load(imported);
    // As the first chunk left it, but not the last.
    await operator("PATCH", `/orders/${order}`, { quantity: 1 });
    const { leftAlone, import: undone } = await undo(id);
    expect(leftAlone).toEqual([order]);
    expect(undone.undone).toMatchObject({ deleted: 2_000, restored: 0, leftAlone: 1 });
    expect((await operator("GET", `/orders/${order}`)).body).toMatchObject({ quantity: 1 });
  });

  it("names in each answer an earlier chunk that is left, also if the call counted nothing", async ({
    expect,
  }) => {
    const order = newOrderId();
    const id = "imp_nine-chunks-0123456789";
    for (let from = 0; from < 9; from++) {
      await operator("POST", `/orders?import=${id}&from=${from}`, `{"id":${order},"quantity":${from}}`);
    }
    await operator("PATCH", `/orders/${order}`, { status: "shipped" });
    const answers: UndoResult[] = [];
    do answers.push(JSON.parse((await operator("POST", `/orders/imports/${id}/undo`)).text));
    while (answers.at(-1)?.isComplete === false);
    expect(answers.map(({ import: { undone } }) => undone?.leftAlone)).toEqual([1, 1, 1]);
    const first = Number(answers[0]?.lastChunk);
    expect(answers.map(({ lastChunk }) => lastChunk)).toEqual([first, first - 4, null]);
  });

  it("reads as many rows for the last chunk as for the first, however many orders are left alone", async ({
    expect,
  }) => {
    const id = await load([`{"id":${newOrderId()}}`]);
    // Chunks of one order each, which is not stored any more. Every second one has the order of the chunk before.
    await env.DB.prepare(
      `insert into order_import_chunks (import_id, stored_at, changes)
       with recursive n(i) as (select 1 union all select i + 1 from n where i < 24)
       select ?, unixepoch(), json_array(json_array(-(i / 2), null, json_array(1, 1, null, null, 'pending'))) from n`,
    )
      .bind(id)
      .run();
    const rowsRead: number[] = [];
    const batch = async (statements: D1PreparedStatement[]) => {
      const results = await env.DB.batch(statements);
      rowsRead.push(results.reduce((sum, { meta }) => sum + meta.rows_read, 0));
      return results;
    };
    // The app uses these two members only.
    const DB = { prepare: (query: string) => env.DB.prepare(query), batch } as unknown as D1Database;
    const counting = operatorOf(startApp({ DB }));
    let answer: UndoResult;
    do answer = JSON.parse((await counting("POST", `/orders/imports/${id}/undo`)).text);
    while (!answer.isComplete);
    expect(answer.import.undone).toMatchObject({ deleted: 1, leftAlone: 13 });
    expect(rowsRead).toHaveLength(25);
    expect(Math.max(...rowsRead)).toBeLessThanOrEqual(50);
  });

  it("names them all in its last answer, each time that it is repeated", async ({ expect }) => {
    const max = "9223372036854775807";
    const ids = [...Array.from({ length: 4_500 }, newOrderId), max];
    const id = await load(ids.map((order) => `{"id":${order}}`));
    const changed = [ids[0] ?? "", ids[4_499] ?? "", max];
    for (const order of changed) await operator("PATCH", `/orders/${order}`, { quantity: 2 });
    const first = await undo(id);
    expect(first).toMatchObject({ leftAlone: changed, calls: 2, import: { undone: { leftAlone: 3 } } });
    expect(await undo(id)).toEqual({ ...first, calls: 1 });
    await operator("DELETE", `/orders/${max}`);
  });

  it("answers with the final figures and names, also if another call undoes the last chunk meanwhile", async ({
    expect,
  }) => {
    const changed = newOrderId();
    const id = "imp_five-chunks-0123456789";
    for (let from = 0; from < 5; from++) {
      const order = from === 0 ? changed : newOrderId();
      await operator("POST", `/orders?import=${id}&from=${from}`, `{"id":${order}}`);
    }
    await operator("PATCH", `/orders/${changed}`, { status: "shipped" });
    expect((await operator("POST", `/orders/imports/${id}/undo`)).body).toMatchObject({ isComplete: false });
    const late = operatorOf(startApp({ DB: readingLastChunkAfter(() => undo(id)) }));
    expect((await late("POST", `/orders/imports/${id}/undo`)).body).toMatchObject({
      isComplete: true,
      import: { undone: { deleted: 4, restored: 0, leftAlone: 1 } },
      leftAlone: [changed],
    });
  });

  it("shows in the clients' list", async ({ expect }) => {
    const { key } = await createKey();
    const order = newOrderId();
    const id = await load([`{"id":${order}}`]);
    const list = async () => (await app(LIST, { key })).text();
    expect(await list()).toContain(`"id":${order}`);
    await undo(id);
    expect(await list()).not.toContain(`"id":${order}`);
  });

  it("can be repeated, and ends the import", async ({ expect }) => {
    const order = newOrderId();
    const id = await load([`{"id":${order}}`]);
    const first = await undo(id);
    await insertOrders({ id: order });
    expect(await undo(id)).toEqual(first);
    expect((await operator("GET", `/orders/${order}`)).status).toBe(200);
    expect((await operator("GET", `/audit?object=${id}`)).body.audit).toHaveLength(2);
    const late = await operator("POST", `/orders?import=${id}&from=1`, `{"id":${newOrderId()}}`);
    expect(late).toMatchObject({ status: 409, body: { message: "The import was undone. Start a new one." } });
  });

  it("ends an import that has changed nothing so far, and undoes what it stores meanwhile", async ({
    expect,
  }) => {
    const same = `{"id":${await newOrder({ petId: "1" })},"petId":1}`;
    const id = await load([same]);
    const meanwhile = newOrderId();
    const goOn = async () => {
      const answer = await operator("POST", `/orders?import=${id}&from=1`, `{"id":${meanwhile}}`);
      expect(answer.status).toBe(200);
    };
    const late = operatorOf(startApp({ DB: writingAfter(goOn) }));
    expect((await late("POST", `/orders/imports/${id}/undo`)).body).toMatchObject({
      isComplete: true,
      import: { inserted: 1, undone: { deleted: 1, restored: 0, leftAlone: 0 } },
    });
    expect((await operator("GET", `/orders/${meanwhile}`)).status).toBe(404);

    const other = await load([same]);
    expect((await undo(other)).import.undone).toMatchObject({ deleted: 0, restored: 0, leftAlone: 0 });
    expect(await undo(other)).toMatchObject({ calls: 1 });
    const next = await operator("POST", `/orders?import=${other}&from=1`, `{"id":${newOrderId()}}`);
    expect(next).toMatchObject({ status: 409, body: { message: "The import was undone. Start a new one." } });
    expect((await operator("GET", `/audit?object=${other}`)).body.audit).toMatchObject([
      { call: "orders.undo-import" },
      { call: "orders.import" },
    ]);
  });

  it("undoes first what is stored meanwhile, so that an order of both chunks is deleted", async ({
    expect,
  }) => {
    const order = newOrderId();
    const id = await load([`{"id":${order},"quantity":1}`]);
    const goOn = async () => {
      const answer = await operator("POST", `/orders?import=${id}&from=1`, `{"id":${order},"quantity":2}`);
      expect(answer.status).toBe(200);
    };
    const late = operatorOf(startApp({ DB: writingAfter(goOn) }));
    expect((await late("POST", `/orders/imports/${id}/undo`)).body).toMatchObject({
      isComplete: true,
      leftAlone: [],
      import: { undone: { deleted: 1, restored: 1, leftAlone: 0 } },
    });
    expect((await operator("GET", `/orders/${order}`)).status).toBe(404);
  });

  it("is not followed by a part of its import that was read before it", async ({ expect }) => {
    const id = await load([`{"id":${newOrderId()}}`]);
    const meanwhile = newOrderId();
    const late = operatorOf(
      startApp({
        DB: writingAfter(async () => {
          await undo(id);
        }),
      }),
    );
    const answer = await late("POST", `/orders?import=${id}&from=1`, `{"id":${meanwhile}}`);
    expect(answer).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining("the import was undone") },
    });
    expect((await operator("GET", `/orders/${meanwhile}`)).status).toBe(404);
  });

  it("changes nothing of another import that was stored before a late write", async ({ expect }) => {
    const [order, other] = [newOrderId(), newOrderId()];
    const id = await load([`{"id":${order}}`]);
    let otherId = "";
    const late = operatorOf(
      startApp({
        DB: writingAfter(async () => {
          await undo(id);
          otherId = await load([`{"id":${other}}`]);
        }),
      }),
    );
    const answer = await late("POST", `/orders/imports/${id}/undo`);
    expect(answer).toMatchObject({
      status: 200,
      body: { isComplete: true, import: { undone: { deleted: 1 } } },
    });
    expect((await operator("GET", `/orders/${other}`)).status).toBe(200);
    expect((await undo(otherId)).import.undone).toMatchObject({ deleted: 1 });
  });

  it("is refused a day after the import, and for an import that nobody made", async ({ expect }) => {
    const id = await load([`{"id":${newOrderId()}}`]);
    vi.useFakeTimers({ toFake: ["Date"] });
    setClock(Date.now() + 86_402_000);
    expect(await operator("POST", `/orders/imports/${id}/undo`)).toMatchObject({ status: 409 });
    expect(await operator("POST", "/orders/imports/imp_none/undo")).toMatchObject({ status: 404 });
  });

  it("is a 404 if the import is deleted while its undo is repeated", async ({ expect }) => {
    const id = await load([`{"id":${newOrderId()}}`]);
    await undo(id);
    const deleted = () => env.DB.prepare("delete from order_imports where id = ?").bind(id).run();
    const late = operatorOf(startApp({ DB: readingLastChunkAfter(deleted) }));
    expect(await late("POST", `/orders/imports/${id}/undo`)).toMatchObject({ status: 404 });
  });

  it("is complete after two days only if it counted all orders, as what it needs is kept no longer", async ({
    expect,
  }) => {
    const whole = await load([`{"id":${newOrderId()}}`]);
    await undo(whole);
    const broken = await load([`{"id":${newOrderId()}}`]);
    // As a call leaves it that breaks off before this chunk.
    await env.DB.prepare("update order_imports set undone_at = unixepoch() where id = ?").bind(broken).run();
    vi.useFakeTimers({ toFake: ["Date"] });
    setClock(Date.now() + 2 * 86_400_000 + 60_000);
    await deleteExpiredRows(env, Date.now());
    expect((await undo(whole)).import.undone).toMatchObject({ deleted: 1 });
    expect(await operator("POST", `/orders/imports/${broken}/undo`)).toMatchObject({
      status: 409,
      body: { message: expect.stringMatching(/^It is no longer known whether the whole import was undone/) },
    });
  });

  it("changes nothing if its audit row cannot be written", async ({ expect }) => {
    const id = await load([`{"id":${newOrderId()}}`]);
    const before = await stored();
    await env.DB.prepare(
      "create trigger no_audit before insert on audit_log begin select raise(abort, 'no audit'); end",
    ).run();
    const refused = await operator("POST", `/orders/imports/${id}/undo`);
    await env.DB.exec("drop trigger no_audit");
    expect(refused.status).toBe(500);
    expect(await stored()).toEqual(before);
    expect((await undo(id)).import.undone).toMatchObject({ deleted: 1 });
  });
});
