/** The calls about keys, their secrets and their limits. */

import { openDatabase } from "../../db/database.ts";
import { banLifted, banRequest, banSet } from "../bans/schema.ts";
import { call } from "../call.ts";
import { columnsOf, fileOfRange } from "../http/csv.ts";
import { dryRun } from "../http/schemas.ts";
import { keyUsageAnswer, keyUsageQuery, USAGE_ROWS } from "../usage/schema.ts";
import { findUsageOfKey } from "../usage/service.ts";
import { banKey, liftBan, previewBan } from "./change/ban.ts";
import { issueKey } from "./change/create.ts";
import { previewRetirement, previewRotation, retireSecret, rotateKey } from "./change/secrets.ts";
import { endTemporaryLimits, limitTemporarily, previewTemporaryLimits } from "./change/temporary-limits.ts";
import {
  disableKeys,
  enableKeys,
  previewKeyUpdate,
  revokeKey,
  revokeKeys,
  setPlanOfKeys,
  updateKey,
} from "./change/update.ts";
import { findKey } from "./find.ts";
import { findKeyPage } from "./list-sql.ts";
import * as schema from "./schema.ts";
import { requireKey } from "./sql.ts";

/** A table has only the hints of secrets. */
const KEY_COLUMNS = columnsOf(schema.keyView).map((column) =>
  column === "secrets" ? "secrets.hint" : column,
);

const REVOKED = "The key is revoked, which is permanent.";
const LIMITS_LOST = "The key would have no limit: neither its own nor its plan's.";

const EACH_KEY =
  "All keys of the call change at once, each with an entry in the audit log. A key that cannot change is in `unchanged`. An id that no key has is a 400, and nothing changes.";

const SEVERAL = { ids: ["key_0C8yRw3mQz1T"] };

export const keyCalls = {
  list: call({
    id: "keys.list",
    route: "GET /keys",
    summary: "List keys",
    description: "The filters apply together.",
    query: schema.keyQuery,
    answer: schema.keyPage,

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
    body: schema.newKey,
    answer: schema.issuedKey,
    example: { name: "Backend of Pet Shop", plan: "pro", customer: "Pet Shop" },
    conflict: `A key with this id exists. Or: ${LIMITS_LOST}`,

    run: issueKey,
  }),

  show: call({
    id: "keys.show",
    route: "GET /keys/:id",
    summary: "Show a key",
    description: "`live` is what the counter of the key says now. Null: the counter cannot be reached.",
    answer: schema.inspectedKey,

    run: ({ env, id }) => findKey(env, id),
  }),

  update: call({
    id: "keys.update",
    route: "PATCH /keys/:id",
    summary: "Change a key",
    description:
      "Members that are absent stay as they are: with another plan a key keeps its own limits. Null removes a value: a limit is then the plan's. With `planFrom` the key gets `plan` at that midnight; a change of `plan` without it, as to the present one, takes this back.",
    body: schema.keyUpdate,
    answer: schema.updatedKey,
    example: { plan: "business", disabled: false },
    conflict: `${REVOKED} Or: ${LIMITS_LOST} Or, with \`planFrom\`: the key has temporary limits, or the plan already.`,

    preview: previewKeyUpdate,
    run: updateKey,
  }),

  rotate: call({
    id: "keys.rotate",
    route: "POST /keys/:id/rotate",
    summary: "Give a key a new secret",
    description:
      "The old secrets expire after `graceSeconds`. The answer is the only one that has the new secret.",
    asks: "The current secrets of the key stop working at once.",
    body: schema.rotation,
    answer: schema.rotatedKey,
    example: { graceSeconds: 86_400 },
    conflict: `${REVOKED} Or the key has expired. Or it has 10 valid secrets, and none would end at once.`,

    preview: previewRotation,
    run: rotateKey,
  }),

  limitTemporarily: call({
    id: "keys.limit_temporarily",
    route: "POST /keys/:id/temporary-limits",
    summary: "Give a key other limits for a time",
    description:
      "They replace the temporary limits that the key has, and end by themselves at a midnight UTC. With 1 day they end at the coming one.",
    body: schema.temporaryLimits,
    answer: schema.updatedKey,
    example: { requestsPerMinute: 600, days: 2, reason: "a sale" },
    conflict: `${REVOKED} Or it gets another plan at a midnight.`,

    preview: previewTemporaryLimits,
    run: limitTemporarily,
  }),

  endTemporaryLimits: call({
    id: "keys.end_temporary_limits",
    route: "DELETE /keys/:id/temporary-limits",
    summary: "End the temporary limits of a key",
    description: "The key's own limits apply again, or the plan's.",
    answer: schema.updatedKey,
    conflict: REVOKED,

    run: endTemporaryLimits,
  }),

  retire: call({
    id: "keys.retire",
    route: "DELETE /keys/:id/secrets/:secretId",
    summary: "End a secret of a key",
    description: "The other secrets of the key go on.",
    asks: "The secret stops working at once.",
    answer: schema.updatedKey,
    conflict: `${REVOKED} Or the secret is the key's only valid one.`,

    preview: previewRetirement,
    run: retireSecret,
  }),

  revoke: call({
    id: "keys.revoke",
    route: "DELETE /keys/:id",
    summary: "Revoke a key",
    description: "Permanently. Revoking a revoked key changes nothing.",
    asks: "Requests of the key are refused from now on, permanently.",
    answer: schema.updatedKey,

    run: revokeKey,
  }),

  disable: call({
    id: "keys.disable",
    route: "POST /keys/disable",
    summary: "Disable several keys",
    description: `Requests of a disabled key are refused until the key is enabled. ${EACH_KEY}`,
    query: dryRun,
    body: schema.keySelection,
    answer: schema.changedKeys,
    example: SEVERAL,

    run: disableKeys,
  }),

  enable: call({
    id: "keys.enable",
    route: "POST /keys/enable",
    summary: "Enable several keys again",
    description: EACH_KEY,
    query: dryRun,
    body: schema.keySelection,
    answer: schema.changedKeys,
    example: SEVERAL,

    run: enableKeys,
  }),

  revokeSeveral: call({
    id: "keys.revoke_several",
    route: "POST /keys/revoke",
    summary: "Revoke several keys",
    description: `Permanently. ${EACH_KEY}`,
    asks: "Requests of these keys are refused from now on, permanently.",
    query: dryRun,
    body: schema.keySelection,
    answer: schema.changedKeys,
    example: SEVERAL,

    run: revokeKeys,
  }),

  plan: call({
    id: "keys.plan",
    route: "POST /keys/plan",
    summary: "Give several keys a plan",
    description: `A key keeps its own limits. With \`planFrom\` the keys get the plan at that midnight. ${EACH_KEY}`,
    query: dryRun,
    body: schema.planOfKeys,
    answer: schema.changedKeys,
    example: { ...SEVERAL, plan: "pro" },

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

    run: async ({ env, id, query }) => findUsageOfKey(env, await requireKey(openDatabase(env.DB), id), query),
    table: ({ keyId, by, rows, ...range }) => ({
      file: fileOfRange(`usage-${keyId}-by-${by}`, range),
      columns: columnsOf(USAGE_ROWS[by]),
      rows,
    }),
  }),
};

export const keyBanCalls = {
  set: call({
    id: "bans.set",
    route: "PUT /keys/:id/ban",
    summary: "Ban a key",
    description: "Replaces the bans of the key that are live.",
    body: banRequest,
    answer: banSet,
    example: { seconds: 3600, reason: "Sends each order twice." },

    preview: previewBan,
    run: banKey,
  }),

  lift: call({
    id: "bans.lift",
    route: "DELETE /keys/:id/ban",
    summary: "Lift the bans of a key",
    description: "The next ban for seconds over the limit is not doubled because of a ban that was lifted.",
    answer: banLifted,

    run: liftBan,
  }),
};
