/** Parts of the schemas of bodies and queries. Unknown fields are refused, so no misspelt limit is lost. */

import * as v from "valibot";
import { MAX_REQUESTS_PER_DAY, MAX_REQUESTS_PER_MINUTE } from "../../db/values.ts";
import { isKeyId } from "../../key/key.ts";
import {
  DAY_SECONDS,
  dayName,
  HOUR_SECONDS,
  isDate,
  midnightAfter,
  nowSeconds,
  parseRfc3339,
  toUnixSeconds,
} from "../../text/time.ts";
import { described } from "./answer-schemas.ts";

export const boolean = v.boolean("must be true or false");
const LIMITER_MAXIMUM = ", the most that one limiter serves";

/** The two limits. `says` describes the limit of a window. */
export function limitsOf(says: (window: "minute" | "day") => string) {
  const limitOf = (max: number, window: "minute" | "day") =>
    v.optional(described(v.nullable(wholeNumber(1, max, LIMITER_MAXIMUM)), says(window)));
  return {
    requestsPerMinute: limitOf(MAX_REQUESTS_PER_MINUTE, "minute"),
    requestsPerDay: limitOf(MAX_REQUESTS_PER_DAY, "day"),
  };
}

export const limits = limitsOf((window) => `Requests that are admitted in a UTC ${window}.`);

const NO_TIME =
  "must be a date or a time that exists, as in 2026-12-03, 2026-12-03 10:00 or RFC 3339, or relative, as in 30m, 36h, 7d or yesterday 14:00";
const UNIT_SECONDS: Readonly<Record<string, number>> = { m: 60, h: HOUR_SECONDS, d: DAY_SECONDS };
const NAMED_DAYS: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 };

/** A text that becomes Unix seconds. Relative times count from the service's clock: `7d` is 7 days ago. */
const pastTime = time(-1);
export const range = {
  from: v.optional(v.pipe(pastTime, v.metadata({ kind: "date" }))),
  to: v.optional(v.pipe(pastTime, v.metadata({ kind: "date" }))),
};
export const hasBegun = v.check((seconds: number) => seconds <= nowSeconds(), "must not lie in the future");
/** Like `pastTime`, but `7d` is in 7 days. */
export const comingTime = time(1);

function time(direction: 1 | -1) {
  const relativeTime = (text: string) => {
    const [, day = "", clock = "00:00"] = /^([a-z]+)(?: ([01]\d:[0-5]\d|2[0-3]:[0-5]\d))?$/.exec(text) ?? [];
    const namedDay = NAMED_DAYS[day];
    if (namedDay !== undefined)
      return absoluteTime(`${dayName(midnightAfter(nowSeconds(), namedDay))} ${clock}`);
    const [, count, unit = ""] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
    if (count === undefined) return undefined;
    return nowSeconds() + direction * Number(count) * (UNIT_SECONDS[unit] ?? 0);
  };
  const days = direction === 1 ? "`7d` is in 7 days, `tomorrow`" : "`7d` is 7 days ago, `yesterday`";
  return v.pipe(
    v.string(NO_TIME),
    v.description(
      `A date (its midnight, UTC), a UTC time such as \`2026-12-03 10:00\` or \`yesterday 14:00\`, an RFC 3339 date-time, or a relative time: ${days} its midnight.`,
    ),
    v.transform((text) => relativeTime(text) ?? absoluteTime(text)),
    v.number(NO_TIME),
  );
}

/** Tables of the command show times as `2026-12-03 10:00`, and mean UTC. */
function absoluteTime(text: string): number | undefined {
  const minute = isDate(text) ? `${text} 00:00` : text;
  const unixMs = parseRfc3339(/:\d\d$/.test(minute) && minute.length === 16 ? `${minute}:00Z` : text);
  return unixMs === undefined ? undefined : toUnixSeconds(unixMs);
}

export const MAX_PAGE_SIZE = 500;
/** Where a page begins, and its rows. */
export const paging = {
  after: v.optional(v.string()),
  limit: v.optional(queryNumber(1, MAX_PAGE_SIZE), "100"),
};
export const format = v.optional(
  described(
    oneOf(["json", "csv"]),
    "`csv`: a table of all rows, whatever `limit` is, with a column for each member, as in `limits.requestsPerDay`.",
  ),
);
/** A time that becomes its UTC day, as in `2026-11-21`. */
export const pastDay = v.pipe(pastTime, hasBegun, v.transform(dayName));

export const keyId = v.pipe(v.string(), v.check(isKeyId, "must be the id of a key"));

export function oneOf<const Values extends readonly string[]>(values: Values) {
  return v.picklist(values, `must be one of ${values.join(", ")}`);
}

export function wholeNumber(min: number, max: number, reason = "") {
  const message = `must be a whole number from ${min} to ${max}${reason}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message));
}

/** `?name`, `?name=true` or `?name=false`. */
export function querySwitch(description: string) {
  const value = v.picklist(["", "true", "false"], "must be true, false, or without a value");
  return v.pipe(
    v.optional(described(value, description), "false"),
    v.transform((text) => text !== "false"),
    v.metadata({ kind: "switch" }),
  );
}

export const dryRun = v.strictObject({
  "dry-run": querySwitch("Tell what would happen, and change nothing."),
});

/** A number in a query is text with decimal digits. */
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
