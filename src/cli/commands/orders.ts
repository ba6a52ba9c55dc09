/** `orders …`: loading, listing, changing and deleting orders. */
import { once } from "node:events";
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { ORDER_STATUSES } from "../../worker/db/values.ts";
import { MAX_ORDERS_PER_LOAD } from "../../worker/orders/loaded-order.ts";
import { confirm, count, given, id, int64, YES } from "../arguments.ts";
import { describe, toJson } from "../output.ts";
import { bodyOf, type Column, MAX_PAGE_ROWS, note, type Session, show, showList, typed } from "../session.ts";
import { type LoadOptions, loadFile } from "./load-orders.ts";

type OrderStatus = (typeof ORDER_STATUSES)[number];
type Int64 = number | bigint;
type Order = {
  readonly id: Int64;
  readonly status: string;
  readonly petId: Int64 | null;
  readonly quantity: Int64 | null;
  readonly shipDate: string | null;
  readonly complete: boolean | null;
  readonly version: number;
};
type CancelledOrder = {
  readonly id: Int64;
  readonly petId: Int64 | null;
  readonly quantity: Int64 | null;
  readonly cancelledAt: string;
  readonly cancelledBy: string;
};
type Range = { limit: number; after?: string };

const ORDER_COLUMNS: readonly Column<Order>[] = [
  ["id", "order", (order) => order.id],
  ["status", "status", (order) => order.status],
  ["petId", "pet", (order) => order.petId],
  ["quantity", "quantity", (order) => order.quantity],
  ["shipDate", "ship date", (order) => order.shipDate],
  ["complete", "complete", (order) => (order.complete === null ? null : String(order.complete))],
];

const CANCELLED_COLUMNS: readonly Column<CancelledOrder>[] = [
  ["id", "order", (order) => order.id],
  ["petId", "pet", (order) => order.petId],
  ["quantity", "quantity", (order) => order.quantity],
  ["cancelledAt", "cancelled", (order) => order.cancelledAt],
  ["cancelledBy", "by", (order) => order.cancelledBy],
];

export function addOrderCommands(program: Command, session: () => Session): void {
  const orders = program.command("orders").description("load, list, change and delete orders");
  addLoad(orders, session);
  addLists(orders, session);
  addChanges(orders, session);
}

function addLoad(orders: Command, session: () => Session): void {
  orders
    .command("load")
    .argument("<file>", "a JSON array, one JSON object per line, or CSV; `-` reads standard input")
    .description("insert and update orders from a file; FILE.rejected.ndjson gets the lines that are wrong")
    .option("--dry-run", "only check and count: nothing is stored", false)
    .option("--restore-cancelled", "insert also orders that were cancelled before", false)
    .option(
      "--batch <n>",
      "orders in one request; 500 fit the 10 ms of CPU time of Cloudflare's free plan",
      batchSize,
      1_000,
    )
    .action((file: string, options: LoadOptions) => loadFile(session(), file, options));
}

function batchSize(text: string): number {
  if (count(text) <= MAX_ORDERS_PER_LOAD) return count(text);
  throw new InvalidArgumentError(`Use a number up to ${MAX_ORDERS_PER_LOAD}.`);
}

function addLists(orders: Command, session: () => Session): void {
  orders
    .command("list")
    .description("orders with their status, by id")
    .addOption(new Option("--status <status>").choices(ORDER_STATUSES))
    .option("--pet <id>", "only the orders of this pet", int64)
    .option("--limit <n>", "the maximum number of orders to show", count, 100)
    .option("--after <id>", "start after this order", int64)
    .action(({ limit, after, status, pet }: Range & { status?: OrderStatus; pet?: string }) =>
      showList(session(), {
        name: "orders",
        columns: ORDER_COLUMNS,
        range: { limit, ...given({ after }) },
        fetchPage: (range) => fetchOrders(session(), { ...given({ status, petId: pet }), ...range }),
      }),
    );

  orders
    .command("export")
    .description("all orders with their status as NDJSON, which `orders load` reads")
    .action(() => exportOrders(session()));

  orders
    .command("cancelled")
    .description("the cancelled orders, each with the key that cancelled it, newest first")
    .option("--limit <n>", "the maximum number of orders to show", count, 100)
    .option("--after <next>", "go on after a list that ended with `More:`")
    .action((range: Range) =>
      showList(session(), {
        name: "cancelled",
        columns: CANCELLED_COLUMNS,
        range,
        fetchPage: ({ limit, after: before }) =>
          bodyOf(
            typed<{ cancelled: CancelledOrder[]; next: number | null }>(
              session().client.orders.cancelled.$get({ query: { limit, ...given({ before }) } }),
            ),
          ),
      }),
    );
}

type OrderQuery = { status?: OrderStatus; petId?: string; limit: string; after?: string };
type OrderPage = { readonly orders: readonly Order[]; readonly next: string | null };

function fetchOrders({ client }: Session, query: OrderQuery): Promise<OrderPage> {
  return bodyOf(typed<OrderPage>(client.orders.$get({ query })));
}

/** Prints all orders, and then how many on standard error. */
async function exportOrders(session: Session): Promise<void> {
  const { stdout } = session.io;
  let exported = 0;
  for (let after: string | null | undefined; after !== null; ) {
    const page = await fetchOrders(session, { limit: String(MAX_PAGE_ROWS), ...given({ after }) });
    const lines = page.orders.map(({ version: _, ...order }) => `${toJson(order)}\n`).join("");
    if (!stdout.write(lines)) await once(stdout, "drain");
    exported += page.orders.length;
    after = page.next;
  }
  note(session, `${exported} orders`);
}

function addChanges(orders: Command, session: () => Session): void {
  const order = (orderId: string) => session().client.orders[":orderId"].$get({ param: { orderId } });

  orders
    .command("show")
    .argument("<id>", "the order", id)
    .description("one order, with its status")
    .action((orderId: string) => show(session(), typed<Order>(order(orderId))));

  orders
    .command("ship")
    .argument("<id>", "the order", id)
    .description("mark an order as shipped: it can no longer be cancelled")
    .action((orderId: string) => setStatus(session(), orderId, { status: "shipped" }));

  orders
    .command("set-status")
    .argument("<id>", "the order", id)
    .addArgument(new Argument("<status>", "the new status").choices(ORDER_STATUSES))
    .description("change the status of an order")
    .option("--allow-backwards", "also to an earlier status, as from delivered to pending", false)
    .action((orderId: string, status: OrderStatus, { allowBackwards }: { allowBackwards: boolean }) =>
      setStatus(session(), orderId, { status, allowBackwards }),
    );

  orders
    .command("delete")
    .argument("<id>", "the order", id)
    .description("delete an order in any status; the audit log keeps it")
    .option(...YES)
    .action(async (orderId: string, options: { yes?: boolean }) => {
      await confirm(session().io, options, async () => {
        const shown = await bodyOf(typed<Order>(order(orderId)));
        return `This deletes the order:\n${describe(shown)}\n`;
      });
      const deleted = session().client.orders[":orderId"].$delete({ param: { orderId } });
      await show(session(), typed<Order>(deleted), (gone) => `${describe(gone)}\n\nDeleted.`);
    });
}

function setStatus(
  session: Session,
  orderId: string,
  json: { status: OrderStatus; allowBackwards?: boolean },
): Promise<void> {
  return show(session, typed<Order>(session.client.orders[":orderId"].$patch({ param: { orderId }, json })));
}
