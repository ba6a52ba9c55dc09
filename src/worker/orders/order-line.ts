/** Parses one order of an import: JSON text to an order with exact int64s, or the reason why it is refused. Pure. */
import * as v from "valibot";
import { check } from "../check-schema.ts";
import { ORDER_STATUSES } from "../db/values.ts";
import { parseExactJson } from "../exact-json.ts";
import { isInt64 } from "./int64.ts";
import { normaliseShipDate } from "./ship-date.ts";

/** An absent member is null. Without a `status`, an existing order keeps its status, and a new order is pending. */
export type OrderLine = {
  readonly id: string;
  readonly petId: string | null;
  readonly quantity: string | null;
  readonly shipDate: string | null;
  readonly complete: boolean | null;
  readonly status: (typeof ORDER_STATUSES)[number] | null;
};

export type ParsedLine =
  | { readonly ok: true; readonly order: OrderLine }
  | { readonly ok: false; readonly reason: string };

/** A JSON number as its source text, with all digits. */
class JsonNumber {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

const INT64 = "must be a whole number of 64 bits, in digits";
const int64 = v.pipe(
  v.instance(JsonNumber, INT64),
  v.transform((number) => number.source),
  v.check(isInt64, INT64),
);

const SHIP_DATE = "must be an RFC 3339 date-time that exists";
export const shipDate = v.pipe(v.string(SHIP_DATE), v.transform(normaliseShipDate), v.string(SHIP_DATE));

const orderLine = v.strictObject({
  id: int64,
  petId: v.nullish(int64, null),
  quantity: v.nullish(int64, null),
  shipDate: v.nullish(shipDate, null),
  complete: v.nullish(v.boolean("must be true or false"), null),
  status: v.nullish(v.picklist(ORDER_STATUSES, `must be one of ${ORDER_STATUSES.join(", ")}`), null),
});

export function parseOrderLine(text: string): ParsedLine {
  let value: unknown;
  try {
    value = parseExactJson(text, (_value, source) => new JsonNumber(source));
  } catch {
    return { ok: false, reason: "is not valid JSON" };
  }
  const line = check(orderLine, value);
  return line.ok ? { ok: true, order: line.output } : { ok: false, reason: line.problems };
}
