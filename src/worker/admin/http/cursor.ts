/** Opaque cursors of sorted lists: the place of the last row shown, in base64url. */
import { invalidRequest } from "../../errors.ts";

/** A row's place in a list: the value that the list is sorted by, then the row's id. */
export type Position<Value> = { readonly value: Value; readonly id: string };

/** `order` names the list's order, so that a cursor of another order is refused. */
export function toCursor(order: string, position: Position<string | number | null> | null): string | null {
  if (position === null) return null;
  const { value, id } = position;
  return new TextEncoder()
    .encode(JSON.stringify([order, value, id]))
    .toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Throws the 400 for a cursor that `toCursor` did not make for this order. */
export function fromCursor<Value>(
  order: string,
  cursor: string | undefined,
  isValue: (value: unknown) => value is Value,
): Position<Value> | undefined {
  if (cursor === undefined) return undefined;
  const decoded = decode(cursor);
  if (Array.isArray(decoded) && decoded.length === 3) {
    const [ofOrder, value, id]: unknown[] = decoded;
    if (ofOrder === order && isValue(value) && typeof id === "string") return { value, id };
  }
  throw invalidRequest("after: must be the `next` of a page with the same order");
}

/** Unix seconds. */
export function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

export function isSortValue(value: unknown): value is string | number | null {
  return value === null || typeof value === "string" || typeof value === "number";
}

function decode(cursor: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(cursor, { alphabet: "base64url" })));
  } catch {
    return undefined;
  }
}
