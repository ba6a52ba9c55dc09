/** `orders load` and `orders export`: files of orders. A load has its progress on standard error. */
import { once } from "node:events";
import { appendFileSync, createReadStream, rmSync } from "node:fs";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import type { Command } from "commander";
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
import { count } from "../arguments.ts";
import { CliError, type CliIo } from "../io.ts";
import { MAX_PAGE_ROWS } from "../lists.ts";
import { describe, printable, toJson } from "../output.ts";
import { addCommand, groupOf, type Session } from "../session.ts";

type LoadOptions = {
  readonly dryRun: boolean;
  readonly restoreCancelled: boolean;
  readonly batch: number;
};

const MAX_TRIES = 4;
const RETRY_MS = 1_000;
/** The file has the others. */
const REFUSED_SHOWN = 10;

export function addOrderFileCommands(program: Command, session: Session): void {
  const orders = groupOf(program, "orders");
  const loads = "Insert and update orders from a file. FILE.rejected.ndjson gets the lines that are wrong.";
  addCommand(orders, "load", loads, "orders load orders.csv --dry-run", "orders load - < orders.ndjson")
    .argument("<file>", "a JSON array, one JSON object per line, or CSV; `-` reads standard input")
    .option("--dry-run", "only check and count: nothing is stored", false)
    .option("--restore-cancelled", "insert also orders that were cancelled before", false)
    .option("--batch <n>", "orders in one request; 500 fit the CPU time of the free plan", count, 1_000)
    .action((file: string, options: LoadOptions) => loadFile(session, file, options));
  const exports = "Print all orders with their status as NDJSON, which `orders load` reads.";
  addCommand(orders, "export", exports, "orders export > orders.ndjson").action(() => exportOrders(session));
}

/** `-` is standard input. */
async function loadFile(session: Session, file: string, options: LoadOptions): Promise<void> {
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
  session.io.stdout.write(`${session.json ? toJson(figures) : describe(figures)}\n`);
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

/** If only the answer of a batch was lost, sending the batch again changes nothing. */
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

type OrderPage = { readonly orders: readonly { readonly version: number }[]; readonly next: string | null };

/** Prints all orders, and then how many on standard error. */
async function exportOrders({ access, io }: Session): Promise<void> {
  let exported = 0;
  for (let after: string | null | undefined; after !== null; ) {
    const query = { limit: MAX_PAGE_ROWS, after };
    const { orders, next } = (await call<OrderPage>(access, "GET /orders", { query })).body;
    const lines = orders.map(({ version: _, ...order }) => `${toJson(order)}\n`).join("");
    if (!io.stdout.write(lines)) await once(io.stdout, "drain");
    exported += orders.length;
    after = next;
  }
  io.stderr.write(`${exported} orders\n`);
}
