/** `orders load` loads a file of orders in batches, and shows progress on standard error. */
import { appendFileSync, rmSync } from "node:fs";
import { basename } from "node:path";
import type { Command } from "commander";
import {
  type LoadProgress,
  loadedFileName,
  loadInBatches,
  NOTHING_LOADED,
  type RefusedLine,
  readOrders,
} from "../../worker/admin/orders/order-file.ts";
import type { LoadFigures } from "../../worker/admin/orders/schema.ts";
import { call, type Query } from "../api.ts";
import { count } from "../arguments.ts";
import { bytesOf, CliError, type CliIo } from "../io.ts";
import { describe, printable, toJson } from "../output.ts";
import { addCommand, groupOf, type Session } from "../session.ts";
import { addExport } from "./export-orders.ts";
import { addShip } from "./ship-orders.ts";

type LoadOptions = {
  readonly dryRun: boolean;
  readonly restoreCancelled: boolean;
  readonly allowBackwards: boolean;
  readonly batch: number;
};

const MAX_TRIES = 4;
const RETRY_MS = 1_000;
/** The terminal shows this many refused lines. The file of refused lines has all. */
const REFUSED_SHOWN = 10;

export function addOrderFileCommands(program: Command, session: Session): void {
  const orders = groupOf(program, "orders");
  const loads = "Insert and update orders from a file. FILE.rejected.ndjson gets the lines that are wrong.";
  addCommand(orders, "load", loads, "orders load orders.csv --dry-run", "orders load - < orders.ndjson")
    .argument("<file>", "a JSON array, one JSON object per line, or CSV; `-` reads standard input")
    .option("--dry-run", "only check and count: nothing is stored", false)
    .option("--restore-cancelled", "insert also orders that were cancelled before", false)
    .option("--allow-backwards", "also set a status back, as from delivered to pending", false)
    .option("--batch <n>", "orders in one request; 500 fit the CPU time of the free plan", count, 1_000)
    .action((file: string, options: LoadOptions) => loadFile(session, file, options));
  addExport(orders, session);
  addShip(orders, session);
}

async function loadFile(session: Session, file: string, options: LoadOptions): Promise<void> {
  const { io } = session;
  // The name of a pipe, such as the shell's `<(…)`, means nothing later.
  const name = /^(-$|\/dev\/|\/proc\/)/.test(file) ? undefined : file;
  const query = {
    file: name && loadedFileName(basename(name)),
    "dry-run": options.dryRun ? "" : undefined,
    "restore-cancelled": options.restoreCancelled ? "" : undefined,
    "allow-backwards": options.allowBackwards ? "" : undefined,
  };
  const lines = readOrders(bytesOf(io, file));
  const rejected = `${name ?? "stdin"}.rejected.ndjson`;
  let isWritable = succeeds(() => rmSync(rejected, { force: true }));
  let progress = NOTHING_LOADED;
  const shown: RefusedLine[] = [];
  for await (progress of loadInBatches(lines, (json) => sendBatch(session, query, json), options.batch)) {
    const text = progress.refusedLines.map((line) => `${toJson(line)}\n`).join("");
    if (text !== "") isWritable &&= succeeds(() => appendFileSync(rejected, text));
    if (!isWritable) io.stderr.write(printable(text));
    shown.push(...progress.refusedLines.slice(0, REFUSED_SHOWN - shown.length));
    showProgress(io, progress);
  }
  const { refusedLines: _, ...figures } = progress;
  session.io.stdout.write(`${session.json ? toJson(figures) : describe(figures)}\n`);
  if (figures.read === 0) throw new CliError("The file has no orders.");
  if (options.dryRun) io.stderr.write("dry run: nothing was stored\n");
  if (figures.refused === 0) return;
  if (!isWritable) throw new CliError(`Refused lines: ${figures.refused}. ${rejected} cannot be written.`);
  for (const { line, reason } of shown) io.stderr.write(printable(`line ${line}: ${reason}\n`));
  throw new CliError(`Refused lines: ${figures.refused}, in ${rejected}.`);
}

/** If the file of refused lines cannot be written, the lines go to the terminal. */
function succeeds(write: () => void): boolean {
  try {
    write();
    return true;
  } catch {
    return false;
  }
}

/** A terminal shows only the last progress line. */
function showProgress({ isInteractive, stderr }: CliIo, { refusedLines: _, ...figures }: LoadProgress): void {
  const text = Object.entries(figures).map(([figure, count]) => `${count} ${figure}`);
  stderr.write(isInteractive ? `\r${text.join(", ")}` : `${text.join(", ")}\n`);
}

/** Sends a batch again after a lost answer. A second load of the same batch changes nothing. */
async function sendBatch({ access }: Session, query: Query, json: string): Promise<LoadFigures> {
  for (let tries = 1; ; tries++) {
    try {
      return (await call<LoadFigures>(access, "PUT /orders", { query, json })).body;
    } catch (thrown) {
      // An error without a status means a lost answer.
      const isRepeatable = thrown instanceof CliError && (thrown.status ?? 503) === 503;
      if (!isRepeatable || tries === MAX_TRIES) throw thrown;
      await new Promise((resume) => setTimeout(resume, RETRY_MS * 2 ** (tries - 1)));
    }
  }
}
