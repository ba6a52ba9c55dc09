/** Sends a file of orders to the admin API, in requests of bounded size. */
import { fetchOrders, textOf } from "../admin-client.ts";
import { Problem, type ProblemKind } from "../problem.ts";
import type { Session } from "../session.ts";
import { type OrderRecord, splitOrders } from "./split-orders.ts";

/** Five of the Worker's chunks, as the command line sends them. */
const ORDERS_PER_REQUEST = 5_000;

/** After a 503 or a lost connection. */
const RETRY_PAUSES_MS = [1_000, 3_000, 10_000];
const PASSING: ReadonlySet<ProblemKind> = new Set(["unavailable", "unreachable"]);

export type RefusedLine = { readonly line: number; readonly reason: string };

export type ImportProgress = {
  readonly sent: number;
  readonly total: number;
  readonly inserted: number;
  readonly updated: number;
  readonly refusedCount: number;
  readonly refused: readonly RefusedLine[];
  readonly isDone: boolean;
};

/** The response of this route of the admin API. */
type ImportAnswer = Pick<ImportProgress, "inserted" | "updated" | "refusedCount" | "refused">;

/** Importing a file again is harmless: orders are identified by their ids. */
export async function importOrders(
  session: Session,
  file: File,
  show: (progress: ImportProgress) => void,
): Promise<void> {
  const records = await recordsIn(file);
  let progress: ImportProgress = {
    sent: 0,
    total: records.length,
    inserted: 0,
    updated: 0,
    refusedCount: 0,
    refused: [],
    isDone: false,
  };
  show(progress);
  for (let from = 0; from < records.length; from += ORDERS_PER_REQUEST) {
    const batch = records.slice(from, from + ORDERS_PER_REQUEST);
    progress = add(progress, batch.length, await send(session, batch));
    show(progress);
  }
}

async function recordsIn(file: File): Promise<OrderRecord[]> {
  const records = split(await file.text());
  if (records.length > 0) return records;
  throw new Problem(
    "invalid",
    `${file.name} contains no orders.`,
    "Choose a JSON array or one JSON object per line.",
  );
}

function split(text: string): OrderRecord[] {
  try {
    return splitOrders(text);
  } catch {
    throw new Problem(
      "invalid",
      "The file begins as a JSON array, but is not valid JSON.",
      "Correct it, or send one JSON object per line: each wrong line is then named.",
    );
  }
}

/** What is no object is refused here: as the first line of a request, `[` would make it an array. */
async function send(session: Session, batch: readonly OrderRecord[]): Promise<ImportAnswer> {
  const objects = batch.filter(isObject);
  const others = batch.filter((record) => !isObject(record));
  const answer = objects.length === 0 ? NOTHING_SENT : await post(session, objects);
  const refused = [
    ...others.map(({ number }) => ({ line: number, reason: "is not a JSON object" })),
    ...answer.refused.map(({ line, reason }) => ({ line: objects[line - 1]?.number ?? line, reason })),
  ];
  return {
    ...answer,
    refusedCount: answer.refusedCount + others.length,
    refused: refused.sort((a, b) => a.line - b.line),
  };
}

const NOTHING_SENT: ImportAnswer = { inserted: 0, updated: 0, refusedCount: 0, refused: [] };

function isObject({ json }: OrderRecord): boolean {
  return json.trimStart().startsWith("{");
}

async function post(session: Session, records: readonly OrderRecord[]): Promise<ImportAnswer> {
  const body = records.map(({ json }) => json).join("\n");
  const text = await withRetries(() => textOf(fetchOrders(session, "", { method: "POST", body })));
  // The type above describes this answer.
  return JSON.parse(text) as ImportAnswer;
}

/** A request that may have been stored already can be sent again: its orders are then updated. */
async function withRetries<T>(send: () => Promise<T>): Promise<T> {
  for (const pauseMs of RETRY_PAUSES_MS) {
    try {
      return await send();
    } catch (thrown) {
      const isPassing = thrown instanceof Problem && PASSING.has(thrown.kind);
      if (!isPassing) throw thrown;
      await new Promise((done) => setTimeout(done, pauseMs));
    }
  }
  return send();
}

function add(before: ImportProgress, sentNow: number, answer: ImportAnswer): ImportProgress {
  const sent = before.sent + sentNow;
  return {
    ...before,
    sent,
    inserted: before.inserted + answer.inserted,
    updated: before.updated + answer.updated,
    refusedCount: before.refusedCount + answer.refusedCount,
    refused: [...before.refused, ...answer.refused],
    isDone: sent === before.total,
  };
}
