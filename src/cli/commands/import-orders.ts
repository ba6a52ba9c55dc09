/** `orders import`: splits a file of orders into requests, with progress on standard error. */
import type { Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { SingleBar } from "cli-progress";
import type { ImportResult } from "../../worker/admin/order-import-service.ts";
import { type JsonRecord, splitRecords } from "../../worker/orders/json-records.ts";
import { AdminFailure, postOrders } from "../admin-client.ts";
import { openInput } from "./import-input.ts";
import { answerOf, type Session } from "./session.ts";

/** Five of the Worker's chunks, which stay within the 50 queries per request of Cloudflare's free plan. */
const ORDERS_PER_REQUEST = 5_000;

/** For each request of an import, with a pause after a 503 that the service names. */
const MAX_ATTEMPTS = 6;
const DEFAULT_RETRY_SECONDS = 5;
const MAX_RETRY_SECONDS = 30;

export type FileImport = {
  readonly result: ImportResult;
  /** For an array: the line on which each refused element begins. */
  readonly elementLines: ReadonlyMap<number, number>;
};

type Run = {
  readonly session: Session;
  readonly result: ImportResult;
  readonly elementLines: Map<number, number>;
};

/** A record, and for an element of an array the line on which it begins. */
type Placed = JsonRecord & { readonly line: number | undefined };

/** Importing the same file again is harmless: orders are identified by their ids. */
export async function importFile(session: Session, file: string): Promise<FileImport> {
  const result: ImportResult = { inserted: 0, updated: 0, refusedCount: 0, refused: [] };
  const run: Run = { session, result, elementLines: new Map() };
  const input = await openInput(file, session.io);
  const progress = startProgress(input.size, session.io.stderr);
  try {
    let batch: Placed[] = [];
    for await (const record of withLines(splitRecords(input.text), input.arrayLine)) {
      const problem = record.problem ?? (isObject(record.text) ? undefined : "is not a JSON object");
      if (problem === undefined) batch.push(record);
      else refuse(run, record, problem);
      if (batch.length === ORDERS_PER_REQUEST) {
        await send(run, batch);
        batch = [];
        progress.update(input.bytesRead(), countsOf(result));
      }
    }
    if (batch.length > 0) await send(run, batch);
    progress.update(input.bytesRead(), countsOf(result));
  } catch (thrown) {
    throw withCounts(thrown, result);
  } finally {
    progress.stop();
  }
  if (result.inserted + result.updated + result.refusedCount === 0) {
    throw new AdminFailure(`${file === "-" ? "Standard input" : file} contains no orders.`);
  }
  result.refused.sort((a, b) => a.line - b.line);
  return run;
}

/** After a failure the operator needs to know what was stored. */
function withCounts(thrown: unknown, { inserted, updated }: ImportResult): unknown {
  const stored = inserted + updated;
  if (!(thrown instanceof AdminFailure) || stored === 0) return thrown;
  return new AdminFailure(
    `${thrown.message} ${stored} orders were stored before. Importing the whole file again is safe.`,
    { cause: thrown },
  );
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

/** As a line of NDJSON, an empty record would be skipped as blank, and `[` would start an array. */
function isObject(text: string): boolean {
  return text.trimStart().startsWith("{");
}

async function send(run: Run, batch: readonly Placed[]): Promise<void> {
  const { session, result } = run;
  // Valid JSON has line breaks only between its tokens, so each record can become one line.
  const ndjson = batch.map(({ text }) => text.replace(/[\r\n]+/g, " ")).join("\n");
  const text = await answerOf(session.access, postWithRetries(session, ndjson));
  // The response type of this route of the admin API.
  const answer = JSON.parse(text) as ImportResult;
  result.inserted += answer.inserted;
  result.updated += answer.updated;
  result.refusedCount += answer.refusedCount - answer.refused.length;
  for (const { line, reason } of answer.refused) {
    const record = batch[line - 1];
    if (record !== undefined) refuse(run, record, reason);
  }
}

/** Orders that were stored before the 503 are only replaced by themselves. */
async function postWithRetries({ access, io }: Session, ndjson: string): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await postOrders(access, ndjson);
    if (response.status !== 503 || attempt === MAX_ATTEMPTS) return response;
    await response.body?.cancel();
    await setTimeout(retryAfterMs(response), undefined, { signal: io.interruption });
  }
}

function retryAfterMs({ headers }: Response): number {
  const given = headers.get("Retry-After") ?? "";
  const waitSeconds = /^\d+$/.test(given) ? Number(given) : DEFAULT_RETRY_SECONDS;
  return Math.min(waitSeconds, MAX_RETRY_SECONDS) * 1000;
}

function refuse({ result, elementLines }: Run, { number, line }: Placed, reason: string): void {
  result.refusedCount++;
  result.refused.push({ line: number, reason });
  if (line !== undefined) elementLines.set(number, line);
}

function countsOf(result: ImportResult) {
  return { loaded: result.inserted + result.updated, refused: result.refusedCount };
}

/** On a terminal a bar; otherwise a line every few seconds. */
function startProgress(size: number, stream: Writable): SingleBar {
  const bar = new SingleBar({
    format:
      size > 0
        ? "{bar} {percentage} % | {loaded} loaded, {refused} refused"
        : "{loaded} loaded, {refused} refused",
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
