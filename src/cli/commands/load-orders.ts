/** `orders load` loads a file of orders in batches, and shows progress on standard error. */
import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import type { Command } from "commander";
import { checkFile } from "../../worker/admin/orders/file/check.ts";
import {
  type LoadProgress,
  loadedFileName,
  loadInBatches,
  NOTHING_LOADED,
} from "../../worker/admin/orders/file/load.ts";
import { readOrders } from "../../worker/admin/orders/file/read.ts";
import type { LoadFigures } from "../../worker/admin/orders/schema.ts";
import { send } from "../api.ts";
import { parseCount } from "../arguments.ts";
import { bytesTwice, CliError, type CliIo, isPipe } from "../io.ts";
import { describe, printable, toJson } from "../output.ts";
import { addCommand, type Connection, groupOf } from "../session.ts";

type LoadOptions = {
  readonly dryRun: boolean;
  readonly restoreCancelled: boolean;
  readonly allowBackwards: boolean;
  readonly allowRounded: boolean;
  readonly batch: number;
};

const MAX_TRIES = 4;
const RETRY_MS = 1_000;
const NO_LIMITS = {
  orders: Number.POSITIVE_INFINITY,
  refused: Number.POSITIVE_INFINITY,
  refusedChars: Number.POSITIVE_INFINITY,
};
const IS_ROUNDED = " Make the file again with ids as text. If the numbers are right: --allow-rounded.";

export function addLoadCommand(program: Command, session: Connection): void {
  const orders = groupOf(program, "orders");
  const loads = "Insert and update orders from a file. Standard error has the lines that are wrong.";
  addCommand(orders, "load", loads, "orders load orders.csv --dry-run", "orders load - < orders.ndjson")
    .argument("<file>", "a JSON array, one JSON object a line, or CSV; `-` reads standard input")
    .option("--dry-run", "only check and count: nothing is stored", false)
    .option("--restore-cancelled", "insert also orders that were cancelled before", false)
    .option("--allow-backwards", "also set a status back, as from delivered to pending", false)
    .option("--allow-rounded", "also load numbers that a program may have rounded", false)
    .option("--batch <n>", "orders in one request; 500 fit the CPU time of the free plan", parseCount, 1_000)
    .action((file: string, options: LoadOptions) => loadFile(session, file, options));
}

async function loadFile(session: Connection, file: string, options: LoadOptions): Promise<void> {
  const { io } = session;
  const name = isPipe(file) ? undefined : file;
  const query = {
    file: name && loadedFileName(basename(name)),
    "dry-run": options.dryRun ? "" : undefined,
    "restore-cancelled": options.restoreCancelled ? "" : undefined,
    "allow-backwards": options.allowBackwards ? "" : undefined,
    load: randomUUID(),
  };
  const bytes = await bytesTwice(io, file);
  const checked = await checkFile(readOrders(bytes()), NO_LIMITS, options.allowRounded);
  if (checked.kind !== "ready")
    throw new CliError(
      `Nothing was loaded. ${checked.reason}${checked.kind === "rounded" ? IS_ROUNDED : ""}`,
    );
  for (const { line, reason } of checked.refusedLines)
    io.stderr.write(printable(`line ${line}: ${reason}\n`));
  let progress = NOTHING_LOADED;
  const sendBatch = (json: string) =>
    untilAnswered(() => send<LoadFigures>(session.access, "PUT /orders", { query, json }));
  for await (progress of loadInBatches(readOrders(bytes()), sendBatch, options.batch))
    showProgress(io, progress);
  const { notes } = checked;
  const text = session.json ? toJson({ ...progress, notes }) : [describe(progress), ...notes].join("\n");
  session.io.stdout.write(`${text}\n`);
  if (progress.read === 0) throw new CliError("The file has no orders.");
  if (options.dryRun) io.stderr.write("dry run: nothing was stored\n");
  if (progress.refused > 0) throw new CliError(`Refused lines: ${progress.refused}.`);
}

/** A terminal shows only the last progress line. */
function showProgress({ isInteractive, stderr }: CliIo, progress: LoadProgress): void {
  const text = Object.entries(progress).map(([figure, count]) => `${count} ${figure}`);
  stderr.write(isInteractive ? `\r${text.join(", ")}` : `${text.join(", ")}\n`);
}

/** Sends a request again after a lost answer. A second load of the same batch changes nothing. */
async function untilAnswered<Body>(send: () => Promise<{ readonly body: Body }>): Promise<Body> {
  for (let tries = 1; ; tries++) {
    try {
      return (await send()).body;
    } catch (thrown) {
      // An error without a status means a lost answer.
      const isRepeatable = thrown instanceof CliError && (thrown.status ?? 503) === 503;
      if (!isRepeatable || tries === MAX_TRIES) throw thrown;
      await new Promise((resume) => setTimeout(resume, RETRY_MS * 2 ** (tries - 1)));
    }
  }
}
