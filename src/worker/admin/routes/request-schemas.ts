/** Bodies and queries of the admin API. Unknown fields are refused: a misspelt limit must not be taken for no limit. */
import * as v from "valibot";
import { isKeyId } from "../../auth/key.ts";
import {
  AUDIT_CALLS,
  KEY_SORTS,
  KEY_STATUSES,
  LOCATIONS,
  MAX_OPERATOR_BAN_SECONDS,
  MAX_REQUESTS_PER_DAY,
  MAX_REQUESTS_PER_MINUTE,
  ORDER_STATUSES,
  PLAN_IDS,
  USAGE_SORTS,
} from "../../db/values.ts";
import { isInt64 } from "../../orders/int64.ts";
import { MAX_FILE_NAME_CHARS, shipDate } from "../../orders/loaded-order.ts";
import { isDate, parseRfc3339, toUnixSeconds } from "../../time.ts";
import { HINT } from "../key-search.ts";
import { longText, NOT_ONE_LINE, ONE_LINE, shortText } from "./text-schemas.ts";

const MAX_GRACE_SECONDS = 30 * 86_400;
const MAX_USAGE_HOURS = 7 * 24;

const boolean = v.boolean("must be true or false");
const name = shortText(100);
const plan = oneOf(PLAN_IDS);
const LIMITER_MAXIMUM = ", the most that one limiter serves";
const limits = {
  requestsPerMinute: v.optional(v.nullable(wholeNumber(1, MAX_REQUESTS_PER_MINUTE, LIMITER_MAXIMUM))),
  requestsPerDay: v.optional(v.nullable(wholeNumber(1, MAX_REQUESTS_PER_DAY, LIMITER_MAXIMUM))),
};

const owner = {
  ownerName: v.optional(v.nullable(shortText(100))),
  ownerEmail: v.optional(v.nullable(v.pipe(shortText(254), v.rfcEmail("must be an e-mail address")))),
  note: v.optional(v.nullable(longText(1_000))),
};

/** A date (its midnight, UTC) or an RFC 3339 date-time; becomes Unix seconds. */
const DATE = "must be a date or an RFC 3339 date-time that exists";
const time = v.pipe(
  v.string(DATE),
  v.transform((text) => parseRfc3339(isDate(text) ? `${text}T00:00:00Z` : text)),
  v.number(DATE),
  v.transform(toUnixSeconds),
);
const futureTime = v.pipe(
  time,
  v.check((seconds) => seconds * 1000 > Date.now(), "must lie in the future"),
);

const NOT_A_KEY_ID = "must be key_ and 12 letters or digits";

export const newKey = v.strictObject({
  id: v.optional(v.pipe(v.string(NOT_A_KEY_ID), v.check(isKeyId, NOT_A_KEY_ID))),
  name,
  plan,
  ...owner,
  ...limits,
  expiresAt: v.optional(v.nullable(futureTime)),
  location: v.optional(v.nullable(oneOf(LOCATIONS))),
});

export const keyUpdate = v.strictObject({
  name: v.optional(name),
  plan: v.optional(plan),
  ...owner,
  ...limits,
  expiresAt: v.optional(v.nullable(futureTime)),
  disabled: v.optional(boolean),
});

export const rotation = v.strictObject({
  graceSeconds: v.optional(wholeNumber(0, MAX_GRACE_SECONDS), 0),
});

export const banRequest = v.strictObject({
  seconds: wholeNumber(1, MAX_OPERATOR_BAN_SECONDS),
  reason: shortText(500),
});

export const planUpdate = v.strictObject(limits);

export const orderUpdate = v.strictObject({
  status: v.optional(oneOf(ORDER_STATUSES)),
  complete: v.optional(v.nullable(boolean)),
  shipDate: v.optional(v.nullable(shipDate)),
  quantity: v.optional(v.nullable(wholeNumber(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER))),
  allowBackwards: v.optional(boolean, false),
});

const MAX_PAGE_SIZE = 500;
const pageSize = v.optional(queryNumber(1, MAX_PAGE_SIZE), "100");
const day = v.pipe(v.string(), v.check(isDate, "must be a day, as in 2026-11-21"));

export const keyQuery = v.strictObject({
  plan: v.optional(plan),
  status: v.optional(oneOf([...KEY_STATUSES, "expired", "banned", "usable"])),
  search: v.optional(
    v.pipe(v.string(), v.regex(ONE_LINE, NOT_ONE_LINE), v.maxLength(254, "must have at most 254 characters")),
  ),
  expiringBefore: v.optional(time),
  unusedSince: v.optional(day),
  sort: v.optional(oneOf(KEY_SORTS), "created"),
  direction: v.optional(oneOf(["asc", "desc"]), "asc"),
  after: v.optional(v.string()),
  limit: pageSize,
});

export const keySearch = v.strictObject({
  id: v.optional(v.string("must be text")),
  hash: v.optional(
    v.pipe(v.string("must be text"), v.regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hex digits")),
  ),
  hint: v.optional(
    v.pipe(
      v.string("must be text"),
      v.trim(),
      v.regex(HINT, "must be a masked secret, such as sok_eg…yhjA, or its last 4 to 12 characters"),
    ),
  ),
});

const format = v.optional(oneOf(["json", "csv"]), "json");

export const keyUsageQuery = v.strictObject({
  days: v.optional(queryNumber(1, 90), "90"),
  hours: v.optional(queryNumber(0, MAX_USAGE_HOURS), "0"),
  format,
});

export const keyHistoryQuery = v.strictObject({
  after: v.optional(v.string()),
  limit: pageSize,
});

export const dayUsageQuery = v.strictObject({
  day: v.optional(day),
  sort: v.optional(oneOf(USAGE_SORTS), "admitted"),
  /** Most of these lists have one page. */
  limit: v.optional(queryNumber(1, MAX_PAGE_SIZE), String(MAX_PAGE_SIZE)),
  after: v.optional(v.string()),
  format,
  /** The rows of a CSV. */
  by: v.optional(oneOf(["key", "hour"]), "key"),
});

export const banQuery = v.strictObject({
  state: v.optional(oneOf(["live", "past", "all"]), "all"),
  key: v.optional(v.string()),
  after: v.optional(v.string()),
  limit: pageSize,
});

export const auditQuery = v.strictObject({
  actor: v.optional(v.string()),
  call: v.optional(oneOf(AUDIT_CALLS)),
  object: v.optional(v.string()),
  from: v.optional(time),
  to: v.optional(time),
  before: v.optional(queryNumber(1, Number.MAX_SAFE_INTEGER)),
  limit: pageSize,
});

export const cancelledQuery = v.strictObject({
  before: v.optional(queryNumber(1, Number.MAX_SAFE_INTEGER)),
  limit: pageSize,
});

const int64Digits = v.pipe(v.string(), v.check(isInt64, "must be a whole number of 64 bits, in digits"));

export const orderQuery = v.strictObject({
  status: v.optional(oneOf(ORDER_STATUSES)),
  petId: v.optional(int64Digits),
  after: v.optional(int64Digits),
  direction: v.optional(oneOf(["asc", "desc"]), "asc"),
  limit: pageSize,
});

/** `?name`, `?name=true` or `?name=false`. */
const querySwitch = v.pipe(
  v.optional(v.picklist(["", "true", "false"], "must be true, false, or without a value"), "false"),
  v.transform((text) => text !== "false"),
);

export const loadQuery = v.strictObject({
  file: v.optional(shortText(MAX_FILE_NAME_CHARS)),
  "restore-cancelled": querySwitch,
  "dry-run": querySwitch,
});

function oneOf<const Values extends readonly string[]>(values: Values) {
  return v.picklist(values, `must be one of ${values.join(", ")}`);
}

function wholeNumber(min: number, max: number, reason = "") {
  const message = `must be a whole number from ${min} to ${max}${reason}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message));
}

/** A number in a query: decimal digits. */
function queryNumber(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return v.pipe(
    v.string(),
    v.regex(/^\d{1,16}$/, message),
    v.transform(Number),
    v.minValue(min, message),
    v.maxValue(max, message),
  );
}
