/** Imports a stream of orders, chunk by chunk. Each chunk and its audit row are one transaction. */
import type { Bindings } from "../context.ts";
import { type Author, audit } from "../db/audit-repository.ts";
import { type Database, openDatabase } from "../db/database.ts";
import { importChunk, ORDERS_PER_IMPORT_CHUNK } from "../db/order-import-repository.ts";
import { invalidRequest } from "../errors.ts";
import { logError } from "../log.ts";
import { splitRecords } from "../orders/json-records.ts";
import { type OrderLine, parseOrderLine } from "../orders/order-line.ts";

/** Further refused lines are only counted. These take some 1 MB, and are twice what the CLI sends in one request. */
const MAX_REFUSED_LINES_LISTED = 10_000;

export type ImportResult = {
  inserted: number;
  updated: number;
  refusedCount: number;
  /** `line` counts from 1: lines of NDJSON, elements of an array. */
  refused: { line: number; reason: string }[];
};

type NumberedLine = { readonly line: number; readonly order: OrderLine };

/** Always returns a complete result: the lines of a chunk that could not be stored are among the refused ones. */
export async function importOrders(
  env: Bindings,
  text: AsyncIterable<string>,
  author: Author,
): Promise<ImportResult> {
  const db = openDatabase(env.DB);
  const result: ImportResult = { inserted: 0, updated: 0, refusedCount: 0, refused: [] };
  let chunk: NumberedLine[] = [];
  for await (const { number, text: json, problem } of splitRecords(text)) {
    const parsed = problem === undefined ? parseOrderLine(json) : { ok: false as const, reason: problem };
    if (!parsed.ok) refuse(result, number, parsed.reason);
    else chunk.push({ line: number, order: parsed.order });
    if (chunk.length === ORDERS_PER_IMPORT_CHUNK) {
      await storeChunk(db, author, chunk, result);
      chunk = [];
    }
  }
  if (chunk.length > 0) await storeChunk(db, author, chunk, result);
  if (result.inserted + result.updated + result.refusedCount === 0) {
    throw invalidRequest("The body must contain orders: a JSON array, or one JSON object per line.");
  }
  return result;
}

async function storeChunk(
  db: Database,
  author: Author,
  chunk: readonly NumberedLine[],
  result: ImportResult,
): Promise<void> {
  const lines = { from: chunk[0]?.line, to: chunk.at(-1)?.line };
  const after = { lines, orders: chunk.length };
  const orders = chunk.map(({ order }) => order);
  try {
    const auditRow = audit(db, author, { call: "orders.import", object: "orders", after });
    const counts = await importChunk(db, orders, auditRow);
    result.inserted += counts.inserted;
    result.updated += counts.updated;
  } catch (thrown) {
    logError("order_import_chunk_failed", thrown, { requestId: author.requestId });
    for (const { line } of chunk) refuse(result, line, "could not be stored; please import it again");
  }
}

function refuse(result: ImportResult, line: number, reason: string): void {
  result.refusedCount++;
  if (result.refused.length < MAX_REFUSED_LINES_LISTED) result.refused.push({ line, reason });
}
