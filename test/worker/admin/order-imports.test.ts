/** Imports: one audit row and one row of figures for each, whatever breaks off and is sent again, and dry runs. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import type { ImportView } from "../../../src/worker/db/order-import-view.ts";
import type { ImportResult } from "../../../src/worker/orders/import-requests.ts";
import { newOrderId } from "../../support/factories.ts";
import { captureLog, startApp, watchDatabase } from "../../support/worker.ts";
import { type Operator, operatorOf } from "./admin-support.ts";

const operator = operatorOf(startApp());

let log: ReturnType<typeof captureLog>;
beforeEach(() => {
  log = captureLog();
});
afterEach(() => {
  vi.restoreAllMocks();
});

function newImport(): string {
  return `imp_${crypto.randomUUID()}`;
}

/** NDJSON of new orders. */
function newOrders(count: number, members = ""): string[] {
  return Array.from({ length: count }, () => `{"id":${newOrderId()}${members}}`);
}

async function load(query: string, body: string, by: Operator = operator): Promise<ImportResult> {
  const answer = await by("POST", `/orders${query}`, body);
  if (answer.status !== 200) throw new Error(answer.text);
  return JSON.parse(answer.text);
}

async function auditRows(importId: string): Promise<{ call: string; actor: string; after: object }[]> {
  const { text } = await operator("GET", `/audit?object=${importId}`);
  return JSON.parse(text).audit;
}

async function figures(importId: string): Promise<ImportView | undefined> {
  const { imports } = JSON.parse((await operator("GET", "/orders/imports")).text);
  return imports.find(({ id }: ImportView) => id === importId);
}

async function countStored(lines: readonly string[]): Promise<unknown> {
  const ids = JSON.stringify(lines.map((line) => Number(JSON.parse(line).id)));
  return env.DB.prepare("select count(*) as n from orders where id in (select value from json_each(?))")
    .bind(ids)
    .first("n");
}

describe("the requests of one import", () => {
  it("have one audit row, with the file's name and the figures of all chunks", async ({ expect }) => {
    const id = newImport();
    const [first, second] = [newOrders(1_500, ',"quantity":1'), newOrders(3)];
    const query = `?import=${id}&file=${encodeURIComponent("Bestellungen März.json")}`;
    expect(await load(query, [...first, '{"id":"x"}'].join("\n"))).toMatchObject({
      import: id,
      inserted: 1_500,
      updated: 0,
      unchanged: 0,
      refusedCount: 1,
    });
    const changed = `{"id":${JSON.parse(first[0] ?? "").id},"quantity":2}`;
    const again = [...second, changed, first[1], "null"].join("\n");
    expect(await load(`${query}&from=1501`, again)).toEqual({
      import: id,
      inserted: 1_503,
      updated: 1,
      unchanged: 1,
      cancelled: 0,
      reinserted: 0,
      backwards: 0,
      refusedCount: 2,
      stopped: false,
      refused: [{ line: 6, reason: "is not a JSON object" }],
    });
    const counts = {
      inserted: 1_503,
      updated: 1,
      unchanged: 1,
      refused: 2,
      cancelled: 0,
      reinserted: 0,
      backwards: 0,
      stopped: false,
    };
    const shown = { file: "Bestellungen März.json", ...counts, durationMs: expect.any(Number) };
    expect(await auditRows(id)).toMatchObject([{ call: "orders.import", actor: "mo", after: shown }]);
    expect(await figures(id)).toEqual({ id, actor: "mo", startedAt: expect.any(String), ...shown });
  });

  it("without an id are imports of their own", async ({ expect }) => {
    const results = [await load("", newOrders(1)[0] ?? ""), await load("", newOrders(1)[0] ?? "")];
    const ids = results.map((result) => result.import ?? "");
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) {
      expect(await auditRows(id)).toMatchObject([{ after: { file: null, inserted: 1, refused: 0 } }]);
    }
  });

  it("that are sent twice count each order once", async ({ expect }) => {
    const id = newImport();
    const lines = [...newOrders(1_200), "null"];
    const first = await load(`?import=${id}&from=0`, lines.join("\n"));
    expect(await load(`?import=${id}&from=0`, lines.join("\n"))).toEqual(first);
    expect(first).toMatchObject({ inserted: 1_200, refusedCount: 1 });
    expect(await figures(id)).toMatchObject({ inserted: 1_200, unchanged: 0, refused: 1 });
  });

  it("belong to one operator", async ({ expect }) => {
    const id = newImport();
    await load(`?import=${id}`, newOrders(1)[0] ?? "");
    const headers = { Authorization: `Bearer ${env.ADMIN_TOKEN}`, "X-Operator": "kim" };
    const [line = ""] = newOrders(1);
    const refused = await startApp()(`/admin/orders?import=${id}&from=1`, {
      method: "POST",
      headers,
      body: line,
    });
    expect(refused.status).toBe(409);
    expect(await countStored([line])).toBe(0);
  });

  it("are refused if they begin after what is stored, or if they name another file", async ({ expect }) => {
    const id = newImport();
    const [first, second] = [newOrders(5), newOrders(5)];
    const send = (query: string, lines: readonly string[]) =>
      operator("POST", `/orders?import=${id}${query}`, lines.join("\n"));
    const tooEarly = { body: { message: expect.stringContaining("has 0 orders so far, and from is 5") } };
    expect(await send("&file=a.json&from=5", second)).toMatchObject({ status: 409, ...tooEarly });
    expect((await send("&file=a.json&from=0", first)).status).toBe(200);
    expect(await send("&file=a.json&from=6", second)).toMatchObject({ status: 409 });
    const otherFile = { body: { message: "The import is of another file. Start a new one." } };
    expect(await send("&file=b.json&from=5", second)).toMatchObject({ status: 409, ...otherFile });
    expect(await countStored(second)).toBe(0);
    expect((await send("&from=5", second)).body).toMatchObject({ inserted: 10 });
    expect(await countStored(second)).toBe(5);
  });

  it("are stored one after the other: of two at the same time, one is refused", async ({ expect }) => {
    const id = newImport();
    await load(`?import=${id}`, newOrders(1)[0] ?? "");
    const batches = [newOrders(500), newOrders(400)];
    const answers = await Promise.all(
      batches.map((lines) => operator("POST", `/orders?import=${id}&from=1`, lines.join("\n"))),
    );
    const statuses = answers.map(({ status }) => status);
    // The second can also read the figures after the first was stored. It then skips what it takes for its own records.
    expect(statuses.sort()).toBeOneOf([
      [200, 200],
      [200, 409],
    ]);
    const stored = await Promise.all(batches.map(countStored));
    const total = stored.reduce((sum: number, count) => sum + Number(count), 1);
    expect((await figures(id))?.inserted).toBe(total);
  });
});

describe("an import that is interrupted", () => {
  /** The body of a client whose connection is lost after these lines. */
  function brokenBody(lines: readonly string[]): ReadableStream<Uint8Array> {
    let step = 0;
    return new ReadableStream({
      pull(controller) {
        if (step++ === 0) controller.enqueue(new TextEncoder().encode(`${lines.join("\n")}\n`));
        else controller.error(new Error("Network connection lost."));
      },
    });
  }

  it("by the client is a 408 that says what was stored, and the same import goes on there", async ({
    expect,
  }) => {
    const id = newImport();
    const lines = newOrders(1_700);
    const headers = { Authorization: `Bearer ${env.ADMIN_TOKEN}`, "X-Operator": "mo" };
    const init = { method: "POST", headers, body: brokenBody(lines.slice(0, 1_500)) };
    const response = await startApp()(`/admin/orders?import=${id}`, init);
    expect(response.status).toBe(408);
    expect(await response.json()).toEqual({
      code: "request_timeout",
      message: `The upload broke off. This request is stored up to line 1000: import ${id} has 1000 inserted, 0 updated, 0 unchanged, 0 cancelled and 0 refused orders. Sent again as the same import, it goes on there.`,
      status: 408,
    });
    expect(await countStored(lines)).toBe(1_000);
    expect(await figures(id)).toMatchObject({ inserted: 1_000, refused: 0 });
    expect(log.lines().some(({ event }) => event === "request_failed")).toBe(false);

    expect(await load(`?import=${id}`, lines.join("\n"))).toMatchObject({ inserted: 1_700, unchanged: 0 });
    expect(await auditRows(id)).toMatchObject([{ after: { inserted: 1_700 } }]);
  });

  it("by the client before its first chunk says that nothing was stored", async ({ expect }) => {
    const headers = { Authorization: `Bearer ${env.ADMIN_TOKEN}` };
    const body = brokenBody(newOrders(3));
    const response = await startApp()("/admin/orders", { method: "POST", headers, body });
    expect([response.status, await response.json()]).toMatchObject([
      408,
      { message: "The upload broke off. Nothing of this request was stored." },
    ]);
  });

  it("by an outage of D1 is a 503 that says what was stored, also if the outage hid a commit", async ({
    expect,
  }) => {
    const id = newImport();
    const lines = newOrders(2_500);
    let batches = 0;
    const batch = async (statements: D1PreparedStatement[]) => {
      const results = await env.DB.batch(statements);
      if (++batches === 2) throw new Error("Network connection lost.");
      return results;
    };
    // The app uses these two members only.
    const DB = { prepare: (query: string) => env.DB.prepare(query), batch } as unknown as D1Database;
    const interrupted = operatorOf(startApp({ DB }));
    const refused = await interrupted("POST", `/orders?import=${id}`, lines.join("\n"));
    expect(refused.status).toBe(503);
    expect(refused.body.message).toContain("This request is stored up to line 1000");
    expect(await load(`?import=${id}`, lines.join("\n"), interrupted)).toMatchObject({
      inserted: 2_500,
      unchanged: 0,
      refusedCount: 0,
    });
    expect(await auditRows(id)).toHaveLength(1);
    expect(await countStored(lines)).toBe(2_500);
  });
});

describe("an import whose lines are refused", () => {
  it("stops after max-refused of them, says so, and can go on with more", async ({ expect }) => {
    const id = newImport();
    const [first = "", second = ""] = newOrders(2);
    const body = [first, ...Array.from({ length: 20 }, () => "x"), second].join("\n");
    const stopped = await load(`?import=${id}&max-refused=7`, body);
    expect(stopped).toMatchObject({ inserted: 1, refusedCount: 7, stopped: true });
    expect(stopped.refused.at(-1)).toEqual({ line: 8, reason: "is not valid JSON" });
    expect(await load(`?import=${id}&max-refused=7`, body)).toEqual(stopped);
    expect(await auditRows(id)).toMatchObject([{ after: { inserted: 1, refused: 7, stopped: true } }]);
    expect(await figures(id)).toMatchObject({ refused: 7, stopped: true });

    expect(await load(`?import=${id}&max-refused=21`, body)).toMatchObject({
      inserted: 2,
      refusedCount: 20,
      stopped: false,
    });
    expect(await figures(id)).toMatchObject({ inserted: 2, refused: 20, stopped: false });
  });

  it("answers soon, although the rest of a long upload is received", async ({ expect }) => {
    let pulled = 0;
    const lines = new TextEncoder().encode("x\n".repeat(1_000));
    const body = new ReadableStream({
      pull(controller) {
        if (++pulled > 2_000) controller.close();
        else controller.enqueue(lines);
      },
    });
    const headers = { Authorization: `Bearer ${env.ADMIN_TOKEN}` };
    const startedAt = performance.now();
    const response = await startApp()("/admin/orders", { method: "POST", headers, body });
    expect(await response.json()).toMatchObject({ refusedCount: 1_000, stopped: true });
    expect(pulled).toBeGreaterThan(2_000);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});

describe("an import that is refused before its orders are read", () => {
  for (const [status, query] of [
    [409, "?import=imp_never-stored-0000000&from=5"],
    [400, "?from=x"],
  ] as const) {
    it(`is received to its end, so that the client can read the ${status}`, async ({ expect }) => {
      let pulled = 0;
      const lines = new TextEncoder().encode('{"id":1}\n'.repeat(1_000));
      const body = new ReadableStream({
        pull(controller) {
          if (++pulled > 200) controller.close();
          else controller.enqueue(lines);
        },
      });
      const headers = { Authorization: `Bearer ${env.ADMIN_TOKEN}` };
      const response = await startApp()(`/admin/orders${query}`, { method: "POST", headers, body });
      expect([response.status, pulled]).toEqual([status, 201]);
    });
  }
});

describe("a dry run of an import", () => {
  it("counts as the import would, with the refused lines and their reasons, and writes nothing", async ({
    expect,
  }) => {
    const [known = "", same = ""] = newOrders(2, ',"quantity":1');
    await load("", `${known}\n${same}`);
    const change = known.replace('"quantity":1', '"quantity":2');
    const body = [...newOrders(1_100), change, same, '{"id":0.5}'].join("\n");
    const database = watchDatabase();
    const dry = await load("?dry-run", body, operatorOf(startApp({ DB: database.DB })));
    expect(database.queries().filter((query) => /\b(insert|update|delete)\b/i.test(query))).toEqual([]);
    const counts = {
      inserted: 1_100,
      updated: 1,
      unchanged: 1,
      cancelled: 0,
      reinserted: 0,
      backwards: 0,
      refusedCount: 1,
      stopped: false,
    };
    const refused = [{ line: 1_103, reason: "id: must be a whole number of 64 bits, in digits" }];
    expect(dry).toEqual({ import: null, ...counts, refused });
    expect(await load("", body)).toEqual({ import: expect.stringMatching(/^imp_/), ...counts, refused });
  });
});

describe("an import that sets a status back", () => {
  it("counts these orders in the dry run, in its answer, in the list and in the audit log", async ({
    expect,
  }) => {
    const ids = newOrders(6).map((line) => JSON.parse(line).id as number);
    const lines = (statuses: readonly string[]) =>
      ids.map((id, i) => `{"id":${id},"status":"${statuses[i]}"}`).join("\n");
    await load("", lines(["pending", "processing", "shipped", "delivered", "shipped", "delivered"]));
    // Forward, the same, back, back; then one without a status, and one that is given two of them.
    const changed = [
      ...lines(["delivered", "processing", "processing", "pending"]).split("\n").slice(0, 4),
      `{"id":${ids[4]},"quantity":1}`,
      `{"id":${ids[5]},"status":"pending"}`,
      `{"id":${ids[5]},"status":"delivered"}`,
    ].join("\n");
    expect(await load("?dry-run", changed)).toMatchObject({ updated: 4, backwards: 2 });
    const { import: id, ...result } = await load("", changed);
    expect(result).toMatchObject({ updated: 4, backwards: 2 });
    expect(await load("", changed)).toMatchObject({ updated: 0, backwards: 0 });
    expect(await auditRows(String(id))).toMatchObject([{ after: { updated: 4, backwards: 2 } }]);
    const { imports } = (await operator("GET", "/orders/imports?limit=2")).body;
    expect(imports).toMatchObject([{ backwards: 0 }, { id, backwards: 2 }]);
  });
});

describe("the query of an import", () => {
  it("is checked", async ({ expect }) => {
    const wrong = [
      "import=x",
      "import=imp_%00000000000000000",
      "file=%0A",
      "file=sok_egBoqJXz.json",
      "from=-1",
      "dry-run=maybe",
      "max-refused=0",
      "max-refused=10001",
      "x=1",
    ];
    for (const query of wrong) {
      expect(await operator("POST", `/orders?${query}`, '{"id":1}')).toMatchObject({ status: 400 });
    }
  });
});
