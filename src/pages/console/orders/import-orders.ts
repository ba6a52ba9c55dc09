/** Sends a file of orders to the admin API: one import, in requests of bounded size. */
import { binaryFormatOf, IMPORT_FORMATS, textFormatOf } from "../../../worker/orders/import-format.ts";
import { DEFAULT_REFUSED_LINES, MAX_ORDERS_PER_REQUEST } from "../../../worker/orders/import-limits.ts";
import {
  adviceToRepeat,
  type ImportResult,
  importedFileName,
  NOTHING_IMPORTED,
  REFUSED_LINE,
  withAnswer,
  withoutLines,
} from "../../../worker/orders/import-requests.ts";
import { formatNumber } from "../../shared/format.ts";
import { fetchOrders, jsonOf } from "../admin-client.ts";
import { Problem, type ProblemKind } from "../problem.ts";
import { addressOf } from "../query.ts";
import { randomId } from "../random-id.ts";
import type { OpenSession } from "../session.ts";
import { type OrderRecord, splitOrders } from "./split-orders.ts";

/** After a 408, a 503, a lost connection, or a 409: an earlier sending, which the browser can have repeated by itself, may still be stored. */
const RETRY_PAUSES_MS = [1_000, 3_000, 10_000];
const PASSING: ReadonlySet<ProblemKind> = new Set(["cut-off", "unavailable", "unreachable", "conflict"]);

// The constant has the members of its type, no others.
const MEMBERS = Object.keys(NOTHING_IMPORTED) as (keyof ImportResult)[];

export type ImportProgress = ImportResult & {
  readonly sent: number;
  readonly total: number;
  readonly isDryRun: boolean;
  readonly isDone: boolean;
};

export type ImportOptions = {
  /** Stores nothing. */
  readonly isDryRun: boolean;
  /** Whether an order that a client has cancelled is inserted again. */
  readonly restoresCancelled: boolean;
};

/** Orders are identified by their ids: importing a file again is harmless, but `restoresCancelled` inserts what was cancelled since. */
export async function importOrders(
  session: OpenSession,
  file: File,
  { isDryRun, restoresCancelled }: ImportOptions,
  show: (progress: ImportProgress) => void,
): Promise<ImportProgress> {
  const name = importedFileName(file.name);
  const records = await recordsIn(file, name);
  const total = records.length;
  const query = {
    ...(isDryRun ? { "dry-run": "true" } : { import: `imp_${randomId()}`, file: name }),
    ...(restoresCancelled ? { "restore-cancelled": "true" } : {}),
  };
  let progress: ImportProgress = { ...NOTHING_IMPORTED, sent: 0, total, isDryRun, isDone: false };
  show(progress);
  while (!progress.isDone) {
    const from = progress.sent;
    // What a dry run refused is not known to the service.
    const maxRefused = DEFAULT_REFUSED_LINES - (isDryRun ? progress.refusedCount : 0);
    if (maxRefused <= 0) {
      progress = { ...progress, stopped: true, isDone: true };
    } else {
      const batch = records.slice(from, from + MAX_ORDERS_PER_REQUEST);
      const options = { ...query, from: String(from), "max-refused": String(maxRefused) };
      const result = withAnswer(progress, await send(session, options, batch), isDryRun);
      const sent = from + batch.length;
      progress = { ...progress, ...result, sent, isDone: sent === total || result.stopped };
    }
    show(progress);
  }
  return progress;
}

/** Says how it ended, to an operator who has left its page. */
export function endOfImport(file: string, { stopped, refusedCount, backwards }: ImportProgress): string {
  const facts = [
    `The import of ${file} ${stopped ? "stopped: nothing after the last refused line was read" : "is done"}.`,
    refusedCount > 0 && `Refused lines: ${formatNumber(refusedCount)}. Check the file to see them.`,
    backwards > 0 && `Orders whose status went backwards: ${formatNumber(backwards)}.`,
  ];
  return facts.filter(Boolean).join(" ");
}

async function recordsIn(file: File, name: string): Promise<OrderRecord[]> {
  const read = Promise.all([file.text(), file.slice(0, 2).arrayBuffer()]);
  const [text, start] = await read.catch(() => {
    throw new Problem(
      "invalid",
      `${name} cannot be read. Nothing was sent.`,
      "If it was changed or moved since it was chosen, choose it again.",
    );
  });
  const format = binaryFormatOf(new Uint8Array(start)) ?? textFormatOf(firstLineOf(text));
  if (format !== undefined) throw new Problem("invalid", `${name} is ${format}.`, IMPORT_FORMATS);
  const records = split(text);
  if (records.length > 0) return records;
  throw new Problem(
    "invalid",
    `${name} contains no orders.`,
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

/** As the first line of a request, `[` would make it an array, so what is no object is not sent. */
async function send(
  session: OpenSession,
  query: Readonly<Record<string, string>>,
  batch: readonly OrderRecord[],
): Promise<ImportResult> {
  const body = batch.map((record) => (isObject(record) ? record.json : REFUSED_LINE)).join("\n");
  const post = () =>
    jsonOf<ImportResult>(fetchOrders(session, addressOf("", query), { method: "POST", body }), ...MEMBERS);
  const answer = await withRetries(post, session.ended).catch((thrown: unknown) => {
    throw "dry-run" in query ? thrown : ofWholeFile(thrown, "restore-cancelled" in query);
  });
  const refused = answer.refused.flatMap(({ line, reason }) => {
    const record = batch[line - 1];
    if (record === undefined) return [];
    return [{ line: record.number, reason: isObject(record) ? reason : "is not a JSON object" }];
  });
  return { ...answer, refused };
}

/** A failure after which this request, or those before it, can have stored orders. */
function ofWholeFile(thrown: unknown, restoresCancelled: boolean): unknown {
  if (!(thrown instanceof Problem) || !PASSING.has(thrown.kind)) return thrown;
  const message = thrown.kind === "conflict" ? thrown.message : withoutLines(thrown.message);
  return new Problem(thrown.kind, message, adviceToRepeat(restoresCancelled));
}

function isObject({ json }: OrderRecord): boolean {
  return json.trimStart().startsWith("{");
}

/** The same request of the same import goes on after what is stored of it. */
async function withRetries<T>(attempt: () => Promise<T>, ended: AbortSignal): Promise<T> {
  for (const pauseMs of RETRY_PAUSES_MS) {
    try {
      return await attempt();
    } catch (thrown) {
      const isPassing = thrown instanceof Problem && PASSING.has(thrown.kind);
      if (!isPassing || ended.aborted) throw thrown;
      await new Promise((done) => setTimeout(done, pauseMs));
    }
  }
  return attempt();
}
