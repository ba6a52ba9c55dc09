/** Orders, cancelled orders and imports as text. SQLite writes orders as JSON text, so the typed client does not know their type. */
import type { UndoResult } from "../../worker/admin/order-import-undo-service.ts";
import type { ImportView } from "../../worker/db/order-import-view.ts";
import { MAX_LEFT_ALONE_NAMED } from "../../worker/orders/import-limits.ts";
import { shortened } from "../printable.ts";
import type { FileImport } from "./import-orders.ts";
import { facts } from "./print.ts";
import type { List } from "./session.ts";
import type { Column } from "./table.ts";

/** More lines would scroll the counts off the screen. */
const MAX_REFUSALS_SHOWN = 50;
/** A reason repeats names from the file, of any number and length. */
const MAX_NAME_CHARS = 70;
const MAX_REASON_CHARS = 200;

/** Integers above 2^53 are text. */
type Int64 = number | string;

export type OrderPage = {
  orders: {
    id: Int64;
    status: string;
    petId: Int64 | null;
    quantity: Int64 | null;
    shipDate: string | null;
    complete: boolean | null;
  }[];
  next: string | null;
};

const ORDER_COLUMNS: readonly Column[] = [
  { label: "order" },
  { label: "status" },
  { label: "pet", drop: 2 },
  { label: "quantity", drop: 3 },
  { label: "ship date", drop: 1 },
  { label: "complete", drop: 4 },
];

export function listOfOrders({ orders, next }: OrderPage): List {
  return {
    columns: ORDER_COLUMNS,
    rows: orders.map((order) => [
      order.id,
      order.status,
      order.petId,
      order.quantity,
      order.shipDate,
      order.complete === null ? null : String(order.complete),
    ]),
    next: ["--after", next],
  };
}

export function describeOrder(order: unknown): string {
  return facts(Object.entries(order as Record<string, string | number | null>)); // see the file's first line
}

type CancelledPage = {
  cancelled: {
    id: Int64;
    petId: Int64 | null;
    quantity: Int64 | null;
    cancelledAt: string;
    cancelledBy: string;
  }[];
  next: number | null;
};

const CANCELLED_COLUMNS: readonly Column[] = [
  { label: "order" },
  { label: "pet", drop: 1 },
  { label: "quantity", drop: 2 },
  { label: "cancelled" },
  { label: "by", min: 12 },
];

export function listOfCancelled(body: unknown): List {
  const { cancelled, next } = body as CancelledPage; // see the file's first line
  return {
    columns: CANCELLED_COLUMNS,
    rows: cancelled.map((order) => [
      order.id,
      order.petId,
      order.quantity,
      order.cancelledAt,
      order.cancelledBy,
    ]),
    next: ["--after", next],
  };
}

const IMPORT_COLUMNS: readonly Column[] = [
  { label: "started", drop: 2 },
  { label: "import" },
  { label: "file", min: 12, drop: 1 },
  { label: "who", min: 8, drop: 6 },
  { label: "inserted" },
  { label: "updated", drop: 3 },
  { label: "unchanged", drop: 8 },
  { label: "backwards", drop: 7 },
  { label: "refused" },
  { label: "took", drop: 5 },
  { label: "undone", drop: 4 },
];

export function listOfImports({ imports, next }: { imports: ImportView[]; next: number | null }): List {
  return {
    columns: IMPORT_COLUMNS,
    rows: imports.map((each) => [
      each.startedAt,
      each.id,
      each.file,
      each.actor,
      each.inserted,
      each.updated,
      each.unchanged,
      each.backwards,
      each.stopped ? `${each.refused}, stopped` : each.refused,
      `${(each.durationMs / 1000).toFixed(1)} s`,
      each.undone?.at,
    ]),
    next: ["--after", next],
  };
}

export function describeImport(imported: FileImport): string {
  const { result } = imported;
  const counts = facts([
    ["import", result.import ?? "a dry run: nothing was stored"],
    ["inserted", result.inserted],
    ["updated", result.updated],
    ["unchanged", result.unchanged],
    ...(result.backwards === 0 ? [] : [["backwards", backwardsText(result.backwards)] as const]),
    ["refused", result.refusedCount],
  ]);
  return [counts, ...describeRefused(imported), ...(result.stopped ? [describeStop(imported)] : [])].join(
    "\n",
  );
}

function describeRefused(imported: FileImport): string[] {
  const { refused, refusedCount } = imported.result;
  const lines = refused.slice(0, MAX_REFUSALS_SHOWN).map(({ line, reason }) => {
    const withShortNames = reason.replace(/\S+/g, (word) => shortened(word, MAX_NAME_CHARS));
    return `  ${placeOf(line, imported)}: ${shortened(withShortNames, MAX_REASON_CHARS)}`;
  });
  const rest = refusedCount - lines.length;
  return rest > 0 ? [...lines, `  and ${rest} more; --json lists them`] : lines;
}

function describeStop(imported: FileImport): string {
  const { refused, refusedCount } = imported.result;
  const last = refused.at(-1);
  const after = last === undefined ? "" : ` after ${placeOf(last.line, imported)}`;
  return `Stopped, because ${refusedCount} lines are refused (--max-refused): nothing${after} was read.`;
}

function placeOf(line: number, { elementLines }: FileImport): string {
  const lineInFile = elementLines.get(line);
  return lineInFile === undefined ? `line ${line}` : `element ${line}, line ${lineInFile}`;
}

function backwardsText(count: number): string {
  return `${count} of the updated: the status goes back, such as from shipped to pending`;
}

export function describeUndo({ import: { undone }, leftAlone }: UndoResult): string {
  const figures = facts([
    ["deleted", undone?.deleted ?? 0],
    ["set back", undone?.restored ?? 0],
    ["left alone", undone?.leftAlone ?? 0],
  ]);
  if (leftAlone.length === 0) return figures;
  const shown = leftAlone.slice(0, MAX_REFUSALS_SHOWN).map((id) => `  ${id}`);
  const rest = (undone?.leftAlone ?? 0) - shown.length;
  const more = rest > 0 ? [`  and ${rest} more; --json lists up to ${MAX_LEFT_ALONE_NAMED}`] : [];
  return [figures, "Left alone, because they changed or were cancelled since:", ...shown, ...more].join("\n");
}
