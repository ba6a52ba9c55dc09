/** Bodies and queries of `/admin/keys`. */
import * as v from "valibot";
import { isKeyId } from "../../auth/key.ts";
import { KEY_SORTS, KEY_STATUSES, LOCATIONS, PLAN_IDS } from "../../db/values.ts";
import { boolean, day, limits, oneOf, pageSize, time, wholeNumber } from "../http/schemas.ts";
import { longText, NOT_ONE_LINE, ONE_LINE, shortText } from "../http/text-schemas.ts";
import { HINT } from "./search.ts";

const MAX_GRACE_SECONDS = 30 * 86_400;

const name = shortText(100);
const plan = oneOf(PLAN_IDS);

const owner = {
  ownerName: v.optional(v.nullable(shortText(100))),
  ownerEmail: v.optional(v.nullable(v.pipe(shortText(254), v.rfcEmail("must be an e-mail address")))),
  note: v.optional(v.nullable(longText(1_000))),
};

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

export const keyQuery = v.strictObject({
  plan: v.optional(plan),
  status: v.optional(oneOf([...KEY_STATUSES, "expired", "banned", "usable"])),
  search: v.optional(
    v.pipe(v.string(), v.regex(ONE_LINE, NOT_ONE_LINE), v.maxLength(254, "must have at most 254 characters")),
  ),
  ref: v.optional(v.string()),
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

export const keyHistoryQuery = v.strictObject({
  after: v.optional(v.string()),
  limit: pageSize,
});
