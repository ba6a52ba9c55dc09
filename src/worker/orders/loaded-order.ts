/** One order of a load: from JSON to exact integers of 64 bits and back, or the problems because of which it is refused. Pure. */
import * as v from "valibot";
import { type Checked, check } from "../check-schema.ts";
import { ORDER_STATUSES } from "../db/values.ts";
import { parseExactJson } from "../exact-json.ts";
import { isInt64 } from "./int64.ts";
import { normaliseShipDate } from "./ship-date.ts";

/** Of one request. As JSON they take less than 1 MB; D1 binds texts of up to 2 MB. */
export const MAX_ORDERS_PER_LOAD = 5_000;

/** Of the file that the audit log names. */
export const MAX_FILE_NAME_CHARS = 255;

/** An absent member is null. Without a `status`, an existing order keeps its status, and a new order is pending. */
export type LoadedOrder = {
  readonly id: string;
  readonly petId: string | null;
  readonly quantity: string | null;
  readonly shipDate: string | null;
  readonly complete: boolean | null;
  readonly status: (typeof ORDER_STATUSES)[number] | null;
};

/** Numbers of orders. */
export type LoadFigures = {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Orders that clients cancelled before, and that are left so. */
  readonly cancelled: number;
};

/** A number as its source text, with all digits. */
export class JsonNumber {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
  toJSON(): object {
    return JSON.rawJSON(this.source);
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

export const loadedOrder = v.strictObject({
  id: int64,
  petId: v.nullish(int64, null),
  quantity: v.nullish(int64, null),
  shipDate: v.nullish(shipDate, null),
  complete: v.nullish(v.boolean("must be true or false"), null),
  status: v.nullish(v.picklist(ORDER_STATUSES, `must be one of ${ORDER_STATUSES.join(", ")}`), null),
});

export const ORDER_MEMBERS: readonly string[] = Object.keys(loadedOrder.entries);

/** JSON whose numbers are `JsonNumber`s. Throws a SyntaxError. */
export function parseJsonNumbers(text: string): unknown {
  return parseExactJson(text, (_value, source) => new JsonNumber(source));
}

/** `value` is from `parseJsonNumbers`. */
export function checkOrder(value: unknown): Checked<LoadedOrder> {
  return check(loadedOrder, value);
}

/** With all digits, which `JSON.stringify` alone would put in quotes. */
export function orderJson({ id, petId, quantity, ...others }: LoadedOrder): string {
  return `{"id":${id},"petId":${petId},"quantity":${quantity},${JSON.stringify(others).slice(1)}`;
}
