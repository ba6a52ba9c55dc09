/** `/admin/orders`: loading orders, changing one, and what was cancelled. */
import { Hono } from "hono";
import type { AppEnv } from "../../context.ts";
import { type Author, audit } from "../../db/audit-repository.ts";
import { type Database, openDatabase, transact } from "../../db/database.ts";
import {
  changeOrder,
  importChunk,
  ORDERS_PER_CHUNK,
  orderExists,
  readCancelledJson,
  readOrderJson,
} from "../../db/order-import-repository.ts";
import { ApiError } from "../../errors.ts";
import { logError } from "../../log.ts";
import { isInt64 } from "../../orders/int64.ts";
import { splitRecords } from "../../orders/json-records.ts";
import { type OrderLine, parseOrderLine } from "../../orders/order-line.ts";
import { cancelledQuery, orderChanges } from "./request-schemas.ts";
import { invalid, jsonBody, queryOf } from "./request-validation.ts";

/** Beyond this many the refused lines are only counted: some 1 MB, and twice what the command line sends at once. */
const MAX_REJECTED_LINES_LISTED = 10_000;

export type ImportResult = {
  inserted: number;
  updated: number;
  refusedCount: number;
  /** `line` counts from 1: lines of NDJSON, elements of an array. */
  refused: { line: number; reason: string }[];
};

export const orderAdminRoutes = new Hono<AppEnv>()
  .post("/", async (c) => {
    const { body } = c.req.raw;
    if (!body) throw holdsNoOrders();
    // The runtime's own type of a decoder's two sides is narrower than a request's body.
    const text = body.pipeThrough(
      new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>,
    );
    return c.json(await importOrders(openDatabase(c.env.DB), c.var.author, text));
  })

  .get("/cancelled", queryOf(cancelledQuery), async (c) => {
    const { before, limit } = c.req.valid("query");
    const rows = await readCancelledJson(openDatabase(c.env.DB), before, limit);
    const next = rows.length === limit ? (rows.at(-1)?.id ?? null) : null;
    return jsonText(`{"cancelled":[${rows.map((row) => row.json).join(",")}],"next":${next}}`);
  })

  .get("/:orderId", async (c) =>
    jsonText(await existingOrder(openDatabase(c.env.DB), c.req.param("orderId"))),
  )

  .patch("/:orderId", jsonBody(orderChanges), async (c) => {
    const db = openDatabase(c.env.DB);
    const orderId = c.req.param("orderId");
    const before = await existingOrder(db, orderId);
    const changes = c.req.valid("json");
    if (Object.keys(changes).length === 0) throw invalid("The body changes nothing.");
    await transact(db, [
      audit(
        db,
        c.var.author,
        {
          call: "orders.update",
          object: orderId,
          before: membersOf(before, Object.keys(changes)),
          after: changes,
        },
        orderExists(orderId),
      ),
      changeOrder(orderId, changes),
    ]);
    const after = await readOrderJson(db, orderId);
    if (after === undefined) throw new ApiError("not_found", "The order was cancelled meanwhile.");
    return jsonText(after);
  });

async function existingOrder(db: Database, orderId: string): Promise<string> {
  const order = isInt64(orderId) ? await readOrderJson(db, orderId) : undefined;
  if (order === undefined) throw new ApiError("not_found", "No order has this id.");
  return order;
}

/** Never fails half-way without saying so: a chunk that could not be stored is among the refused lines. */
async function importOrders(
  db: Database,
  author: Author,
  text: ReadableStream<string>,
): Promise<ImportResult> {
  const result: ImportResult = { inserted: 0, updated: 0, refusedCount: 0, refused: [] };
  let chunk: { line: number; order: OrderLine }[] = [];
  for await (const { number, text: json, problem } of splitRecords(text)) {
    const parsed = problem === undefined ? parseOrderLine(json) : { ok: false as const, reason: problem };
    if (!parsed.ok) refuse(result, number, parsed.reason);
    else chunk.push({ line: number, order: parsed.order });
    if (chunk.length === ORDERS_PER_CHUNK) {
      await store(db, author, chunk, result);
      chunk = [];
    }
  }
  if (chunk.length > 0) await store(db, author, chunk, result);
  if (result.inserted + result.updated + result.refusedCount === 0) throw holdsNoOrders();
  return result;
}

function holdsNoOrders(): ApiError {
  return invalid("The body must hold orders: a JSON array, or one JSON object a line.");
}

async function store(
  db: Database,
  author: Author,
  chunk: readonly { line: number; order: OrderLine }[],
  result: ImportResult,
): Promise<void> {
  const lines = { from: chunk[0]?.line, to: chunk.at(-1)?.line };
  const row = audit(db, author, {
    call: "orders.import",
    object: "orders",
    after: { lines, orders: chunk.length },
  });
  try {
    const counts = await importChunk(
      db,
      chunk.map(({ order }) => order),
      row,
    );
    result.inserted += counts.inserted;
    result.updated += counts.updated;
  } catch (thrown) {
    logError("order_import_chunk_failed", thrown, { requestId: author.requestId });
    for (const { line } of chunk) refuse(result, line, "could not be stored; please load it again");
  }
}

function refuse(result: ImportResult, line: number, reason: string): void {
  result.refusedCount++;
  if (result.refused.length < MAX_REJECTED_LINES_LISTED) result.refused.push({ line, reason });
}

function membersOf(json: string, names: readonly string[]): Record<string, unknown> {
  // `readOrderJson` made this text; a quantity past 2^53 is rounded here, in the audit only.
  const order = JSON.parse(json) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(order).filter(([name]) => names.includes(name)));
}

/** JSON that SQLite wrote, with all digits of its integers. */
function jsonText(text: string): Response {
  return new Response(text, { headers: { "Content-Type": "application/json" } });
}
