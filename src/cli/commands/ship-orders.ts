/** `orders ship` ships orders by their ids, in batches. */
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { type CheckedFile, checkFile } from "../../worker/admin/orders/file/check.ts";
import { type RefusedLine, readOrders } from "../../worker/admin/orders/file/read.ts";
import type { Shipment } from "../../worker/admin/orders/schema.ts";
import { MAX_ORDERS_PER_SHIPMENT } from "../../worker/db/values.ts";
import { isInt64 } from "../../worker/text/int64.ts";
import { send } from "../api.ts";
import { bytesTwice, CliError, type CliIo } from "../io.ts";
import { addCommand, type Connection, show } from "../session.ts";

type Options = { readonly file?: string; readonly allowRounded: boolean };

export function addShip(orders: Command, session: Connection): void {
  const does = "Ship pending and processing orders. Other orders stay as they are.";
  addCommand(orders, "ship", does, "orders ship 5 6 7", "orders ship --file ids.txt")
    .argument("[orders...]", "the ids of the orders")
    .option(
      "--file <file>",
      "also the orders of a file as `orders load` reads it, or of one id a line; `-` reads standard input",
    )
    .option("--allow-rounded", "also ship ids that a program may have rounded", false)
    .action((ids: readonly string[], options: Options) => ship(session, ids, options));
}

export const NO_LIMITS = {
  orders: Number.POSITIVE_INFINITY,
  refused: Number.POSITIVE_INFINITY,
  refusedChars: 0,
};
/** The terminal shows this many refused lines. */
export const REFUSED_SHOWN = 10;

export function refusedSays({ line, reason }: RefusedLine): string {
  return `line ${line}: ${reason}`;
}

/** The error of a file of which nothing is sent. */
export function wrongFile(
  nothing: string,
  { kind, reason }: Exclude<CheckedFile, { kind: "ready" }>,
): CliError {
  const way = " Make the file again with ids as text. If the numbers are right: --allow-rounded.";
  return new CliError(`${nothing} ${reason}${kind === "rounded" ? way : ""}`);
}

/** All lines are read before the first order is shipped. */
async function idsIn(io: CliIo, file: string, allowsRounded: boolean): Promise<string[]> {
  const bytes = await bytesTwice(io, file);
  const limits = { ...NO_LIMITS, refusedChars: Number.POSITIVE_INFINITY };
  const checked = await checkFile(readOrders(bytes(), true), limits, allowsRounded);
  if (checked.kind !== "ready") throw wrongFile("Nothing was shipped.", checked);
  if (checked.refused > 0) {
    const lines = checked.refusedLines.slice(0, REFUSED_SHOWN).map(refusedSays);
    throw new CliError(`Nothing was shipped. Wrong lines: ${checked.refused}\n${lines.join("\n")}`);
  }
  const read = await Array.fromAsync(readOrders(bytes(), true));
  return read.flatMap((each) => ("order" in each ? [each.order.id] : []));
}

async function ship(
  session: Connection,
  typed: readonly string[],
  { file, allowRounded }: Options,
): Promise<void> {
  const read = file === undefined ? [] : await idsIn(session.io, file, allowRounded);
  const ids = [...typed, ...read];
  if (ids.length === 0) throw new CliError("Give the ids of orders, or --file.", { exitCode: 2 });
  const wrong = ids.filter((id) => !isInt64(id));
  if (wrong.length > 0) throw new CliError(`Nothing was shipped: ${wrong[0]} is no id of an order.`);
  let missing = 0;
  const shipment = randomUUID();
  for (let start = 0; start < ids.length; start += MAX_ORDERS_PER_SHIPMENT) {
    const json = { ids: ids.slice(start, start + MAX_ORDERS_PER_SHIPMENT), shipment };
    const answer = await send<Shipment>(session.access, "POST /orders/ship", { json });
    show(session, answer, () => answer.body.says);
    missing += answer.body.missing.length;
  }
  if (missing > 0) throw new CliError(`No order has ${missing} of the ids.`);
}
