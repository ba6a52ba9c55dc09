/** `orders export` prints every order with every member, in the forms that `orders load` reads. */
import { once } from "node:events";
import type { Command } from "commander";
import { ORDER_MEMBERS } from "../../worker/admin/orders/loaded-order.ts";
import { type CsvCell, toCsv } from "../../worker/text/csv.ts";
import { call } from "../api.ts";
import { MAX_PAGE_ROWS } from "../lists.ts";
import { toJson } from "../output.ts";
import { addCommand, type Session } from "../session.ts";

type Order = Readonly<Record<string, Exclude<CsvCell, undefined> | boolean>>;
type OrderPage = { readonly orders: readonly Order[]; readonly next: string | null };

export function addExport(orders: Command, session: Session): void {
  const does = "Print all orders with their status as NDJSON or CSV, which `orders load` reads.";
  addCommand(orders, "export", does, "orders export > orders.ndjson", "orders export --csv > orders.csv")
    .option("--csv", "print CSV", false)
    .action(({ csv }: { readonly csv: boolean }) => exportOrders(session, csv));
}

/** Prints all orders, and then their number on standard error. */
async function exportOrders(session: Session, isCsv: boolean): Promise<void> {
  const { stdout, stderr } = session.io;
  const print = async (text: string) => {
    if (!stdout.write(text)) await once(stdout, "drain");
  };
  if (isCsv) await print(toCsv([ORDER_MEMBERS]));
  let exported = 0;
  for (let after: string | null | undefined; after !== null; ) {
    const query = { limit: MAX_PAGE_ROWS, after };
    const { orders, next } = (await call<OrderPage>(session.access, "GET /orders", { query })).body;
    await print(isCsv ? toCsv(orders.map(cellsOf)) : orders.map(lineOf).join(""));
    exported += orders.length;
    after = next;
  }
  stderr.write(`${exported} orders\n`);
}

function cellsOf(order: Order): CsvCell[] {
  return ORDER_MEMBERS.map((name) => order[name]).map((value) =>
    typeof value === "boolean" ? String(value) : value,
  );
}

function lineOf({ version: _, ...order }: Order): string {
  return `${toJson(order)}\n`;
}
