/** `orders ship` ships orders by their ids, in batches. */
import type { Command } from "commander";
import { readIds } from "../../worker/admin/orders/file/text.ts";
import { missingSays, shippedSays } from "../../worker/admin/orders/says.ts";
import type { Shipment } from "../../worker/admin/orders/schema.ts";
import { MAX_ORDERS_PER_SHIPMENT } from "../../worker/db/values.ts";
import { isInt64 } from "../../worker/text/int64.ts";
import { call } from "../api.ts";
import { bytesOf, CliError } from "../io.ts";
import { addCommand, type Session, show } from "../session.ts";

export function addShip(orders: Command, session: Session): void {
  const does = "Ship pending and processing orders. Other orders stay as they are.";
  addCommand(orders, "ship", does, "orders ship 5 6 7", "orders ship --file ids.txt")
    .argument("[orders...]", "the ids of the orders")
    .option("--file <file>", "also the ids of a file, one a line; `-` reads standard input")
    .action((ids: readonly string[], { file }: { readonly file?: string }) => ship(session, ids, file));
}

async function ship(session: Session, typed: readonly string[], file: string | undefined): Promise<void> {
  const read = file === undefined ? [] : await Array.fromAsync(readIds(bytesOf(session.io, file)));
  const ids = [...typed, ...read];
  if (ids.length === 0) throw new CliError("Give the ids of orders, or --file.", { exitCode: 2 });
  const wrong = ids.filter((id) => !isInt64(id));
  if (wrong.length > 0) throw new CliError(`Nothing was shipped: ${wrong[0]} is no id of an order.`);
  const missing: string[] = [];
  for (let start = 0; start < ids.length; start += MAX_ORDERS_PER_SHIPMENT) {
    const json = { ids: ids.slice(start, start + MAX_ORDERS_PER_SHIPMENT) };
    const answer = await call<Shipment>(session.access, "POST /orders/ship", { json });
    show(session, answer, () => shippedSays(answer.body));
    missing.push(...answer.body.missing);
  }
  if (missing.length > 0) throw new CliError(missingSays(missing));
}
