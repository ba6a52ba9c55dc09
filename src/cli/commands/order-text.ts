/** Orders, cancelled orders and imports as text. SQLite writes orders as JSON text, so the typed client does not know their type. */
import * as v from "valibot";
import { shortened } from "../printable.ts";
import { arrayOf, count, int64, int64OrNull, pageOf, textOrNull } from "./answers.ts";
import type { FileImport } from "./import-orders.ts";
import { facts } from "./print.ts";
import type { List } from "./session.ts";
import type { Column } from "./table.ts";

/** More lines would scroll the counts off the screen. */
const MAX_REFUSALS_SHOWN = 50;
/** A reason repeats names from the file, of any number and length. */
const MAX_NAME_CHARS = 70;
const MAX_REASON_CHARS = 200;

export const orderPageShape = v.object({
  orders: arrayOf(
    v.object({
      id: int64,
      status: v.string(),
      petId: int64OrNull,
      quantity: int64OrNull,
      shipDate: textOrNull,
      complete: v.nullable(v.boolean()),
    }),
  ),
  ...pageOf(v.string()),
});

const ORDER_COLUMNS: readonly Column[] = [
  { label: "order" },
  { label: "status" },
  { label: "pet", drop: 2 },
  { label: "quantity", drop: 3 },
  { label: "ship date", drop: 1 },
  { label: "complete", drop: 4 },
];

export function listOfOrders({ orders, next }: v.InferOutput<typeof orderPageShape>): List {
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

/** One order, with all its members. */
export const orderShape = v.objectWithRest(
  { id: int64 },
  v.union([v.string(), int64, v.boolean(), v.null()]),
);

export function describeOrder(order: v.InferOutput<typeof orderShape>): string {
  return facts(
    Object.entries(order).map(([name, value]) => [name, typeof value === "boolean" ? String(value) : value]),
  );
}

export const cancelledPageShape = v.object({
  cancelled: arrayOf(
    v.object({
      id: int64,
      petId: int64OrNull,
      quantity: int64OrNull,
      cancelledAt: v.string(),
      cancelledBy: v.string(),
    }),
  ),
  ...pageOf(count),
});

const CANCELLED_COLUMNS: readonly Column[] = [
  { label: "order" },
  { label: "pet", drop: 1 },
  { label: "quantity", drop: 2 },
  { label: "cancelled" },
  { label: "by", min: 12 },
];

export function listOfCancelled({ cancelled, next }: v.InferOutput<typeof cancelledPageShape>): List {
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
  { label: "cancelled", drop: 7 },
  { label: "reinserted", drop: 7 },
  { label: "backwards", drop: 7 },
  { label: "refused" },
  { label: "took", drop: 5 },
];

export const importPageShape = v.object({
  imports: arrayOf(
    v.object({
      id: v.string(),
      startedAt: v.string(),
      file: textOrNull,
      actor: v.string(),
      inserted: count,
      updated: count,
      unchanged: count,
      cancelled: v.optional(count, 0),
      reinserted: v.optional(count, 0),
      backwards: v.optional(count, 0),
      refused: count,
      stopped: v.optional(v.boolean(), false),
      durationMs: count,
    }),
  ),
  ...pageOf(count),
});

export function listOfImports({ imports, next }: v.InferOutput<typeof importPageShape>): List {
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
      each.cancelled,
      each.reinserted,
      each.backwards,
      each.stopped ? `${each.refused}, stopped` : each.refused,
      `${(each.durationMs / 1000).toFixed(1)} s`,
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
    ...(result.cancelled === 0 ? [] : [["cancelled", cancelledText(result.cancelled)] as const]),
    ...(result.reinserted === 0 ? [] : [["reinserted", reinsertedText(result.reinserted)] as const]),
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

function cancelledText(count: number): string {
  return `${count} that were cancelled before, and are left so; --restore-cancelled inserts them`;
}

function reinsertedText(count: number): string {
  return `${count} of the inserted: clients had cancelled them`;
}

function backwardsText(count: number): string {
  return `${count} of the updated: the status goes back, such as from shipped to pending`;
}
