/** Parts of the schemas of bodies and queries. Unknown fields are refused: a misspelt limit must not be taken for no limit. */
import * as v from "valibot";
import { MAX_REQUESTS_PER_DAY, MAX_REQUESTS_PER_MINUTE } from "../../db/values.ts";
import { isDate, parseRfc3339, toUnixSeconds } from "../../time.ts";

export const boolean = v.boolean("must be true or false");
const LIMITER_MAXIMUM = ", the most that one limiter serves";
export const limits = {
  requestsPerMinute: v.optional(v.nullable(wholeNumber(1, MAX_REQUESTS_PER_MINUTE, LIMITER_MAXIMUM))),
  requestsPerDay: v.optional(v.nullable(wholeNumber(1, MAX_REQUESTS_PER_DAY, LIMITER_MAXIMUM))),
};

/** A date (its midnight, UTC) or an RFC 3339 date-time; becomes Unix seconds. */
const DATE = "must be a date or an RFC 3339 date-time that exists";
export const time = v.pipe(
  v.string(DATE),
  v.description("A date (its midnight, UTC) or an RFC 3339 date-time."),
  v.transform((text) => parseRfc3339(isDate(text) ? `${text}T00:00:00Z` : text)),
  v.number(DATE),
  v.transform(toUnixSeconds),
);

export const MAX_PAGE_SIZE = 500;
export const pageSize = v.optional(queryNumber(1, MAX_PAGE_SIZE), "100");
export const day = v.pipe(
  v.string(),
  v.isoDate("must be a day, as in 2026-11-21"),
  v.check(isDate, "must be a day, as in 2026-11-21"),
);

export function oneOf<const Values extends readonly string[]>(values: Values) {
  return v.picklist(values, `must be one of ${values.join(", ")}`);
}

export function wholeNumber(min: number, max: number, reason = "") {
  const message = `must be a whole number from ${min} to ${max}${reason}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message));
}

/** A number in a query: decimal digits. */
export function queryNumber(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return v.pipe(
    v.string(),
    v.description(`A whole number from ${min} to ${max}.`),
    v.regex(/^\d{1,16}$/, message),
    v.transform(Number),
    v.minValue(min, message),
    v.maxValue(max, message),
  );
}
