/** What the reference says of `/admin/keys`. */
import type * as v from "valibot";
import { ENTRY } from "../audit/reference.ts";
import { BAN } from "../bans/reference.ts";
import { describe, type Reference } from "../http/describe.ts";
import {
  inspectedKey,
  issuedKey,
  keyHistory,
  keyPage,
  keysFound,
  type keyView,
  rotatedKey,
  toldKeys,
  updatedKey,
} from "./schema.ts";

const KEY: v.InferInput<typeof keyView> = {
  id: "key_0C8yRw3mQz1T",
  name: "Backend of Pet Shop",
  ownerName: "Pet Shop",
  ownerEmail: "ops@petshop.example",
  note: null,
  plan: "pro",
  status: "active",
  bannedUntil: null,
  limits: { requestsPerMinute: 300, requestsPerDay: 10_000 },
  requestsPerMinute: null,
  requestsPerDay: null,
  temporaryLimits: null,
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
const SECRET = "sok_e… (60 characters)";
const REVOKED = "The key is revoked, which is permanent.";
const LIMITS_LOST = "Another change was stored first. Together they would leave the key without a limit.";

export const keyReference: Reference = {
  "GET /keys": describe({
    id: "keys.list",
    summary: "List keys",
    answer: keyPage,
    example: { keys: [KEY], next: null },
  }),
  "POST /keys": describe({
    id: "keys.create",
    summary: "Create a key",
    description:
      "The answer is the only one that has the secret. Make `id` yourself, and a request that is sent again creates no second key.",
    body: { example: { name: "Backend of Pet Shop", plan: "pro", ownerName: "Pet Shop" } },
    status: 201,
    answer: issuedKey,
    example: { ...KEY, firstUsedAt: null, lastUsedDay: null, admittedToday: 0, version: 1, key: SECRET },
    etag: true,
    conflict: `A key with this id exists. Or: ${LIMITS_LOST}`,
  }),
  "POST /keys/find": describe({
    id: "keys.find",
    summary: "Find keys",
    description:
      "By exactly one of: the id, the SHA-256 of the secret, a masked secret or its last characters. Never send the secret. An admin token that may only read can find keys.",
    body: { example: { hint: "sok_eg…yhjA" } },
    answer: keysFound,
    example: { keys: [KEY] },
  }),
  "POST /keys/tell": describe({
    id: "keys.tell_all",
    summary: "Tell the limiters of all keys to read their keys again",
    description:
      "After a restore of the database. `untold`: how many are told later. Null: the database failed.",
    answer: toldKeys,
    example: { untold: 19_500 },
  }),
  "POST /keys/:id/tell": describe({
    id: "keys.tell",
    summary: "Tell the limiter of a key to read the key again",
    answer: toldKeys,
    example: { untold: 0 },
  }),
  "GET /keys/:id": describe({
    id: "keys.show",
    summary: "Show a key",
    answer: inspectedKey,
    example: {
      ...KEY,
      live: {
        minute: { limit: 300, used: 12, remaining: 288, resetsAt: "2026-11-21T10:01:00Z" },
        day: { limit: 10_000, used: 412, remaining: 9_588, resetsAt: "2026-11-22T00:00:00Z" },
        strikes: 0,
        ban: null,
      },
    },
    etag: true,
  }),
  "GET /keys/:id/history": describe({
    id: "keys.history",
    summary: "Show what happened to a key",
    answer: keyHistory,
    example: {
      keyName: KEY.name,
      events: [
        { kind: "change", at: ENTRY.at, change: ENTRY },
        { kind: "ban", at: BAN.startedAt, ban: BAN },
      ],
      next: null,
      hours: [
        {
          start: "2026-11-21T10:00:00Z",
          admitted: 300,
          refused: 12,
          refusedWhileBanned: 0,
          refusedMinutes: [{ at: "2026-11-21T10:42:00Z", by: { minute: 12 } }],
        },
      ],
      asOf: "2026-11-21T10:50:07Z",
    },
  }),
  "PATCH /keys/:id": describe({
    id: "keys.update",
    summary: "Change a key",
    description:
      "Members that are absent stay as they are. Null removes a value: a limit is then the plan's.",
    body: { example: { plan: "business", disabled: false } },
    answer: updatedKey,
    example: { ...KEY, plan: "business", version: 4, effective: "immediately" },
    etag: true,
    conflict: `${REVOKED} Or: ${LIMITS_LOST}`,
  }),
  "POST /keys/:id/rotate": describe({
    id: "keys.rotate",
    summary: "Give a key a new secret",
    description:
      "The old secrets expire after `graceSeconds`. The answer is the only one that has the new secret.",
    body: { example: { graceSeconds: 86_400 } },
    answer: rotatedKey,
    example: { ...KEY, version: 4, effective: "immediately", key: SECRET },
    etag: true,
    conflict: `${REVOKED} Or the key has expired.`,
  }),
  "POST /keys/:id/temporary-limits": describe({
    id: "keys.limit_temporarily",
    summary: "Give a key other limits for a time",
    description:
      "They replace the temporary limits that the key has, and end by themselves at a midnight UTC. With 1 day they end at the coming one.",
    body: { example: { requestsPerMinute: 600, days: 2, reason: "a sale" } },
    answer: updatedKey,
    example: {
      ...KEY,
      limits: { requestsPerMinute: 600, requestsPerDay: 10_000 },
      temporaryLimits: { requestsPerMinute: 600, requestsPerDay: null, until: "2026-11-23T00:00:00Z" },
      version: 4,
      effective: "immediately",
    },
    etag: true,
    conflict: REVOKED,
  }),
  "DELETE /keys/:id/temporary-limits": describe({
    id: "keys.end_temporary_limits",
    summary: "End the temporary limits of a key",
    answer: updatedKey,
    example: { ...KEY, version: 4, effective: "immediately" },
    etag: true,
    conflict: REVOKED,
  }),
  "DELETE /keys/:id/secrets/:secretId": describe({
    id: "keys.retire",
    summary: "End a secret of a key",
    answer: updatedKey,
    example: { ...KEY, version: 4, effective: "immediately" },
    etag: true,
    conflict: `${REVOKED} Or the secret is the key's only valid one.`,
  }),
  "DELETE /keys/:id": describe({
    id: "keys.revoke",
    summary: "Revoke a key",
    description: "Permanently. Revoking a revoked key changes nothing.",
    answer: updatedKey,
    example: { ...KEY, status: "revoked", version: 4, effective: "immediately" },
    etag: true,
  }),
};
