/** Opaque cursors of sorted lists. A cursor is the position of the last row of a page, in base64url. */
import { invalidMembers } from "../../platform/errors.ts";

/** A row's position in a list: the value that the list is sorted by, then the row's id. */
export type Position<Value = string | number | null> = { readonly value: Value; readonly id: string };

/** `order` names the order of the list, so that a cursor of another order is refused. */
export function toCursor(order: string, position: Position | undefined): string | null {
  if (position === undefined) return null;
  return new TextEncoder()
    .encode(JSON.stringify([order, position.value, position.id]))
    .toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Throws the 400 for a cursor that `toCursor` did not make for this order. */
export function fromCursor(order: string, cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return undefined;
  const decoded = decode(cursor);
  if (Array.isArray(decoded) && decoded.length === 3) {
    const [ofOrder, value, id]: unknown[] = decoded;
    if (ofOrder === order && isValue(value) && typeof id === "string") return { value, id };
  }
  throw invalidMembers({ member: "after", reason: "must be the `next` of a page with the same order" });
}

/** Cuts the rows to one page. The query reads one row more: `last` is undefined on the last page. */
export function pageOf<Row>(rows: readonly Row[], limit: number) {
  const shown = rows.slice(0, limit);
  return { shown, last: rows.length > limit ? shown.at(-1) : undefined };
}

function isValue(value: unknown): value is Position["value"] {
  return value === null || typeof value === "string" || typeof value === "number";
}

function decode(cursor: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(cursor, { alphabet: "base64url" })));
  } catch {
    return undefined;
  }
}
