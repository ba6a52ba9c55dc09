/** `orders …`: importing, shipping and looking up orders. */
import type { Command } from "commander";
import { ExitCode } from "../io.ts";
import { shortened } from "../printable.ts";
import { digits, idInPath } from "./arguments.ts";
import { type FileImport, importFile } from "./import-orders.ts";
import { facts } from "./print.ts";
import { print, type Session, show, showList } from "./session.ts";
import type { Column } from "./table.ts";

/** More lines would scroll the counts off the screen. */
const MAX_REFUSALS_SHOWN = 50;
/** A reason repeats names from the file, of any number and length. */
const MAX_NAME_CHARS = 60;
const MAX_REASON_CHARS = 200;

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
  const orders = program.command("orders").description("import orders, ship them, list the cancelled ones");

  orders
    .command("import <file>")
    .description("import orders from a JSON array or NDJSON; `-` reads standard input")
    .option("--dry-run", "only check and count: nothing is stored", false)
    .action(async (file: string, { dryRun }: { dryRun: boolean }) => {
      const imported = await importFile(session(), file, dryRun);
      const { result } = imported;
      print(session(), session().json ? JSON.stringify(result) : describeImport(imported));
      if (result.refusedCount > 0) throw new ExitCode(1);
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
    .description("the cancelled orders, each with the key that cancelled it, newest first")
    .option("--limit <n>", "the maximum number of orders to show", digits, "100")
    .option("--before <n>", "start before this one", digits)
    .action((query: { limit: string; before?: string }) =>
      showList(session(), session().client.orders.cancelled.$get({ query }), (body) => {
        // SQLite writes this body as JSON text, so the typed client does not know its type.
        const { cancelled, next } = body as Cancelled;
        return {
          columns: CANCELLED_COLUMNS,
          rows: cancelled.map((order) => [
            order.id,
            order.petId,
            order.quantity,
            order.cancelledAt,
            order.cancelledBy,
          ]),
          next: ["--before", next],
        };
      }),
    );
}

const CANCELLED_COLUMNS: readonly Column[] = [
  { label: "order" },
  { label: "pet", drop: 1 },
  { label: "quantity", drop: 2 },
  { label: "cancelled" },
  { label: "by", min: 12 },
];

function describe(order: unknown): string {
  // SQLite writes this body as JSON text, so the typed client does not know its type.
  return facts(Object.entries(order as Record<string, string | number | null>));
}

function describeImport({ result, elementLines }: FileImport): string {
  const counts = facts([
    ["import", result.import ?? "a dry run: nothing was stored"],
    ["inserted", result.inserted],
    ["updated", result.updated],
    ["unchanged", result.unchanged],
    ["refused", result.refusedCount],
  ]);
  if (result.refusedCount === 0) return counts;
  const lines = result.refused.slice(0, MAX_REFUSALS_SHOWN).map(({ line, reason }) => {
    const lineInFile = elementLines.get(line);
    const place = lineInFile === undefined ? `line ${line}` : `element ${line}, line ${lineInFile}`;
    const withShortNames = reason.replace(/\S+/g, (word) => shortened(word, MAX_NAME_CHARS));
    return `  ${place}: ${shortened(withShortNames, MAX_REASON_CHARS)}`;
  });
  const rest = result.refusedCount - lines.length;
  return [counts, ...lines, ...(rest > 0 ? [`  and ${rest} more; --json lists them`] : [])].join("\n");
}
