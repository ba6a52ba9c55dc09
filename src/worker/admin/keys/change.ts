/** Creates, changes, rotates and revokes keys, and refreshes their limiters. */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import type { Author } from "../../context.ts";
import { type Database, openDatabase, rfc3339Sql, transact } from "../../db/database.ts";
import { apiKeys, keySecrets } from "../../db/schema.ts";
import { SECRET_ID_CHARS } from "../../key/key.ts";
import { markOutdated } from "../../key/outdated-keys-sql.ts";
import { conflict, invalidMembers, invalidRequest, notFound } from "../../platform/errors.ts";
import { logEvent } from "../../platform/log.ts";
import { formatNumber, formatTime, planName } from "../../text/format.ts";
import { foldCase, foldForSearch } from "../../text/text.ts";
import { midnightAfter, rfc3339, rfc3339OrNull } from "../../text/time.ts";
import { audit, auditedTime } from "../audit/sql.ts";
import {
  type ChangeInput,
  conflictOnMissingLimit,
  insertRow,
  make,
  requireTarget,
  selectMembers,
  type Target,
  updateRow,
} from "../change.ts";
import { LIMITS, type Limit, limitChange } from "../plans/schema.ts";
import { findPlanLimits, type LimitChanges } from "../plans/sql.ts";
import { MAX_KEYS_AT_ONCE, refreshAtOnce, refreshLimiters } from "../refresh-limiters.ts";
import { readLive } from "./live.ts";
import { mintSecret, newKeyId } from "./mint.ts";
import type {
  issuedKey,
  KeyView,
  keyUpdate,
  newKey,
  refreshedKeys,
  rotatedKey,
  rotation,
  temporaryLimits,
  updatedKey,
} from "./schema.ts";
import { type KeyRow, keyTarget, requireKey } from "./sql.ts";

export const LIMITS_LOST =
  "Another change was stored first. Together they would leave the key without a limit.";
export const REVOKED = "The key is revoked, which is permanent.";

type NewKey = v.InferOutput<typeof newKey>;
type KeyUpdate = v.InferOutput<typeof keyUpdate>;
type UpdatedKey = v.InferOutput<typeof updatedKey>;
type KeyChanges = Partial<typeof apiKeys.$inferInsert>;
type KeyText = "name" | "ownerName" | "ownerEmail" | "note";

export async function issueKey(
  input: Pick<ChangeInput<NewKey>, "env" | "author" | "body">,
): Promise<v.InferOutput<typeof issuedKey>> {
  const { env, author, body } = input;
  const db = openDatabase(env.DB);
  await requireLimits(db, body.plan, body);
  const { name, plan, requestsPerMinute = null, requestsPerDay = null, expiresAt = null } = body;
  const { ownerName = null, ownerEmail = null, note = null, location = null, mayCancel } = body;
  const limits = { requestsPerMinute, requestsPerDay };
  const fields = { name, ownerName, ownerEmail, note, plan, ...limits, mayCancel, expiresAt, location };
  const id = body.id ?? newKeyId();
  const { key, row } = await mintSecret(env, { id, location }, author.at);
  const target = keyTarget(id, author.at);
  const unused = sql`(select true) where not exists (select 1 from ${target.row})`;
  const issued = make(
    { ...input, expected: undefined },
    { ...target, row: unused },
    {
      call: "keys.create",
      after: { ...toAuditFields(fields), hint: row.hint },
      statements: [
        insertRow(apiKeys, { ...fields, ...foldedOf(fields), id, createdAt: author.at }),
        insertRow(keySecrets, row),
      ],
    },
  );
  const { now, isMade } = await conflictOnMissingLimit(LIMITS_LOST, issued);
  if (!isMade) throw conflict(`Key ${id} exists already.`);
  if (requestsPerMinute !== null || requestsPerDay !== null) logOwnLimits(id, body, author);
  // A key with this id may have been deleted, and its limiter still have the old policy.
  if (body.id !== undefined) await refreshAtOnce(env, { key: id });
  return { ...now, key };
}

export async function updateKey(input: ChangeInput<KeyUpdate>): Promise<UpdatedKey> {
  const { env, author, id, body, expected } = input;
  const db = openDatabase(env.DB);
  const before = await requireTarget(db, changeableKey(input), expected);
  const changes = toKeyChanges(body);
  if (Object.keys(changes).length === 0) throw invalidRequest("This changes nothing.");
  await requireLimits(db, changes.plan ?? before.plan, { ...before, ...changes });
  const written = { ...changes, ...foldedOf({ ...before, ...changes }) };
  const updated = make(input, changeableKey(input), {
    call: "keys.update",
    before: Object.keys(changes),
    after: toAuditFields(changes),
    // The folded texts are of the key as it was read. After another change of a text, this one begins again.
    // The version ends the repetition: text that is not UTF-8 equals nothing that was read.
    onlyIf: sql`(version = ${before.version} or (name, owner_name, owner_email, note)
      is (${before.name}, ${before.ownerName}, ${before.ownerEmail}, ${before.note}))`,
    statements: [updateRow(apiKeys, id, written)],
  });
  const { now, isMade } = await conflictOnMissingLimit(LIMITS_LOST, updated);
  if (!isMade) return updateKey(input);
  logOwnLimits(id, changes, author);
  return { ...now, effective: await refreshAtOnce(env, { key: id }) };
}

/** Returns the columns that a search and the sums of an owner compare. */
function foldedOf({ name, ownerName, ownerEmail, note }: Pick<KeyChanges, KeyText>): KeyChanges {
  const search = [name, ownerName, ownerEmail, note].map((text) => foldForSearch(text ?? "")).join("\n");
  return { search, ownerKey: foldCase(ownerName ?? ownerEmail ?? "") };
}

/** Logs the limits of a key that override the limits of its plan. */
function logOwnLimits(
  keyId: string,
  { requestsPerMinute, requestsPerDay }: LimitChanges,
  { requestId }: Author,
): void {
  if (requestsPerMinute === undefined && requestsPerDay === undefined) return;
  const shown = (limit: number | null | undefined) => limit ?? (limit === null ? "of the plan" : "unchanged");
  logEvent("key_limits_set", {
    requestId,
    keyId,
    perMinute: shown(requestsPerMinute),
    perDay: shown(requestsPerDay),
  });
}

type TemporaryLimits = v.InferOutput<typeof temporaryLimits>;

/** Replaces the temporary limits of the key. The first of the `days` is the UTC day of the request. */
export async function limitTemporarily(input: ChangeInput<TemporaryLimits>): Promise<UpdatedKey> {
  const { env, author, id, body } = input;
  const { requestsPerMinute = null, requestsPerDay = null, days, reason } = body;
  requireTemporaryLimit(body);
  // Temporary limits end at a midnight: then a refusal by a window never ends before the window does.
  const temporaryUntil = midnightAfter(author.at, days);
  const until = rfc3339(temporaryUntil);
  const columns = {
    temporaryRequestsPerMinute: requestsPerMinute,
    temporaryRequestsPerDay: requestsPerDay,
    temporaryUntil,
  };
  const { now } = await make(input, changeableKey(input), {
    call: "keys.limit_temporarily",
    before: ["temporaryLimits"],
    after: { requestsPerMinute, requestsPerDay, until, reason },
    statements: [updateRow(apiKeys, id, columns)],
  });
  const shown = { perMinute: requestsPerMinute ?? "unchanged", perDay: requestsPerDay ?? "unchanged" };
  logEvent("key_limits_set", { requestId: author.requestId, keyId: id, ...shown, until });
  return { ...now, effective: await refreshAtOnce(env, { key: id }) };
}

export async function previewTemporaryLimits(input: ChangeInput<TemporaryLimits>): Promise<string[]> {
  const { env, author, body, expected } = input;
  requireTemporaryLimit(body);
  const db = openDatabase(env.DB);
  const key = await requireTarget(db, changeableKey(input), expected);
  const plan = await findPlanLimits(db, key.plan);
  const permanent = (name: Limit) => key[name] ?? plan?.[name] ?? 0;
  const live = await readLive(env, key, "inspect");
  const perDay = body.requestsPerDay ?? permanent("requestsPerDay");
  const isUsedUp = live !== null && live.day.used >= perDay;
  return [
    `Until ${formatTime(rfc3339(midnightAfter(author.at, body.days)))}, ${key.name} has other limits.`,
    ...LIMITS.map((name) => {
      const limit = permanent(name);
      return `${limitChange(name, key.limits[name], body[name] ?? limit)}. Permanent: ${formatNumber(limit)}.`;
    }),
    ...(live === null ? [] : [`Used today: ${formatNumber(live.day.used)} of ${formatNumber(perDay)}.`]),
    ...(isUsedUp ? ["Every request of the key is refused until midnight UTC."] : []),
  ];
}

function requireTemporaryLimit({ requestsPerMinute, requestsPerDay }: LimitChanges): void {
  if ((requestsPerMinute ?? requestsPerDay ?? null) !== null) return;
  throw invalidMembers(...LIMITS.map((member) => ({ member, reason: "at least one limit is required" })));
}

/** Without temporary limits this changes nothing and writes no audit row. */
export async function endTemporaryLimits(input: ChangeInput): Promise<UpdatedKey> {
  const { env, author, id } = input;
  const none = { temporaryRequestsPerMinute: null, temporaryRequestsPerDay: null, temporaryUntil: null };
  const { now } = await make(input, changeableKey(input), {
    call: "keys.end_temporary_limits",
    before: ["temporaryLimits"],
    onlyIf: sql`temporary_until > ${author.at}`,
    statements: [updateRow(apiKeys, id, none)],
  });
  return { ...now, effective: await refreshAtOnce(env, { key: id }) };
}

/**
 * The old secrets expire after the grace, or at their own earlier end. Without a version, this expects the
 * version that it reads, so that one of several rotations at once succeeds: each would end the secrets of the
 * others.
 */
export async function rotateKey(
  input: ChangeInput<v.InferOutput<typeof rotation>>,
): Promise<v.InferOutput<typeof rotatedKey>> {
  const { env, author, id, body, expected } = input;
  const db = openDatabase(env.DB);
  const before = await requireTarget(db, changeableKey(input), expected);
  if (before.status === "expired") throw conflict("An expired key cannot be rotated.");
  const { key, row } = await mintSecret(env, before, author.at);
  // The policy of a limiter also asks D1's clock whether a secret has ended.
  const auditedEnd = rfc3339Sql(sql`unixepoch() + ${body.graceSeconds}`);
  const call = "keys.rotate";
  const end = auditedTime(author, { call, object: id }, "oldSecretsExpireAt");
  const { now } = await make({ ...input, expected: before.version }, changeableKey(input), {
    call,
    before: ["hints"],
    after: sql`json_object('hint', ${row.hint}, 'oldSecretsExpireAt', ${auditedEnd})`,
    statements: [
      insertRow(keySecrets, row),
      {
        head: sql`update key_secrets set expires_at = ${end}`,
        where: sql`key_id = ${id} and hash <> ${row.hash} and (expires_at is null or expires_at > ${end})`,
      },
      updateRow(apiKeys, id, {}),
    ],
  });
  return { ...now, effective: await refreshAtOnce(env, { key: id }), key };
}

/** Ends one secret of a key at once. A secret that has ended stays unchanged, without an audit row. */
export async function retireSecret(input: ChangeInput & { readonly partId: string }): Promise<UpdatedKey> {
  const { env, author, id, partId: secretId, expected } = input;
  const db = openDatabase(env.DB);
  const { secrets } = await requireTarget(db, changeableKey(input), expected);
  if (!secrets.some((secret) => secret.id === secretId)) {
    throw notFound("The key has no secret with this id.");
  }
  const isNamed = sql`substr(hash, 1, ${SECRET_ID_CHARS}) = ${secretId}`;
  const named = sql`key_secrets where key_id = ${id} and ${isNamed}`;
  const valid = sql`key_secrets where key_id = ${id} and (expires_at is null or expires_at > unixepoch())`;
  const members = { secret: sql`${secretId}`, hint: sql`hint`, expiresAt: rfc3339Sql(sql`expires_at`) };
  const call = "keys.retire";
  const end = auditedTime(author, { call, object: id }, "expiresAt");
  const { now, isMade } = await make(input, changeableKey(input), {
    call,
    before: selectMembers(members, named),
    after: sql`json_object('expiresAt', ${rfc3339Sql(sql`unixepoch()`)})`,
    onlyIf: sql`exists (select 1 from ${valid} and ${isNamed})
      and exists (select 1 from ${valid} and not ${isNamed})`,
    statements: [
      { head: sql`update key_secrets set expires_at = ${end}`, where: sql`key_id = ${id} and ${isNamed}` },
      updateRow(apiKeys, id, {}),
    ],
  });
  // Asks D1 again, because the secret may have ended by D1's clock only.
  if (!isMade && (await db.all(sql`select 1 from ${valid} and ${isNamed}`)).length > 0) {
    throw conflict("This is the key's only valid secret. Rotate the key, or revoke it.");
  }
  return { ...now, effective: await refreshAtOnce(env, { key: id }) };
}

/** Revoking a revoked key changes nothing and writes no audit row. */
export async function revokeKey(input: ChangeInput): Promise<UpdatedKey> {
  const { env, author, id } = input;
  const { now } = await make(input, keyTarget(id, author.at), {
    call: "keys.revoke",
    before: ["status"],
    after: { status: "revoked" },
    onlyIf: sql`status <> 'revoked'`,
    statements: [updateRow(apiKeys, id, { status: "revoked" })],
  });
  return { ...now, effective: await refreshAtOnce(env, { key: id }) };
}

/** Makes the limiter of the key, or of all keys, read again: D1 was restored to an earlier state. */
export async function refreshKeys(
  input: Pick<ChangeInput, "env" | "author"> & { readonly id?: string },
): Promise<v.InferOutput<typeof refreshedKeys>> {
  const { env, author, id } = input;
  const db = openDatabase(env.DB);
  if (id !== undefined) await requireKey(db, id);
  const keys = id === undefined ? "all" : { key: id };
  const call = id === undefined ? "keys.refresh_all" : "keys.refresh";
  await transact(db, [audit(db, author, { call, object: id ?? "keys" }), markOutdated(keys)]);
  return { outdated: await refreshLimiters(env, keys, MAX_KEYS_AT_ONCE) };
}

/** A revoked key cannot be changed. */
function changeableKey({ id, author }: ChangeInput): Target<KeyRow, KeyView> {
  return {
    ...keyTarget(id, author.at),
    row: sql`api_keys where id = ${id} and status <> 'revoked'`,
    refuse: ({ status }) => {
      if (status === "revoked") throw conflict(REVOKED);
    },
  };
}

/** Each limit must be the key's own or its plan's. */
async function requireLimits(db: Database, planId: string, own: LimitChanges): Promise<void> {
  const plan = await findPlanLimits(db, planId);
  const missing = LIMITS.filter((field) => (own[field] ?? plan?.[field] ?? null) === null);
  if (missing.length === 0) return;
  const reason = `is required, as plan ${planName(planId)} has none of its own`;
  throw invalidMembers(...missing.map((member) => ({ member, reason })));
}

function toKeyChanges({ disabled, ...fields }: KeyUpdate): KeyChanges {
  const status = disabled === undefined ? undefined : disabled ? "disabled" : "active";
  const changes = Object.entries({ ...fields, status }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(changes);
}

function toAuditFields({ expiresAt, ...fields }: KeyChanges): Record<string, unknown> {
  return expiresAt === undefined ? fields : { ...fields, expiresAt: rfc3339OrNull(expiresAt) };
}
