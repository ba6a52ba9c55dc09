/** `orders …` and `audit`. */
import type { Command } from "commander";
import type { ImportResult } from "../../worker/admin/routes/order-admin-routes.ts";
import { digits, idInPath } from "./arguments.ts";
import { importFile } from "./import-orders.ts";
import { facts, more, table } from "./print.ts";
import { type Session, show } from "./session.ts";

/** More would scroll away what matters. */
const MOST_REFUSALS_SHOWN = 50;

type Cancelled = {
  cancelled: {
    id: number | string;
    petId: number | string | null;
    quantity: number | string | null;
    cancelledAt: string;
    cancelledBy: string;
  }[];
  next: number | null;
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
        if (result.refusedCount > 0) console.log(refusals(result));
      }
      if (result.refusedCount > 0) process.exitCode = 1;
    });

  orders
    .command("show")
    .argument("<id>", "the order", idInPath)
    .description("one order, with its status")
    .action((orderId: string) =>
      show(session(), session().client.orders[":orderId"].$get({ param: { orderId } }), describe),
    );

  orders
    .command("ship")
    .argument("<id>", "the order", idInPath)
    .description("mark an order as shipped: it can no longer be cancelled")
    .action((orderId: string) =>
      show(
        session(),
        session().client.orders[":orderId"].$patch({ param: { orderId }, json: { status: "shipped" } }),
        describe,
      ),
    );

  orders
    .command("cancelled")
    .description("what was cancelled, by which key, newest first")
    .option("--limit <n>", "how many at most", digits, "100")
    .option("--before <n>", "go on before this one", digits)
    .action((query: { limit: string; before?: string }) =>
      show(session(), session().client.orders.cancelled.$get({ query }), (body) => {
        // As above.
        const { cancelled, next } = body as Cancelled;
        const rows = cancelled.map((order) => [
          order.id,
          order.petId,
          order.quantity,
          order.cancelledAt,
          order.cancelledBy,
        ]);
        return table(["order", "pet", "quantity", "cancelled", "by"], rows) + more("--before", next);
      }),
    );
}

export function addAuditCommand(program: Command, session: () => Session): void {
  program
    .command("audit")
    .description("every change that an operator made, newest first")
    .option("--limit <n>", "how many at most", digits, "50")
    .option("--before <n>", "go on before this one", digits)
    .option("--object <id>", "of this key, plan or order only")
    .action((query: { limit: string; before?: string; object?: string }) =>
      show(session(), session().client.audit.$get({ query }), ({ audit, next }) => {
        const rows = audit.map((row) => [
          row.at,
          row.actor,
          row.call,
          row.object,
          describeChange(row.before),
          describeChange(row.after),
        ]);
        return table(["when", "who", "call", "object", "before", "after"], rows) + more("--before", next);
      }),
    );
}

/** SQLite writes this body, so that its type is not known to the typed client. */
function describe(order: unknown): string {
  return facts(Object.entries(order as Record<string, string | number | null>));
}

function refusals({ refused, refusedCount }: ImportResult): string {
  const lines = refused.slice(0, MOST_REFUSALS_SHOWN).map(({ line, reason }) => `  line ${line}: ${reason}`);
  const rest = refusedCount - lines.length;
  return [...lines, ...(rest > 0 ? [`  and ${rest} more; --json lists them`] : [])].join("\n");
}

function describeChange(value: unknown): string | null {
  if (value === null || typeof value !== "object") return null;
  return Object.entries(value)
    .map(([field, held]) => `${field}: ${typeof held === "string" ? held : JSON.stringify(held)}`)
    .join("\n");
}
