/** `orders …`: loading, listing, changing and deleting orders. */
import { Argument, type Command } from "commander";
import { ORDER_STATUSES } from "../../worker/db/values.ts";
import { call } from "../api.ts";
import { choice, confirm, int64, YES } from "../arguments.ts";
import { describe } from "../output.ts";
import { addCommand, addList, type Session, show } from "../session.ts";
import { addExport } from "./export-orders.ts";
import { addLoad } from "./load-orders.ts";

export function addOrderCommands(program: Command, session: Session): void {
  const orders = program.command("orders").description("load, list, change and delete orders");
  addLoad(orders, session);
  addExport(orders, session);
  addLists(orders, session);
  addChanges(orders, session);
}

function addLists(orders: Command, session: Session): void {
  const columns = ["id", "status", "petId", "quantity", "shipDate", "complete"];
  const list = { path: "/orders", rows: "orders", columns } as const;
  addList(orders, session, "list", "orders with their status, by id", list, "--status pending --pet 7")
    .addOption(choice("--status <status>", ORDER_STATUSES))
    .option("--pet, --pet-id <id>", "only the orders of this pet", int64);

  const does = "the cancelled orders, each with the key that cancelled it, newest first";
  const cancelled = { path: "/orders/cancelled", rows: "cancelled", cursor: "before" } as const;
  const facts = ["id", "petId", "quantity", "cancelledAt", "cancelledBy"];
  addList(orders, session, "cancelled", does, { ...cancelled, columns: facts });
}

function addChanges(orders: Command, session: Session): void {
  const order = (id: string) => call<object>(session.access, `GET /orders/${id}`);
  const update = async (id: string, json: object) =>
    show(session, await call<object>(session.access, `PATCH /orders/${id}`, { json }));
  const add = (verb: string, does: string, example = "5") =>
    addCommand(orders, verb, does, example).argument("<id>", "the order", int64);

  add("show", "one order, with its status").action(async (id: string) => show(session, await order(id)));
  const ships = "mark an order as shipped: it can no longer be cancelled";
  add("ship", ships).action((id: string) => update(id, { status: "shipped" }));
  add("set-status", "change the status of an order", "5 processing")
    .addArgument(new Argument("<status>", "the new status").choices(ORDER_STATUSES))
    .option("--allow-backwards", "also to an earlier status, as from delivered to pending", false)
    .action((id: string, status: string, options: object) => update(id, { status, ...options }));
  add("delete", "delete an order in any status; the audit log keeps it")
    .option(...YES)
    .action(async (id: string, { yes }: { yes?: boolean }) => {
      const question = async () => `This deletes the order:\n${describe((await order(id)).body)}\n`;
      await confirm(session.io, yes, question);
      show(session, await call<object>(session.access, `DELETE /orders/${id}`));
    });
}
