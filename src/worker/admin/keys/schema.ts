/** Bodies, queries and answers of `/admin/keys`. */
import * as v from "valibot";
import {
  BAN_CAUSES,
  KEY_SORTS,
  KEY_STATES,
  LOCATIONS,
  MAX_TEMPORARY_LIMIT_DAYS,
  PLAN_IDS,
} from "../../db/values.ts";
import { isKeyId } from "../../key/key.ts";
import { DAY_SECONDS } from "../../text/time.ts";
import {
  count,
  dateTime,
  described,
  effective,
  keyStatus,
  limitOrNull,
  limitsInForce,
  liveWindow,
  next,
  says,
  shownCustomer,
  version,
} from "../http/answer-schemas.ts";
import {
  boolean,
  comingTime,
  format,
  limits,
  limitsOf,
  oneOf,
  paging,
  pastDay,
  queryNumber,
  wholeNumber,
} from "../http/schemas.ts";
import { longText, shortText, soughtText } from "../http/text-schemas.ts";
import { MAX_KEYS_AT_ONCE } from "../refresh-limiters.ts";
import { asOf, dayUsage, unreachable } from "../usage/schema.ts";

const MAX_GRACE_SECONDS = 30 * DAY_SECONDS;

const name = shortText(100);
const plan = oneOf(PLAN_IDS);

const texts = {
  customer: v.optional(
    described(
      v.nullable(shortText(254)),
      "Who uses the key: the id of a customer, or a name in any case. A new name makes a new customer.",
    ),
  ),
  note: v.optional(v.nullable(longText(1_000))),
};

const ownLimits = limitsOf(
  (window) => `Requests that are admitted in a UTC ${window}. Null: the plan's limit.`,
);

const futureTime = v.pipe(
  comingTime,
  v.check((seconds) => seconds * 1000 > Date.now(), "must lie in the future"),
);
const expiresAt = v.optional(
  v.pipe(
    v.nullable(futureTime),
    v.description("When the key expires. Null: never."),
    v.metadata({ kind: "time" }),
  ),
);

const planFrom = v.optional(
  v.pipe(
    comingTime,
    v.check(
      (seconds) => seconds * 1000 > Date.now() && seconds % DAY_SECONDS === 0,
      "must be a coming midnight UTC, as in 2027-01-01",
    ),
    v.description("The day from which on the key has the plan, as in `2027-01-01`. Without it: from now on."),
    v.metadata({ kind: "date" }),
  ),
);

const mayCancel = described(boolean, "False: the key may only list orders.");

const NOT_A_KEY_ID = "must be key_ and 12 letters or digits";

export const newKey = v.strictObject({
  id: v.optional(
    v.pipe(
      v.string(NOT_A_KEY_ID),
      v.description("`key_` and 12 letters or digits."),
      v.check(isKeyId, NOT_A_KEY_ID),
    ),
  ),
  name,
  plan,
  ...texts,
  ...ownLimits,
  mayCancel: v.optional(mayCancel, true),
  expiresAt,
  location: v.optional(
    described(
      v.nullable(oneOf(LOCATIONS)),
      "The limiter counts the key's requests, and stays where it is created. Null: near the key's first request.",
    ),
  ),
});

export const keyUpdate = v.strictObject({
  name: v.optional(name),
  plan: v.optional(plan),
  planFrom,
  ...texts,
  ...ownLimits,
  mayCancel: v.optional(mayCancel),
  expiresAt,
  disabled: v.optional(boolean),
});

export const temporaryLimits = v.strictObject({
  ...limits,
  days: described(
    wholeNumber(1, MAX_TEMPORARY_LIMIT_DAYS),
    "UTC days, today included: the limits end at the midnight after the last of them.",
  ),
  reason: v.optional(described(v.nullable(shortText(500)), "Why, for the audit log."), null),
});

export const rotation = v.strictObject({
  graceSeconds: v.optional(
    described(wholeNumber(0, MAX_GRACE_SECONDS), "How long the old secrets stay valid, in seconds."),
    0,
  ),
});

const SEVERAL = `must be an array of 1 to ${MAX_KEYS_AT_ONCE} ids of keys`;
const severalKeys = {
  ids: v.optional(
    v.pipe(
      v.array(v.pipe(v.string(SEVERAL), v.check(isKeyId, SEVERAL)), SEVERAL),
      v.minLength(1, SEVERAL),
      v.maxLength(MAX_KEYS_AT_ONCE, SEVERAL),
      v.description("The ids of the keys. Give either `ids` or `customer`."),
    ),
  ),
  customer: v.optional(
    described(shortText(254), "For all keys of this customer: an id, or a name in any case."),
  ),
};
/** Which keys a call changes that changes several. */
export const keySelection = v.strictObject(severalKeys);
export const planOfKeys = v.strictObject({ plan, planFrom, ...severalKeys });

export const keyQuery = v.strictObject({
  plan: v.optional(plan),
  status: v.optional(
    described(
      oneOf(["usable", "not-revoked", ...KEY_STATES]),
      "`usable`: active or banned. `not-revoked`: all others, too, but those that are revoked.",
    ),
  ),
  search: v.optional(
    described(
      soughtText,
      "A part of the name, the customer, the note or the id, or the last four characters of a secret.",
    ),
  ),
  ref: v.optional(
    described(soughtText, "An id, the beginning of an id, a name, or the last four characters of a secret."),
  ),
  mayCancel: v.optional(oneOf(["true", "false"])),
  expiringBefore: v.optional(
    v.pipe(
      comingTime,
      v.description("Keys that expire, or whose last secret ends, before this time."),
      v.metadata({ kind: "date" }),
    ),
  ),
  unusedSince: v.optional(
    described(v.pipe(pastDay, v.metadata({ kind: "date" })), "Created before this day, and not used since."),
  ),
  customer: v.optional(described(soughtText, "An id of a customer, or a name in any case.")),
  days: v.optional(queryNumber(0, 31), "0"),
  sort: v.optional(oneOf(KEY_SORTS), "created"),
  direction: v.optional(oneOf(["asc", "desc"]), "asc"),
  ...paging,
  format,
});

export const secretView = v.strictObject({
  id: described(v.string(), "The first digits of the secret's SHA-256."),
  hint: described(v.string(), "The masked secret."),
  createdAt: dateTime,
  expiresAt: v.nullable(dateTime),
  lastUsedAt: described(
    v.nullable(dateTime),
    "The minute of the last request with it that the key's limiter has reported: beside `live`, of the last request. Null: none is known, and of before version 2.3 none is.",
  ),
});
export type SecretView = v.InferOutput<typeof secretView>;

const ownLimit = described(limitOrNull, "The key's own limit. Null: the plan's.");

export const keyView = v.strictObject({
  id: v.string(),
  name: v.string(),
  customer: v.nullable(shownCustomer),
  note: v.nullable(v.string()),
  plan: v.string(),
  nextPlan: described(
    v.nullable(v.strictObject({ plan: v.string(), from: dateTime })),
    "The plan that is planned. `limits` are of it from this midnight UTC on, and within an hour it is `plan`. Null: none is planned.",
  ),
  status: keyStatus,
  bannedUntil: described(
    v.nullable(dateTime),
    "The end of the live ban that ends last. Null: no ban is live.",
  ),
  limits: described(
    limitsInForce,
    "The limits in force: the temporary ones, else the key's own, else its plan's. 0 only for a revoked key whose plan has lost its own.",
  ),
  requestsPerMinute: ownLimit,
  requestsPerDay: ownLimit,
  temporaryLimits: described(
    v.nullable(
      v.strictObject({
        requestsPerMinute: v.nullable(count),
        requestsPerDay: v.nullable(count),
        until: dateTime,
      }),
    ),
    "In force until their end, a midnight UTC. A limit that is null there stays the permanent one.",
  ),
  mayCancel: described(v.boolean(), "False: the key may only list orders."),
  expiresAt: v.nullable(dateTime),
  createdAt: dateTime,
  location: described(
    v.nullable(v.picklist(LOCATIONS)),
    "Where the key's limiter is created. Null: near the first request.",
  ),
  firstUsedAt: v.nullable(dateTime),
  lastUsedDay: v.nullable(v.pipe(v.string(), v.isoDate())),
  admittedToday: described(
    count,
    "Requests admitted today (UTC), as far as the key's limiter has reported them: beside `live`, all.",
  ),
  version,
  secrets: v.array(secretView),
});
export type KeyView = v.InferOutput<typeof keyView>;

/** The columns of a list of keys, on the page and in the command. Minor ones need room. The CSV has each member. */
export const KEY_COLUMNS: readonly {
  readonly member: keyof KeyView;
  readonly label: string;
  readonly isMinor?: true;
}[] = [
  { member: "name", label: "Name" },
  { member: "customer", label: "Customer" },
  { member: "status", label: "Status" },
  { member: "plan", label: "Plan" },
  { member: "nextPlan", label: "Next plan" },
  { member: "admittedToday", label: "Today" },
  { member: "lastUsedDay", label: "Last used", isMinor: true },
  { member: "expiresAt", label: "Expires" },
  { member: "secrets", label: "Secret", isMinor: true },
];

const liveUsage = v.strictObject({
  lastUsedAt: described(v.nullable(dateTime), "The minute of the key's last request. Null: none is known."),
  minute: liveWindow,
  day: liveWindow,
  strikes: described(count, "Seconds in which the key went on after a refusal. 20 lead to a ban."),
  ban: v.nullable(
    v.strictObject({ cause: v.picklist(BAN_CAUSES), reason: v.nullable(v.string()), endsAt: dateTime }),
  ),
});
export type LiveUsage = v.InferOutput<typeof liveUsage>;

const key = described(v.string(), "The secret in full. No other answer has it.");
export const listedKey = v.strictObject({
  ...keyView.entries,
  days: described(
    v.optional(v.array(dayUsage)),
    "With `days`: so many days of usage, today included, the oldest first.",
  ),
});
export type ListedKey = v.InferOutput<typeof listedKey>;
export const keyPage = v.strictObject({ keys: v.array(listedKey), next, asOf, unreachable });
const customerCreated = described(v.optional(v.literal(true)), "The change has created the customer.");
export const issuedKey = v.strictObject({ ...keyView.entries, customerCreated, says, key });
export const updatedKey = v.strictObject({ ...keyView.entries, customerCreated, effective, says });
/** Some of them change, or all, or none. */
export const changedKeys = v.strictObject({
  changed: v.array(
    v.strictObject({
      id: v.string(),
      name: v.string(),
      was: described(v.string(), "The status before, or the plan before."),
      limits: described(limitsInForce, "The limits in force after the change, or from `planFrom` on."),
      admittedToday: keyView.entries.admittedToday,
      lastUsedDay: keyView.entries.lastUsedDay,
      effective: described(v.nullable(effective), "Null: this was a dry run."),
    }),
  ),
  unchanged: described(
    v.array(v.strictObject({ id: v.string(), name: v.string(), reason: v.string() })),
    "Keys that cannot change, or need not change.",
  ),
  says,
});
export type ChangedKeys = v.InferOutput<typeof changedKeys>;
export const rotatedKey = v.strictObject({ ...updatedKey.entries, key });
export const inspectedKey = v.strictObject({
  whyRefused: described(
    v.array(v.string()),
    "Why requests of the last 7 days got a 429: a sentence for each limit and for bans, with what helps. Empty: none got a 429.",
  ),
  ...keyView.entries,
  live: described(
    v.nullable(liveUsage),
    "The key's windows, strikes and ban at this moment. Null: its limiter could not be reached.",
  ),
});
