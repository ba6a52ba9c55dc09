/** `orders …`: importing, listing, changing and deleting orders. */
import { Argument, type Command, Option } from "commander";
import { ORDER_STATUSES } from "../../worker/db/values.ts";
import {
  DEFAULT_REFUSED_LINES,
  MAX_ORDERS_PER_REQUEST,
  MAX_REFUSED_LINES,
} from "../../worker/orders/import-limits.ts";
import { AdminFailure } from "../admin-client.ts";
import { ExitCode } from "../io.ts";
import { beforeQuery, digits, idInPath, int64, numberUpTo } from "./arguments.ts";
import { confirm, YES } from "./confirm.ts";
import { type ImportOptions, importFile } from "./import-orders.ts";
import { exportOrders, fetchOrders, type OrderStatus } from "./order-pages.ts";
import {
  cancelledPageShape,
  describeImport,
  describeOrder,
  importPageShape,
  listOfCancelled,
  listOfImports,
  listOfOrders,
  orderPageShape,
  orderShape,
} from "./order-text.ts";
import { bodyOf, print, printList, type Session, show, showList, untyped } from "./session.ts";

export function addOrderCommands(program: Command, session: () => Session): void {
  const orders = program.command("orders").description("import, list, change and delete orders");
  for (const add of [
    addImport,
    addShow,
    addList,
    addExport,
    addShip,
    addSetStatus,
    addDelete,
    addImports,
    addCancelled,
  ]) {
    add(orders, session);
  }
}

/** Some 7 ms, with those of the request itself (docs/deploying.md). */
const FREE_PLAN_ORDERS = 250;

function addImport(orders: Command, session: () => Session): void {
  orders
    .command("import <file>")
    .description("import orders from a JSON array or NDJSON; `-` reads standard input")
    .option("--dry-run", "only check and count: nothing is stored", false)
    .option("--restore-cancelled", "insert also orders that were cancelled before", false)
    .option(
      "--max-refused <n>",
      "stop after so many refused lines",
      numberUpTo(MAX_REFUSED_LINES),
      DEFAULT_REFUSED_LINES,
    )
    .option(
      "--batch-size <n>",
      `orders in one request; ${FREE_PLAN_ORDERS} fit the 10 ms of CPU time of Cloudflare's free plan`,
      numberUpTo(MAX_ORDERS_PER_REQUEST),
      MAX_ORDERS_PER_REQUEST,
    )
    .action(async (file: string, options: ImportOptions) => {
      const imported = await importFile(session(), file, options);
      const { result } = imported;
      print(session(), session().json ? JSON.stringify(result) : describeImport(imported));
      if (result.refusedCount > 0 || result.stopped) throw new ExitCode(1);
    });
}

function addShow(orders: Command, session: () => Session): void {
  orders
    .command("show")
    .argument("<id>", "the order", idInPath)
    .description("one order, with its status")
    .action((orderId: string) =>
      show(
        session(),
        untyped(session().client.orders[":orderId"].$get({ param: { orderId } })),
        orderShape,
        describeOrder,
      ),
    );
}

function addList(orders: Command, session: () => Session): void {
  orders
    .command("list")
    .description("orders with their status, by id")
    .addOption(new Option("--status <status>").choices(ORDER_STATUSES))
    .option("--pet <id>", "only the orders of this pet", int64)
    .option("--limit <n>", "the maximum number of orders to show", digits, "100")
    .option("--after <id>", "start after this order", int64)
    .action(
      async ({ pet, ...query }: { status?: OrderStatus; pet?: string; limit: string; after?: string }) =>
        printList(
          session(),
          await fetchOrders(session(), { ...query, ...(pet === undefined ? {} : { petId: pet }) }),
          orderPageShape,
          listOfOrders,
        ),
    );
}

function addExport(orders: Command, session: () => Session): void {
  orders
    .command("export")
    .description("all orders with their status as NDJSON, which `orders import` reads")
    .action(() => exportOrders(session()));
}

function addShip(orders: Command, session: () => Session): void {
  orders
    .command("ship")
    .argument("<id>", "the order", idInPath)
    .description("mark an order as shipped: it can no longer be cancelled")
    .action((orderId: string) => setStatus(session(), orderId, "shipped", false));
}

function addSetStatus(orders: Command, session: () => Session): void {
  orders
    .command("set-status")
    .argument("<id>", "the order", idInPath)
    .addArgument(new Argument("<status>", "the new status").choices(ORDER_STATUSES))
    .description("change the status of an order")
    .option("--backwards", "also to an earlier status, as from delivered to pending", false)
    .action((orderId: string, status: OrderStatus, { backwards }: { backwards: boolean }) =>
      setStatus(session(), orderId, status, backwards),
    );
}

function addDelete(orders: Command, session: () => Session): void {
  orders
    .command("delete")
    .argument("<id>", "the order", idInPath)
    .description("delete an order in any status; the audit log keeps it")
    .option(...YES)
    .action(async (orderId: string, options: { yes?: boolean }) => {
      const param = { orderId };
      await confirm(session(), options, async () => {
        const order = await bodyOf(
          session().access,
          untyped(session().client.orders[":orderId"].$get({ param })),
          orderShape,
        );
        return `This deletes the order:\n${describeOrder(order)}\n`;
      });
      await show(
        session(),
        untyped(session().client.orders[":orderId"].$delete({ param })),
        orderShape,
        (order) => `${describeOrder(order)}\n\nDeleted.`,
      );
    });
}

function addImports(orders: Command, session: () => Session): void {
  orders
    .command("imports")
    .description("the imports, with their figures, newest first")
    .option("--limit <n>", "the maximum number of imports to show", digits, "100")
    .option("--after <next>", "go on after a list that ended with `More:`", digits)
    .action(({ limit, after }: { limit: string; after?: string }) => {
      const query = { limit, ...beforeQuery(after) };
      return showList(
        session(),
        session().client.orders.imports.$get({ query }),
        importPageShape,
        listOfImports,
      );
    });
}

function addCancelled(orders: Command, session: () => Session): void {
  orders
    .command("cancelled")
    .description("the cancelled orders, each with the key that cancelled it, newest first")
    .option("--limit <n>", "the maximum number of orders to show", digits, "100")
    .option("--after <next>", "go on after a list that ended with `More:`", digits)
    .action(({ limit, after }: { limit: string; after?: string }) => {
      const query = { limit, ...beforeQuery(after) };
      return showList(
        session(),
        untyped(session().client.orders.cancelled.$get({ query })),
        cancelledPageShape,
        listOfCancelled,
      );
    });
}

/** The service names the member of the body that allows it. */
const NEEDS_BACKWARDS = /the body needs "allowBackwards": true/;

async function setStatus(
  session: Session,
  orderId: string,
  status: OrderStatus,
  allowBackwards: boolean,
): Promise<void> {
  const json = allowBackwards ? { status, allowBackwards } : { status };
  const changed = session.client.orders[":orderId"].$patch({ param: { orderId }, json });
  try {
    await show(session, untyped(changed), orderShape, describeOrder);
  } catch (thrown) {
    if (!(thrown instanceof AdminFailure) || !NEEDS_BACKWARDS.test(thrown.message)) throw thrown;
    const command = `use "orders set-status ${orderId} ${status} --backwards"`;
    throw new AdminFailure(thrown.message.replace(NEEDS_BACKWARDS, command), { cause: thrown });
  }
}
