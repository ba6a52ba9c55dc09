/** `orders …` and `audit`. */
import type { Command } from "commander";
import { importFile } from "./import-orders.ts";
import { facts, table } from "./print.ts";
import { type Session, show } from "./session.ts";

type Cancelled = {
  cancelled: {
    id: number | string;
    petId: number | string | null;
    quantity: number | string | null;
    cancelledAt: string;
    cancelledBy: string;
  }[];
};

export function addOrderCommands(program: Command, session: () => Session): void {
  const orders = program.command("orders").description("load orders, ship them, see what was cancelled");

  orders
    .command("import <file>")
    .description("load orders from a JSON array or NDJSON; `-` reads standard input")
    .action(async (file: string) => {
      const result = await importFile(session(), file);
      if (session().json) console.log(JSON.stringify(result));
      else {
        console.log(
          facts([
            ["inserted", result.inserted],
            ["updated", result.updated],
            ["refused", result.refusedCount],
          ]),
        );
        for (const { line, reason } of result.refused) console.log(`  line ${line}: ${reason}`);
      }
      if (result.refusedCount > 0) process.exitCode = 1;
    });

  orders
    .command("ship <id>")
    .description("mark an order as shipped: it can no longer be cancelled")
    .action((orderId: string) =>
      show(
        session(),
        session().client.orders[":orderId"].$patch({ param: { orderId }, json: { status: "shipped" } }),
        // SQLite writes this body, so that its type is not known to the typed client.
        (order) => facts(Object.entries(order as Record<string, string | number | null>)),
      ),
    );

  orders
    .command("cancelled")
    .description("what was cancelled, by which key, newest first")
    .option("--limit <n>", "how many at most", "100")
    .action((query: { limit: string }) =>
      show(session(), session().client.orders.cancelled.$get({ query }), (body) =>
        table(
          ["order", "pet", "quantity", "cancelled", "by"],
          // As above.
          (body as Cancelled).cancelled.map((order) => [
            order.id,
            order.petId,
            order.quantity,
            order.cancelledAt,
            order.cancelledBy,
          ]),
        ),
      ),
    );
}

export function addAuditCommand(program: Command, session: () => Session): void {
  program
    .command("audit")
    .description("every change that an operator made, newest first")
    .option("--limit <n>", "how many at most", "50")
    .option("--object <id>", "of this key, plan or order only")
    .action((query: { limit: string; object?: string }) =>
      show(session(), session().client.audit.$get({ query }), ({ audit }) =>
        table(
          ["when", "who", "call", "object", "before", "after"],
          audit.map((row) => [
            row.at,
            row.actor,
            row.call,
            row.object,
            describeChange(row.before),
            describeChange(row.after),
          ]),
        ),
      ),
    );
}

function describeChange(value: unknown): string | null {
  if (value === null || typeof value !== "object") return null;
  return Object.entries(value)
    .map(([field, held]) => `${field}: ${typeof held === "string" ? held : JSON.stringify(held)}`)
    .join("\n");
}
