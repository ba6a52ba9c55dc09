/** `orders load`: loads a file of orders in batches, with progress on standard error. */
import { appendFileSync, createReadStream, rmSync } from "node:fs";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import type { LoadFigures } from "../../worker/orders/loaded-order.ts";
import {
  type LoadProgress,
  loadedFileName,
  loadInBatches,
  NOTHING_LOADED,
  type RefusedLine,
  readOrders,
} from "../../worker/orders/order-file.ts";
import { call, type Query } from "../api.ts";
import { CliError, type CliIo } from "../io.ts";
import { describe, printable, toJson } from "../output.ts";
import { print, type Session } from "../session.ts";

export type LoadOptions = {
  readonly dryRun: boolean;
  readonly restoreCancelled: boolean;
  readonly batch: number;
};

const MAX_TRIES = 4;
const RETRY_MS = 1_000;
/** The file has the others. */
const REFUSED_SHOWN = 10;

/** `-` is standard input. */
export async function loadFile(session: Session, file: string, options: LoadOptions): Promise<void> {
  const isStdin = file === "-";
  const rejected = `${isStdin ? "stdin" : file}.rejected.ndjson`;
  const query = {
    file: isStdin ? undefined : loadedFileName(basename(file)),
    "dry-run": options.dryRun ? "" : undefined,
    "restore-cancelled": options.restoreCancelled ? "" : undefined,
  };
  const lines = readOrders(textOf(isStdin ? session.io.stdin : createReadStream(file)));
  let progress = NOTHING_LOADED;
  const shown: RefusedLine[] = [];
  try {
    rmSync(rejected, { force: true });
    for await (progress of loadInBatches(lines, (json) => sendBatch(session, query, json), options.batch)) {
      const refused = progress.refusedLines.map((line) => `${toJson(line)}\n`);
      if (refused.length > 0) appendFileSync(rejected, refused.join(""));
      shown.push(...progress.refusedLines.slice(0, REFUSED_SHOWN - shown.length));
      showProgress(session.io, progress);
    }
  } catch (thrown) {
    const isOfFile = thrown instanceof Error && "syscall" in thrown; // it cannot be read or written
    throw isOfFile ? new CliError(`${thrown.message}.`) : thrown;
  }
  const { refusedLines: _, ...figures } = progress;
  print(session, session.json ? toJson(figures) : describe(figures));
  if (figures.read === 0) throw new CliError("The file has no orders.");
  const { stderr } = session.io;
  for (const { line, reason } of shown) stderr.write(printable(`line ${line}: ${reason}\n`));
  if (figures.refused > 0) throw new CliError(`Refused lines: ${figures.refused}, in ${rejected}.`);
}

async function* textOf(stream: Readable): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

/** A terminal shows the last line only. */
function showProgress({ isInteractive, stderr }: CliIo, { refusedLines: _, ...figures }: LoadProgress): void {
  const text = Object.entries(figures).map(([figure, count]) => `${count} ${figure}`);
  stderr.write(isInteractive ? `\r${text.join(", ")}` : `${text.join(", ")}\n`);
}

/** A batch that was stored, and whose answer was lost, changes nothing when it is sent again: it counts as unchanged. */
async function sendBatch({ access }: Session, query: Query, json: string): Promise<LoadFigures> {
  for (let tries = 1; ; tries++) {
    try {
      return (await call<LoadFigures>(access, "PUT /orders", { query, json })).body;
    } catch (thrown) {
      // Without a status the answer was lost.
      const isRepeatable = thrown instanceof CliError && (thrown.status ?? 503) === 503;
      if (!isRepeatable || tries === MAX_TRIES) throw thrown;
      await new Promise((resume) => setTimeout(resume, RETRY_MS * 2 ** (tries - 1)));
    }
  }
}
