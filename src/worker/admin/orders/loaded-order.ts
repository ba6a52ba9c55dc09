/** Checks the orders of a load. Integers are text with all digits. Pure. */
import * as v from "valibot";
import { MIN_QUANTITY, ORDER_STATUSES } from "../../db/values.ts";
import { type Checked, check } from "../../text/check-schema.ts";
import { parseExactJson } from "../../text/exact-json.ts";
import { isInt64 } from "../../text/int64.ts";
import { parseRfc3339 } from "../../text/time.ts";

/** The orders of one request take less than 1 MB as JSON, and D1 binds texts of up to 2 MB. */
export const MAX_ORDERS_PER_LOAD = 5_000;

/** The audit log names the file. */
export const MAX_FILE_NAME_CHARS = 255;

export const INT64 = "must be a whole number of 64 bits, in digits";
const INT64_JSON = { type: ["integer", "string"], format: "int64" };
/** Many programs write an int64 as JSON text, because JavaScript rounds numbers beyond 2^53. */
const int64Text = v.pipe(v.string(INT64), v.check(isInt64, INT64), v.metadata(INT64_JSON));

const QUANTITY = `must not be below ${MIN_QUANTITY}`;
const quantity = v.pipe(
  v.string(INT64),
  v.check(isInt64, INT64),
  v.check((digits) => BigInt(digits) >= MIN_QUANTITY, QUANTITY),
  v.metadata({ ...INT64_JSON, minimum: MIN_QUANTITY }),
);

const SHIP_DATE = "must be an RFC 3339 date-time that exists, with its time zone";
export const shipDate = v.pipe(v.string(SHIP_DATE), v.transform(normaliseShipDate), v.string(SHIP_DATE));

export const loadedOrder = v.strictObject({
  id: int64Text,
  petId: v.nullish(int64Text),
  quantity: v.nullish(quantity),
  shipDate: v.nullish(shipDate),
  complete: v.nullish(v.boolean("must be true or false")),
  status: v.nullish(v.picklist(ORDER_STATUSES, `must be one of ${ORDER_STATUSES.join(", ")}`)),
});

/** In an order that exists, an absent member keeps its value, and null takes all but the status away. */
export type LoadedOrder = v.InferOutput<typeof loadedOrder>;

export const ORDER_MEMBERS: readonly string[] = Object.keys(loadedOrder.entries);

/** The CSV of lists has a column `version`. */
export const LEFT_OUT: readonly string[] = ["version"];

/** JSON whose numbers are text with all digits. Throws a SyntaxError, or a RangeError if it is too deep. */
export function parseDigits(text: string): unknown {
  return parseExactJson(text, (_value, source) => source);
}

export type CheckOrder = (value: unknown, place: number) => Checked<LoadedOrder>;

/** Checks the values of one file or request. A repeated id is refused with the place where it stood first. */
export function orderChecker(unit: "line" | "element"): CheckOrder {
  // A text would hold the piece of the file that the text was cut from.
  const places = new Map<number | bigint, number>();
  return (value, place) => {
    const checked = check(loadedOrder, value);
    if (!checked.ok) return checked;
    const { id: digits } = checked.output;
    const id = digits.length > 15 ? BigInt(digits) : Number(digits);
    const first = places.get(id);
    if (first === undefined) {
      places.set(id, place);
      return checked;
    }
    return { ok: false, problems: [{ member: "id", reason: `stands in ${unit} ${first} already` }] };
  };
}

/**
 * Returns an RFC 3339 date-time in the form of the database, which is UTC with milliseconds:
 * `2026-11-21T10:00:00.000Z`. Undefined if the text is not valid.
 */
export function normaliseShipDate(text: string): string | undefined {
  if (isNormal(text)) return text;
  const atMs = parseRfc3339(text);
  return atMs === undefined ? undefined : new Date(atMs).toISOString();
}

/** Nearly every date of a file is in this form, and this check takes a tenth of the time. */
export function isNormal(text: string): boolean {
  return text.length === "2026-11-21T10:00:00.000Z".length && new Date(text).toJSON() === text;
}
