/** The calls about keys, their secrets and their limits. */
import type * as v from "valibot";
import { openDatabase } from "../../db/database.ts";
import { call } from "../call.ts";
import { CUSTOMER, FIGURES, RANGE } from "../examples.ts";
import { columnsOf } from "../http/csv.ts";
import { dryRun } from "../http/schemas.ts";
import { keyUsageAnswer, keyUsageQuery, USAGE_ROWS } from "../usage/schema.ts";
import { findUsageOfKey } from "../usage/service.ts";
import { issueKey } from "./change/create.ts";
import { refreshAllKeys, refreshKey } from "./change/refresh.ts";
import { revokeKey, revokeKeys } from "./change/revoke.ts";
import { retireSecret, rotateKey } from "./change/secrets.ts";
import { endTemporaryLimits, limitTemporarily, previewTemporaryLimits } from "./change/temporary-limits.ts";
import { disableKeys, enableKeys, setPlanOfKeys, updateKey } from "./change/update.ts";
import { findKey } from "./find.ts";
import { findKeyPage } from "./list.ts";
import {
  type ChangedKeys,
  changedKeys,
  inspectedKey,
  issuedKey,
  keyPage,
  keyQuery,
  keySelection,
  keyUpdate,
  keyView,
  newKey,
  planOfKeys,
  refreshedKeys,
  rotatedKey,
  rotation,
  temporaryLimits,
  updatedKey,
} from "./schema.ts";
import { requireKey } from "./sql.ts";

const KEY: v.InferInput<typeof keyView> = {
  id: "key_0C8yRw3mQz1T",
  name: "Backend of Pet Shop",
  customer: CUSTOMER,
  note: null,
  plan: "pro",
  status: "active",
  bannedUntil: null,
  limits: { requestsPerMinute: 300, requestsPerDay: 10_000 },
  requestsPerMinute: null,
  requestsPerDay: null,
  temporaryLimits: null,
  mayCancel: true,
  expiresAt: null,
  createdAt: "2026-11-02T09:00:00Z",
  location: "weur",
  firstUsedAt: "2026-11-02T09:04:11Z",
  lastUsedDay: "2026-11-21",
  admittedToday: 412,
  version: 3,
  secrets: [
    { id: "5e9d1f0a7b3c2d48", hint: "sok_eg…yhjA", createdAt: "2026-11-02T09:00:00Z", expiresAt: null },
  ],
};
/** A table has only the hints of secrets. */
const KEY_COLUMNS = columnsOf(keyView).map((column) => (column === "secrets" ? "secrets.hint" : column));
const SECRET = "sok_e… (60 characters)";

const REVOKED = "The key is revoked, which is permanent.";
const LIMITS_LOST = "The key would have no limit: neither its own nor its plan's.";

/** The answer of a change of the key. */
function changed<Members extends object>(says: string, members: Members) {
  const effective = "immediately" as const;
  return { ...KEY, version: 119, effective, says: `${KEY.name} ${says}.`, ...members };
}

const EACH_KEY =
  "All keys of the call change at once, each with an entry in the audit log. A key that cannot change is in `unchanged`. An id that no key has is a 400, and nothing changes.";

function several(was: string, says: string, member: object = {}) {
  const { id, name } = KEY;
  const answer: ChangedKeys = {
    changed: [{ id, name, was, effective: "immediately" }],
    unchanged: [],
    says: `${name} ${says}.`,
  };
  return { body: { ids: [id], ...member }, answer };
}

export const keyCalls = {
  list: call({
    id: "keys.list",
    route: "GET /keys",
    summary: "List keys",
    description: "The filters apply together.",
    query: keyQuery,
    answer: keyPage,
    example: { answer: { keys: [KEY], next: null, asOf: "2026-11-21T09:00:00Z" } },

    run: ({ env, query }) => findKeyPage(env, query),
    table: ({ keys, next }) => ({ file: "keys", columns: KEY_COLUMNS, rows: keys, next }),
  }),

  create: call({
    id: "keys.create",
    route: "POST /keys",
    summary: "Create a key",
    description:
      "The answer is the only one that has the secret. Make `id` yourself, and a request that is sent again creates no second key.",
    creates: true,
    body: newKey,
    answer: issuedKey,
    example: {
      body: { name: "Backend of Pet Shop", plan: "pro", customer: "Pet Shop" },
      answer: {
        ...{ ...KEY, firstUsedAt: null, lastUsedDay: null, admittedToday: 0 },
        says: `${KEY.name} (${KEY.id}) is created on plan Pro, with 300 requests a minute and 10,000 a day.`,
        key: SECRET,
      },
    },
    conflict: `A key with this id exists. Or: ${LIMITS_LOST}`,

    run: issueKey,
  }),

  refreshAll: call({
    id: "keys.refresh_all",
    route: "POST /keys/refresh",
    summary: "Refresh all keys: their counters read them again",
    description:
      "After a restore of the database. `outdated`: how many do so later. Null: the database failed.",
    answer: refreshedKeys,
    example: {
      answer: { outdated: 19_500, says: "All keys are refreshed. 19,500 keys follow within minutes." },
    },

    run: refreshAllKeys,
  }),

  refresh: call({
    id: "keys.refresh",
    route: "POST /keys/:id/refresh",
    summary: "Refresh a key: its counter reads it again",
    description: "After a change by SQL, which does not reach the counter.",
    answer: refreshedKeys,
    example: { answer: { outdated: 0, says: `${KEY.name} is refreshed.` } },

    run: refreshKey,
  }),

  show: call({
    id: "keys.show",
    route: "GET /keys/:id",
    summary: "Show a key",
    description: "`live` is what the counter of the key says now. Null: the counter cannot be reached.",
    answer: inspectedKey,
    example: {
      answer: {
        whyRefused: [
          "The limit per minute, now 300, was reached on 6 of the last 7 days, always at 15:42 UTC: 72 requests were refused, up to 12 in a minute. The busiest of these hours asked for 1,930 requests, retries included, and 18,000 fit: a client that spreads its calls needs no larger limit.",
        ],
        ...KEY,
        live: {
          lastUsedAt: "2026-11-21T10:00:00Z",
          minute: { limit: 300, used: 12, remaining: 288, resetsAt: "2026-11-21T10:01:00Z" },
          day: { limit: 10_000, used: 412, remaining: 9_588, resetsAt: "2026-11-22T00:00:00Z" },
          strikes: 0,
          ban: null,
        },
      },
    },

    run: ({ env, id }) => findKey(env, id),
  }),

  update: call({
    id: "keys.update",
    route: "PATCH /keys/:id",
    summary: "Change a key",
    description:
      "Members that are absent stay as they are: with another plan a key keeps its own limits. Null removes a value: a limit is then the plan's.",
    body: keyUpdate,
    answer: updatedKey,
    example: {
      body: { plan: "business", disabled: false },
      answer: changed("is enabled, and is changed: plan Pro → Business", { plan: "business" }),
    },
    conflict: `${REVOKED} Or: ${LIMITS_LOST}`,

    run: updateKey,
  }),

  rotate: call({
    id: "keys.rotate",
    route: "POST /keys/:id/rotate",
    summary: "Give a key a new secret",
    description:
      "The old secrets expire after `graceSeconds`. The answer is the only one that has the new secret.",
    asks: "The current secrets of the key stop working at once.",
    body: rotation,
    answer: rotatedKey,
    example: {
      body: { graceSeconds: 86_400 },
      answer: changed("has a new secret; old secrets end 22 Nov 2026, 10:00 UTC", { key: SECRET }),
    },
    conflict: `${REVOKED} Or the key has expired.`,

    run: rotateKey,
  }),

  limitTemporarily: call({
    id: "keys.limit_temporarily",
    route: "POST /keys/:id/temporary-limits",
    summary: "Give a key other limits for a time",
    description:
      "They replace the temporary limits that the key has, and end by themselves at a midnight UTC. With 1 day they end at the coming one.",
    body: temporaryLimits,
    answer: updatedKey,
    example: {
      body: { requestsPerMinute: 600, days: 2, reason: "a sale" },
      answer: changed(
        "has temporary limits until 23 Nov 2026, 00:00 UTC: requests per minute 600, reason a sale",
        {
          limits: { requestsPerMinute: 600, requestsPerDay: 10_000 },
          temporaryLimits: { requestsPerMinute: 600, requestsPerDay: null, until: "2026-11-23T00:00:00Z" },
        },
      ),
    },
    conflict: REVOKED,

    preview: previewTemporaryLimits,
    run: limitTemporarily,
  }),

  endTemporaryLimits: call({
    id: "keys.end_temporary_limits",
    route: "DELETE /keys/:id/temporary-limits",
    summary: "End the temporary limits of a key",
    description: "The key's own limits apply again, or the plan's.",
    answer: updatedKey,
    example: { answer: changed("has its permanent limits again", {}) },
    conflict: REVOKED,

    run: endTemporaryLimits,
  }),

  retire: call({
    id: "keys.retire",
    route: "DELETE /keys/:id/secrets/:secretId",
    summary: "End the old secret of a key",
    description: "The other secrets of the key go on.",
    asks: "The old secret stops working at once.",
    answer: updatedKey,
    example: { answer: changed("has the old secret sok_eg…yhjA no longer", {}) },
    conflict: `${REVOKED} Or the secret is the key's only valid one.`,

    run: retireSecret,
  }),

  revoke: call({
    id: "keys.revoke",
    route: "DELETE /keys/:id",
    summary: "Revoke a key",
    description: "Permanently. Revoking a revoked key changes nothing.",
    asks: "Requests of the key are refused from now on, permanently.",
    answer: updatedKey,
    example: { answer: changed("is revoked", { status: "revoked" as const }) },

    run: revokeKey,
  }),

  disable: call({
    id: "keys.disable",
    route: "POST /keys/disable",
    summary: "Disable several keys",
    description: `Requests of a disabled key are refused until the key is enabled. ${EACH_KEY}`,
    query: dryRun,
    body: keySelection,
    answer: changedKeys,
    example: several("active", "is disabled"),

    run: disableKeys,
  }),

  enable: call({
    id: "keys.enable",
    route: "POST /keys/enable",
    summary: "Enable several keys again",
    description: EACH_KEY,
    query: dryRun,
    body: keySelection,
    answer: changedKeys,
    example: several("disabled", "is enabled"),

    run: enableKeys,
  }),

  revokeSeveral: call({
    id: "keys.revoke_several",
    route: "POST /keys/revoke",
    summary: "Revoke several keys",
    description: `Permanently. ${EACH_KEY}`,
    asks: "Requests of these keys are refused from now on, permanently.",
    query: dryRun,
    body: keySelection,
    answer: changedKeys,
    example: several("active", "is revoked"),

    run: revokeKeys,
  }),

  plan: call({
    id: "keys.plan",
    route: "POST /keys/plan",
    summary: "Give several keys a plan",
    description: `A key keeps its own limits. ${EACH_KEY}`,
    query: dryRun,
    body: planOfKeys,
    answer: changedKeys,
    example: several("free", "is changed: plan Free → Pro", { plan: "pro" }),

    run: setPlanOfKeys,
  }),

  usage: call({
    id: "keys.usage",
    route: "GET /keys/:id/usage",
    summary: "Show the usage of a key",
    description:
      "The key's limiter reports first, so that the figures are of this moment. By hour, each minute with refusals says by what and how many.",
    query: keyUsageQuery,
    answer: keyUsageAnswer,
    example: {
      answer: {
        keyId: "key_0C8yRw3mQz1T",
        ...RANGE,
        by: "hour",
        asOf: "2026-11-21T10:50:07Z",
        unreachable: [],
        rows: [
          {
            start: "2026-11-21T10:00:00Z",
            ...FIGURES,
            refusedMinutes: [{ at: "2026-11-21T10:42:00Z", by: { minute: 12 } }],
          },
        ],
        total: FIGURES,
      },
    },

    run: async ({ env, id, query }) => findUsageOfKey(env, await requireKey(openDatabase(env.DB), id), query),
    table: ({ keyId, by, from, rows }) => ({
      file: `usage-${keyId}-by-${by}-${from.slice(0, 10)}`,
      columns: columnsOf(USAGE_ROWS[by]),
      rows,
    }),
  }),
};
