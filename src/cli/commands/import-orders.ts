/** `orders import`: sends a file of orders in several requests, with progress on standard error. */
import { randomUUID } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { SingleBar } from "cli-progress";
import {
  adviceToRepeat,
  type ImportResult,
  importedFileName,
  NOTHING_IMPORTED,
  REFUSED_LINE,
  withAnswer,
} from "../../worker/orders/import-requests.ts";
import { type JsonRecord, splitRecords } from "../../worker/orders/json-records.ts";
import { postOrders } from "../admin-client.ts";
import { CliError } from "../io.ts";
import { describe, parseJson } from "../output.ts";
import { print, type Session } from "../session.ts";

export type ImportOptions = {
  readonly dryRun: boolean;
  readonly restoreCancelled: boolean;
  readonly batchSize: number;
};

/** More lines would scroll the counts off the screen. */
const MAX_REFUSALS_SHOWN = 50;

export async function importFile(session: Session, file: string, options: ImportOptions): Promise<void> {
  const result = await send(session, file, options);
  const { refused, refusedCount, stopped } = result;
  if (session.json) print(session, JSON.stringify(result));
  else print(session, [describeCounts(result), ...describeRefused(result)].join("\n"));
  if (stopped) throw new CliError(`The import stopped. Refused lines: ${refusedCount}.`);
  if (refused.length > 0) throw new CliError(`Refused lines: ${refusedCount}.`);
}

/** All requests of a file are one import. */
async function send(session: Session, file: string, options: ImportOptions): Promise<ImportResult> {
  const { batchSize, dryRun, restoreCancelled } = options;
  const name = importedFileName(basename(file));
  const query = {
    import: `imp_${randomUUID()}`,
    ...(file === "-" || name === "" ? {} : { file: name }),
    ...(dryRun ? { "dry-run": "" } : {}),
    ...(restoreCancelled ? { "restore-cancelled": "" } : {}),
  };
  const { text, size, bytesRead } = openInput(file, session);
  const progress = startProgress(size, session);
  let result = NOTHING_IMPORTED;
  let sent = 0;
  try {
    for await (const batch of batches(splitRecords(text), batchSize)) {
      const part = { ...query, from: String(sent) };
      result = withAnswer(result, await sendBatch(session, part, batch), dryRun);
      sent += batch.length;
      progress.update(bytesRead(), countsOf(result));
      if (result.stopped) break;
    }
  } catch (thrown) {
    throw dryRun ? thrown : withCounts(thrown, result, restoreCancelled);
  } finally {
    progress.stop();
  }
  if (sent === 0) throw new CliError("The input contains no orders.");
  return result;
}

function openInput(file: string, { io }: Session) {
  const { size, stream } = file === "-" ? { size: 0, stream: io.stdin } : openFile(file);
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  return { size, bytesRead: () => bytes, text: decoded(stream) };
}

function openFile(file: string): { size: number; stream: Readable } {
  try {
    return { size: statSync(file).size, stream: createReadStream(file) };
  } catch (thrown) {
    throw unreadable(thrown);
  }
}

async function* decoded(stream: Readable): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  try {
    for await (const chunk of stream) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (thrown) {
    throw unreadable(thrown);
  }
}

function unreadable(thrown: unknown): CliError {
  return new CliError(`The file cannot be read: ${thrown instanceof Error ? thrown.message : thrown}.`);
}

async function* batches<Item>(items: AsyncIterable<Item>, size: number): AsyncGenerator<Item[], void> {
  let batch: Item[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function sendBatch(
  { access }: Session,
  query: Readonly<Record<string, string>>,
  batch: readonly JsonRecord[],
): Promise<ImportResult> {
  const response = await postOrders(access, query, batch.map(lineOf).join("\n"));
  const answer = parseJson(await response.text()) as ImportResult; // as the route answers
  const refused = answer.refused.map(({ line, reason }) => {
    const record = batch[line - 1];
    return { line: record?.number ?? line, reason: record?.problem ?? reason };
  });
  return { ...answer, refused };
}

/** Valid JSON has line breaks only between its tokens, so a record can become one line. What begins with `[` would be an array. */
function lineOf({ text, problem }: JsonRecord): string {
  const isObject = problem === undefined && text.trimStart().startsWith("{");
  return isObject ? text.replace(/[\r\n]+/g, " ") : REFUSED_LINE;
}

/** After a failure the operator needs to know what was stored. */
function withCounts(thrown: unknown, result: ImportResult, restoreCancelled: boolean): unknown {
  if (!(thrown instanceof CliError)) return thrown;
  const { loaded } = countsOf(result);
  const before = loaded > 0 ? ` ${loaded} orders were stored before.` : "";
  return new CliError(`${thrown.message}${before} ${adviceToRepeat(restoreCancelled)}`);
}

function countsOf({ inserted, updated, unchanged, refusedCount }: ImportResult) {
  return { loaded: inserted + updated + unchanged, refused: refusedCount };
}

/** On a terminal a bar; otherwise a line every few seconds. */
function startProgress(size: number, { io }: Session): SingleBar {
  const counts = "{loaded} loaded, {refused} refused";
  const bar = new SingleBar({
    format: size > 0 ? `{bar} {percentage} % | ${counts}` : counts,
    barCompleteChar: "█",
    barIncompleteChar: "░",
    stream: io.stderr,
    noTTYOutput: true,
    notTTYSchedule: 2_000,
    gracefulExit: false,
  });
  bar.start(size, 0, { loaded: 0, refused: 0 });
  return bar;
}

function describeCounts({ refused: _, refusedCount, stopped: __, ...result }: ImportResult): string {
  return describe({
    ...result,
    import: result.import ?? "a dry run: nothing was stored",
    refused: refusedCount,
  });
}

/** A place is a line of the file, or an element of its array. */
function describeRefused({ refused, refusedCount }: ImportResult): string[] {
  const lines = refused.slice(0, MAX_REFUSALS_SHOWN).map(({ line, reason }) => `  ${line}: ${reason}`);
  const rest = refusedCount - lines.length;
  return [
    ...(lines.length > 0 ? ["Refused, by line of the file or element of its array:"] : []),
    ...lines,
    ...(rest > 0 ? [`  and ${rest} more; --json lists them`] : []),
  ];
}
