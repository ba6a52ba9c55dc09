/** Sends a file of orders to the admin API: one import, in requests of bounded size. */
import { binaryFormatOf, IMPORT_FORMATS, textFormatOf } from "../../../worker/orders/import-format.ts";
import { fetchOrders, textOf } from "../admin-client.ts";
import { Problem, type ProblemKind } from "../problem.ts";
import { addressOf } from "../query.ts";
import type { Session } from "../session.ts";
import { type OrderRecord, splitOrders } from "./split-orders.ts";

/** Five of the Worker's chunks, as the command line sends them. */
const ORDERS_PER_REQUEST = 5_000;

/** After a 503 or a lost connection. */
const RETRY_PAUSES_MS = [1_000, 3_000, 10_000];
const PASSING: ReadonlySet<ProblemKind> = new Set(["unavailable", "unreachable"]);

/** The service stops an import after so many refused lines. */
const MAX_REFUSED_LINES = 1_000;

const MAX_FILE_NAME_CHARS = 255;

export type RefusedLine = { readonly line: number; readonly reason: string };

/** Counts of the whole import so far, as this route of the admin API answers. */
type ImportAnswer = {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Orders whose status goes back. */
  readonly backwards: number;
  readonly refusedCount: number;
  /** Whether it ended early, because too many lines were refused. */
  readonly stopped: boolean;
  /** Of this request only. */
  readonly refused: readonly RefusedLine[];
};

export type ImportProgress = ImportAnswer & {
  readonly sent: number;
  readonly total: number;
  readonly isDryRun: boolean;
  readonly isDone: boolean;
};

const NOTHING: ImportAnswer = {
  inserted: 0,
  updated: 0,
  unchanged: 0,
  backwards: 0,
  refusedCount: 0,
  stopped: false,
  refused: [],
};

/** Importing a file again is harmless: orders are identified by their ids. A dry run stores nothing. */
export async function importOrders(
  session: Session,
  file: File,
  isDryRun: boolean,
  show: (progress: ImportProgress) => void,
): Promise<void> {
  const records = await recordsIn(file);
  const total = records.length;
  const query = isDryRun ? { "dry-run": "true" } : { import: `imp_${randomId()}`, file: nameOf(file) };
  let result = NOTHING;
  show({ ...result, sent: 0, total, isDryRun, isDone: false });
  for (let from = 0; from < total; from += ORDERS_PER_REQUEST) {
    const batch = records.slice(from, from + ORDERS_PER_REQUEST);
    // What a dry run refused is not known to the service.
    const maxRefused = MAX_REFUSED_LINES - (isDryRun ? result.refusedCount : 0);
    if (maxRefused <= 0) return show({ ...result, stopped: true, sent: from, total, isDryRun, isDone: true });
    const options = { ...query, from: String(from), "max-refused": String(maxRefused) };
    const answer = await send(session, options, batch);
    const counts = isDryRun ? sumOf(result, answer) : answer;
    result = { ...counts, refused: [...result.refused, ...answer.refused] };
    const sent = from + batch.length;
    show({ ...result, sent, total, isDryRun, isDone: sent === total || answer.stopped });
    if (answer.stopped) return;
  }
}

/** The service does not keep the counts of a dry run. */
function sumOf(before: ImportAnswer, answer: ImportAnswer): ImportAnswer {
  return {
    inserted: before.inserted + answer.inserted,
    updated: before.updated + answer.updated,
    unchanged: before.unchanged + answer.unchanged,
    backwards: before.backwards + answer.backwards,
    refusedCount: before.refusedCount + answer.refusedCount,
    stopped: answer.stopped,
    refused: [],
  };
}

/** `crypto.randomUUID` needs HTTPS, which a console in a test network may not have. */
function randomId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

/** For the list of imports: one line of text, as the admin API requires. */
function nameOf({ name }: File): string {
  return name.replace(/\p{C}/gu, "").trim().slice(0, MAX_FILE_NAME_CHARS);
}

async function recordsIn(file: File): Promise<OrderRecord[]> {
  const text = await file.text();
  const start = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const format = binaryFormatOf(start) ?? textFormatOf(firstLineOf(text));
  if (format !== undefined) throw new Problem("invalid", `${file.name} is ${format}.`, IMPORT_FORMATS);
  const records = split(text);
  if (records.length > 0) return records;
  throw new Problem(
    "invalid",
    `${file.name} contains no orders.`,
    "Choose a JSON array or one JSON object per line.",
  );
}

function firstLineOf(text: string): string {
  return text.trimStart().split("\n", 1)[0]?.trim() ?? "";
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

/** A line that the service refuses, so that its figures of the import count the record. */
const REFUSED_LINE = "null";

/** As the first line of a request, `[` would make it an array, so what is no object is not sent. */
async function send(
  session: Session,
  query: Readonly<Record<string, string>>,
  batch: readonly OrderRecord[],
): Promise<ImportAnswer> {
  const body = batch.map((record) => (isObject(record) ? record.json : REFUSED_LINE)).join("\n");
  const post = () => textOf(fetchOrders(session, addressOf("", query), { method: "POST", body }));
  // The type above describes this answer.
  const answer = JSON.parse(await withRetries(post)) as ImportAnswer;
  const refused = answer.refused.flatMap(({ line, reason }) => {
    const record = batch[line - 1];
    if (record === undefined) return [];
    return [{ line: record.number, reason: isObject(record) ? reason : "is not a JSON object" }];
  });
  return { ...answer, refused };
}

function isObject({ json }: OrderRecord): boolean {
  return json.trimStart().startsWith("{");
}

/** The same request of the same import goes on after what is stored of it. */
async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
  for (const pauseMs of RETRY_PAUSES_MS) {
    try {
      return await attempt();
    } catch (thrown) {
      const isPassing = thrown instanceof Problem && PASSING.has(thrown.kind);
      if (!isPassing) throw thrown;
      await new Promise((done) => setTimeout(done, pauseMs));
    }
  }
  return attempt();
}
