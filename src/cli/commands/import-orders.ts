/** `orders import`: splits a file of orders into requests, with progress on standard error. */
import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import type { Writable } from "node:stream";
import { SingleBar } from "cli-progress";
import * as v from "valibot";
import {
  adviceToRepeat,
  type ImportResult,
  importedFileName,
  NOTHING_IMPORTED,
  REFUSED_LINE,
  type RefusedLine,
  withAnswer,
} from "../../worker/orders/import-requests.ts";
import { type JsonRecord, splitRecords } from "../../worker/orders/json-records.ts";
import { AdminFailure, isOverWorkerLimits, LostAnswer } from "../admin-client.ts";
import { arrayOf, count, parseAnswer, textOrNull } from "./answers.ts";
import { nameOf, openInput } from "./import-input.ts";
import { postWithRetries } from "./import-retries.ts";
import { answerOf, type Session } from "./session.ts";

/** A service that cannot store so few orders in one request cannot be imported into. */
const MIN_HALVED_ORDERS = 10;

export type FileImport = {
  readonly result: ImportResult;
  /** For an array: the line on which each refused element begins. */
  readonly elementLines: ReadonlyMap<number, number>;
};

export type ImportOptions = {
  readonly dryRun: boolean;
  readonly restoreCancelled: boolean;
  readonly batchSize: number;
  readonly maxRefused: number;
};

const resultShape = v.object({
  import: textOrNull,
  inserted: count,
  updated: count,
  unchanged: count,
  cancelled: v.optional(count, 0),
  reinserted: v.optional(count, 0),
  backwards: v.optional(count, 0),
  refusedCount: count,
  stopped: v.optional(v.boolean(), false),
  refused: arrayOf(v.object({ line: count, reason: v.string() })),
});

type Run = {
  readonly session: Session;
  readonly isDryRun: boolean;
  readonly maxRefused: number;
  ordersPerRequest: number;
  /** All requests of the file are one import. */
  readonly import: Readonly<Record<string, string>>;
  result: ImportResult;
  /** How many records were sent before the next request. */
  sent: number;
  /** An answer to a request was lost, or a 408 or 503, so that more may be stored than `result` has. */
  isUncertain: boolean;
  readonly elementLines: Map<number, number>;
};

/** A record, and for an element of an array the line on which it begins. */
type Placed = JsonRecord & { readonly line: number | undefined };

/** Importing the same file again is harmless: orders are identified by their ids. */
export async function importFile(
  session: Session,
  file: string,
  options: ImportOptions,
): Promise<FileImport> {
  const run = startRun(session, file, options);
  const input = await openInput(file, session.io);
  const progress = startProgress(input.size, options.dryRun ? "accepted" : "loaded", session.io.stderr);
  try {
    let batch: Placed[] = [];
    for await (const record of withLines(splitRecords(input.text), input.arrayLine)) {
      batch.push(record);
      if (batch.length < run.ordersPerRequest) continue;
      await send(run, batch);
      batch = [];
      progress.update(input.bytesRead(), countsOf(run.result));
      if (run.result.stopped) break;
    }
    await send(run, batch);
    progress.update(input.bytesRead(), countsOf(run.result));
  } catch (thrown) {
    throw withCounts(thrown, run);
  } finally {
    progress.stop();
  }
  if (run.sent === 0) {
    throw new AdminFailure(`${nameOf(file)} contains no orders.`);
  }
  return run;
}

function startRun(session: Session, file: string, options: ImportOptions): Run {
  const { dryRun: isDryRun, restoreCancelled, batchSize: ordersPerRequest, maxRefused } = options;
  const name = importedFileName(basename(file));
  return {
    session,
    isDryRun,
    ordersPerRequest,
    maxRefused,
    import: {
      import: `imp_${randomUUID()}`,
      ...(file === "-" || name === "" ? {} : { file: name }),
      ...(isDryRun ? { "dry-run": "" } : {}),
      ...(restoreCancelled ? { "restore-cancelled": "" } : {}),
    },
    result: NOTHING_IMPORTED,
    sent: 0,
    isUncertain: false,
    elementLines: new Map(),
  };
}

/** After a failure the operator needs to know what was stored. */
function withCounts(thrown: unknown, run: Run): unknown {
  const { isDryRun, result, isUncertain } = run;
  if (!(thrown instanceof AdminFailure) || isDryRun) return thrown;
  const stored = result.inserted + result.updated + result.unchanged;
  const mayBeMore = isUncertain || thrown instanceof LostAnswer;
  if (stored === 0 && !mayBeMore) return thrown;
  const before = stored > 0 ? `${stored} orders were stored before.` : "";
  const more = mayBeMore ? "Orders of the last request may be stored." : "";
  const facts = [thrown.message, before, more].filter((text) => text !== "").join(" ");
  return new AdminFailure(`${facts} ${adviceToRepeat("restore-cancelled" in run.import)}`, { cause: thrown });
}

/** The elements of an array are the text between its commas, so their line breaks are all that the array has. */
async function* withLines(records: AsyncIterable<JsonRecord>, arrayLine: number | undefined) {
  let line = arrayLine;
  for await (const record of records) {
    if (line === undefined) {
      yield { ...record, line };
      continue;
    }
    const blank = record.text.length - record.text.trimStart().length;
    yield { ...record, line: line + lineBreaksIn(record.text.slice(0, blank)) };
    line += lineBreaksIn(record.text);
  }
}

function lineBreaksIn(text: string): number {
  return text.split("\n").length - 1;
}

/** Why the record cannot be sent as a line: it would be skipped as blank, or `[` would start an array. */
function problemOf({ text, problem }: JsonRecord): string | undefined {
  return problem ?? (text.trimStart().startsWith("{") ? undefined : "is not a JSON object");
}

async function send(run: Run, batch: readonly Placed[]): Promise<void> {
  // What a dry run refused is not known to the service.
  const maxRefused = run.maxRefused - (run.isDryRun ? run.result.refusedCount : 0);
  if (batch.length === 0 || run.result.stopped) return;
  if (maxRefused <= 0) {
    run.result = { ...run.result, stopped: true };
    return;
  }
  // Valid JSON has line breaks only between its tokens, so each record can become one line.
  const lines = batch.map((record) =>
    problemOf(record) === undefined ? record.text.replace(/[\r\n]+/g, " ") : REFUSED_LINE,
  );
  const query = { ...run.import, from: String(run.sent), "max-refused": String(maxRefused) };
  const posted = postWithRetries(run.session, query, lines.join("\n"), () => {
    run.isUncertain = true;
  });
  if (batch.length > MIN_HALVED_ORDERS && (await exceedsLimits(posted))) return sendHalves(run, batch);
  const text = await answerOf(run.session.access, posted);
  run.isUncertain = false;
  run.sent += batch.length;
  const answer = parseAnswer(resultShape, text);
  const refused = answer.refused.flatMap(({ line, reason }) => {
    const record = batch[line - 1];
    return record === undefined ? [] : [refusal(run, record, reason)];
  });
  run.result = withAnswer(run.result, { ...answer, refused }, run.isDryRun);
}

/** With 10 ms of CPU time for a request, as on Cloudflare's free plan, the size of a request must be found. */
async function sendHalves(run: Run, batch: readonly Placed[]): Promise<void> {
  const half = Math.ceil(batch.length / 2);
  run.ordersPerRequest = Math.min(run.ordersPerRequest, half);
  await send(run, batch.slice(0, half));
  await send(run, batch.slice(half));
}

/** A lost connection is reported by who reads the answer. */
function exceedsLimits(posted: Promise<Response>): Promise<boolean> {
  return posted.then(isOverWorkerLimits).catch(() => false);
}

function refusal({ elementLines }: Run, record: Placed, reason: string): RefusedLine {
  if (record.line !== undefined) elementLines.set(record.number, record.line);
  return { line: record.number, reason: problemOf(record) ?? reason };
}

function countsOf(result: ImportResult) {
  return { loaded: result.inserted + result.updated + result.unchanged, refused: result.refusedCount };
}

/** On a terminal a bar; otherwise a line every few seconds. */
function startProgress(size: number, verb: string, stream: Writable): SingleBar {
  const bar = new SingleBar({
    format:
      size > 0
        ? `{bar} {percentage} % | {loaded} ${verb}, {refused} refused`
        : `{loaded} ${verb}, {refused} refused`,
    barCompleteChar: "█",
    barIncompleteChar: "░",
    stream,
    noTTYOutput: true,
    notTTYSchedule: 2_000,
    hideCursor: true,
  });
  bar.start(size, 0, { loaded: 0, refused: 0 });
  return bar;
}
