/** `orders export` prints every order with every member, in the forms that `orders load` reads. */
import { once } from "node:events";
import type { Command } from "commander";
import type { Access } from "../access.ts";
import { callCsv, type Query, send } from "../api.ts";
import { MAX_PAGE_ROWS } from "../lists.ts";
import { toJson } from "../output.ts";
import { addCommand, type Connection } from "../session.ts";

type Order = Readonly<Record<string, unknown>>;
type OrderPage = { readonly orders: readonly Order[]; readonly next: string | null };

export function addExport(orders: Command, session: Connection): void {
  const does = "Print all orders with their status as NDJSON or CSV, which `orders load` reads.";
  addCommand(orders, "export", does, "orders export > orders.ndjson", "orders export --csv > orders.csv")
    .option("--csv", "print CSV", false)
    .action(({ csv }: { readonly csv: boolean }) => exportOrders(session, csv));
}

/** Prints all orders, and then their number on standard error. */
async function exportOrders(session: Connection, isCsv: boolean): Promise<void> {
  const { stdout, stderr } = session.io;
  const print = async (text: string) => {
    if (!stdout.write(text)) await once(stdout, "drain");
  };
  const pageAt = isCsv ? csvPageAt : linesAt;
  let exported = 0;
  for (let after: string | null | undefined; after !== null; ) {
    const page = await pageAt(session.access, { limit: MAX_PAGE_ROWS, after });
    await print(page.lines.join(""));
    exported += page.orders;
    after = page.next;
  }
  stderr.write(`${exported} orders\n`);
}

type Page = { readonly lines: readonly string[]; readonly orders: number; readonly next: string | null };

/** No cell of an order has a line end. Only the first page keeps the names of the columns. */
async function csvPageAt(access: Access, query: Query): Promise<Page> {
  const { text, next = null } = await callCsv(access, "GET /orders", query);
  const [head = "", ...rows] = text.match(/.*\r\n/g) ?? [];
  return { lines: query.after === undefined ? [head, ...rows] : rows, orders: rows.length, next };
}

async function linesAt(access: Access, query: Query): Promise<Page> {
  const { orders, next } = (await send<OrderPage>(access, "GET /orders", { query })).body;
  return { lines: orders.map(lineOf), orders: orders.length, next };
}

function lineOf({ version: _, ...order }: Order): string {
  return `${toJson(order)}\n`;
}
