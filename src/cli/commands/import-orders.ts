/** `orders import`: splits a file of orders into requests, with progress on standard error. */
import { createReadStream, statSync } from "node:fs";
import { addAbortSignal, type Readable, type Writable } from "node:stream";
import { SingleBar } from "cli-progress";
import type { ImportResult } from "../../worker/admin/order-import-service.ts";
import { type JsonRecord, splitRecords } from "../../worker/orders/json-records.ts";
import { AdminFailure, postOrders } from "../admin-client.ts";
import type { CliIo } from "../io.ts";
import { answerOf, type Session } from "./session.ts";

/** Five of the Worker's chunks, which stay within the 50 queries per request of Cloudflare's free plan. */
const ORDERS_PER_REQUEST = 5_000;

/** Importing the same file again is harmless: orders are identified by their ids. */
export async function importFile(session: Session, file: string): Promise<ImportResult> {
  const result: ImportResult = { inserted: 0, updated: 0, refusedCount: 0, refused: [] };
  const input = openInput(file, session.io);
  const progress = startProgress(input.size, session.io.stderr);
  try {
    let batch: JsonRecord[] = [];
    for await (const record of splitRecords(input.text)) {
      const problem = record.problem ?? (isObject(record.text) ? undefined : "is not a JSON object");
      if (problem === undefined) batch.push(record);
      else refuse(result, record.number, problem);
      if (batch.length === ORDERS_PER_REQUEST) {
        await send(session, batch, result);
        batch = [];
        progress.update(input.bytesRead(), countsOf(result));
      }
    }
    if (batch.length > 0) await send(session, batch, result);
    progress.update(input.bytesRead(), countsOf(result));
  } finally {
    progress.stop();
  }
  if (result.inserted + result.updated + result.refusedCount === 0) {
    throw new AdminFailure(`${file === "-" ? "Standard input" : file} contains no orders.`);
  }
  result.refused.sort((a, b) => a.line - b.line);
  return result;
}

/** As a line of NDJSON, an empty record would be skipped as blank, and `[` would start an array. */
function isObject(text: string): boolean {
  return text.trimStart().startsWith("{");
}

async function send(session: Session, batch: readonly JsonRecord[], result: ImportResult): Promise<void> {
  // Valid JSON has line breaks only between its tokens, so each record can become one line.
  const ndjson = batch.map(({ text }) => text.replace(/[\r\n]+/g, " ")).join("\n");
  const text = await answerOf(session.access.baseUrl, postOrders(session.access, ndjson));
  // The response type of this route of the admin API.
  const answer = JSON.parse(text) as ImportResult;
  result.inserted += answer.inserted;
  result.updated += answer.updated;
  result.refusedCount += answer.refusedCount;
  for (const { line, reason } of answer.refused) {
    result.refused.push({ line: batch[line - 1]?.number ?? line, reason });
  }
}

function refuse(result: ImportResult, line: number, reason: string): void {
  result.refusedCount++;
  result.refused.push({ line, reason });
}

type Input = { text: AsyncIterable<string>; size: number; bytesRead: () => number };

function openInput(file: string, { stdin, interruption }: CliIo): Input {
  if (file === "-") return decode("Standard input", addAbortSignal(interruption, stdin), 0);
  try {
    const { size } = statSync(file);
    return decode(file, createReadStream(file, { signal: interruption }), size);
  } catch (thrown) {
    throw unreadable(file, thrown);
  }
}

function unreadable(name: string, thrown: unknown): AdminFailure {
  return new AdminFailure(`${name} cannot be read: ${thrown instanceof Error ? thrown.message : thrown}`);
}

function decode(name: string, stream: Readable, size: number): Input {
  let bytesRead = 0;
  async function* chunks() {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of stream) {
        const bytes = typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
        bytesRead += bytes.byteLength;
        yield decoder.decode(bytes, { stream: true });
      }
    } catch (thrown) {
      throw unreadable(name, thrown);
    }
    yield decoder.decode();
  }
  return { text: chunks(), size, bytesRead: () => bytesRead };
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
