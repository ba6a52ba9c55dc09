/** Issues, changes and revokes keys. Each change and its audit row are one batch. */
import type { Location } from "../../auth/key.ts";
import type { Bindings } from "../../context.ts";
import { type Database, openDatabase, transact } from "../../db/database.ts";
import { markUntold } from "../../db/untold-keys-repository.ts";
import { conflict, invalidRequest, notFound } from "../../errors.ts";
import { reachLimiter } from "../../limit.ts";
import { logEvent } from "../../log.ts";
import { nowSeconds, rfc3339OrNull } from "../../time.ts";
import { type Audited, type Author, audit, type Change, isAudited } from "../audit/sql.ts";
import { findSetBan } from "../bans/sql.ts";
import { findPlanLimits, type LimitChanges } from "../plans/sql.ts";
import { requireVersion } from "../precondition.ts";
import { type Effective, MAX_KEYS_AT_ONCE, tellAtOnce, tellLimiters } from "../tell-limiters.ts";
import { conflictOnMissingLimit } from "../write-conflict.ts";
import { toLiveUsage, unusedUsage } from "./live.ts";
import { mintSecret, newKeyId } from "./mint.ts";
import type { KeyView, LiveUsage } from "./schema.ts";
import { insertSecret } from "./secrets-sql.ts";
import {
  findKey,
  insertKey,
  isChangeable,
  isUnusedId,
  type KeyChanges,
  type KeyRow,
  selectKey,
  selectKeyMembers,
  toKeyView,
  updateKeyRow,
} from "./sql.ts";

const LIMITS_LOST = "Another change was stored first. Together they would leave the key without a limit.";
const NO_KEY = "No key has this id.";
export const REVOKED = "The key is revoked, which is permanent.";

export type UpdatedKey = KeyView & { readonly effective: Effective };
/** `key` is the secret in full. No other response contains it. */
export type WithSecret<View extends KeyView> = View & { readonly key: string };

export async function requireKey(db: Database, id: string): Promise<KeyView> {
  const key = await findKey(db, id, nowSeconds());
  if (!key) throw notFound(NO_KEY);
  return key;
}

export async function inspectKey(env: Bindings, id: string): Promise<KeyView & { live: LiveUsage | null }> {
  const db = openDatabase(env.DB);
  const key = await requireKey(db, id);
  // Only a client's request may create the object of a key: an object stays where it was first called.
  if (key.firstUsedAt === null) {
    return { ...key, live: unusedUsage(key.limits, await findSetBan(db, id, nowSeconds())) };
  }
  const inspection = await reachLimiter(env, key, (limiter) => limiter.inspect());
  return { ...key, live: inspection ? toLiveUsage(inspection) : null };
}

type KeyFields = LimitChanges & {
  readonly ownerName?: string | null | undefined;
  readonly ownerEmail?: string | null | undefined;
  readonly note?: string | null | undefined;
  readonly expiresAt?: number | null | undefined;
};
export type KeyRequest = KeyFields & {
  /** Made by the client with `mintKeyId`, so that sending the request again cannot make two keys. */
  readonly id?: string | undefined;
  readonly name: string;
  readonly plan: string;
  readonly location?: Location | null | undefined;
};
export type KeyUpdate = KeyFields & {
  readonly name?: string | undefined;
  readonly plan?: string | undefined;
  readonly disabled?: boolean | undefined;
};

export async function issueKey(
  env: Bindings,
  request: KeyRequest,
  author: Author,
): Promise<WithSecret<KeyView>> {
  const db = openDatabase(env.DB);
  await requireLimits(db, request.plan, request);
  const { name, plan, requestsPerMinute = null, requestsPerDay = null, expiresAt = null } = request;
  const { ownerName = null, ownerEmail = null, note = null, location = null } = request;
  const limits = { requestsPerMinute, requestsPerDay };
  const fields = { name, ownerName, ownerEmail, note, plan, ...limits, expiresAt, location };
  const id = request.id ?? newKeyId();
  const { key, row } = await mintSecret(env, { id, location }, author.at);
  const after = { ...toAuditFields(fields), hint: row.hint };
  const change: Change = { call: "keys.create", object: id, after };
  const isMade = isAudited(author, change);
  const issued = transact<[Audited, never, never, KeyRow]>(db, [
    audit(db, author, change, isUnusedId(id)),
    insertKey({ ...fields, id, createdAt: author.at }, isMade),
    insertSecret(row, isMade),
    selectKey(id, author.at),
  ]);
  const [[audited], , , rows] = await conflictOnMissingLimit(LIMITS_LOST, issued);
  if (!audited) throw conflict(`Key ${id} exists already.`);
  if (requestsPerMinute !== null || requestsPerDay !== null) logOwnLimits(id, request, author);
  return { ...onlyKey(rows), key };
}

export async function updateKey(
  env: Bindings,
  id: string,
  update: KeyUpdate,
  author: Author,
  expectedVersion?: number,
): Promise<UpdatedKey> {
  const db = openDatabase(env.DB);
  const before = await requireChangeableKey(db, id, expectedVersion);
  const changes = toKeyChanges(update);
  if (Object.keys(changes).length === 0) throw invalidRequest("This changes nothing.");
  await requireLimits(db, changes.plan ?? before.plan, { ...before, ...changes });
  const change: Change = {
    call: "keys.update",
    object: id,
    before: selectKeyMembers(id, Object.keys(changes)),
    after: toAuditFields(changes),
  };
  const updated = transact<[Audited, never, KeyRow]>(db, [
    audit(db, author, change, isChangeable(id, expectedVersion)),
    updateKeyRow(db, id, changes, isAudited(author, change)),
    selectKey(id, author.at),
  ]);
  const [[audited], , rows] = await conflictOnMissingLimit(LIMITS_LOST, updated);
  const key = onlyKey(rows);
  if (!audited && key.status === "revoked") throw conflict(REVOKED);
  if (!audited) requireVersion(key, expectedVersion);
  logOwnLimits(id, changes, author);
  return tellLimiter(env, key);
}

/** Limits of a key's own override those of its plan. */
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

/** Revoking a revoked key changes nothing and writes no audit row. */
export async function revokeKey(
  env: Bindings,
  id: string,
  author: Author,
  expectedVersion?: number,
): Promise<UpdatedKey> {
  const db = openDatabase(env.DB);
  await requireKey(db, id);
  const change: Change = {
    call: "keys.revoke",
    object: id,
    before: selectKeyMembers(id, ["status"]),
    after: { status: "revoked" },
  };
  const [[audited], , rows] = await transact<[Audited, never, KeyRow]>(db, [
    audit(db, author, change, isChangeable(id, expectedVersion)),
    updateKeyRow(db, id, { status: "revoked" }, isAudited(author, change)),
    selectKey(id, author.at),
  ]);
  const key = onlyKey(rows);
  if (!audited) requireVersion(key, expectedVersion);
  return tellLimiter(env, key);
}

/** `key`: as the change has left it. `isReported`: D1 had each ban of the limiter before the change. */
export async function tellLimiter(env: Bindings, key: KeyView, isReported = true): Promise<UpdatedKey> {
  const effective = await tellAtOnce(env, { key: key.id });
  return { ...key, effective: isReported ? effective : "within minutes" };
}

/** Tells the limiter of the key, or the limiters of all keys, though nothing changed: D1 was restored. */
export async function tellKeys(
  env: Bindings,
  id: string | undefined,
  author: Author,
): Promise<{ readonly untold: number | null }> {
  const db = openDatabase(env.DB);
  if (id !== undefined) await requireKey(db, id);
  const keys = id === undefined ? "all" : { key: id };
  await transact(db, [audit(db, author, { call: "keys.tell", object: id ?? "keys" }), markUntold(keys)]);
  return { untold: await tellLimiters(env, keys, MAX_KEYS_AT_ONCE) };
}

export async function requireChangeableKey(
  db: Database,
  id: string,
  expectedVersion: number | undefined,
): Promise<KeyView> {
  const key = await requireKey(db, id);
  if (key.status === "revoked") throw conflict(REVOKED);
  requireVersion(key, expectedVersion);
  return key;
}

export function onlyKey([row]: readonly KeyRow[]): KeyView {
  if (!row) throw new Error("the batch found no key"); // keys are never deleted
  return toKeyView(row);
}

/** Each limit must be the key's own or its plan's. */
async function requireLimits(db: Database, planId: string, own: LimitChanges): Promise<void> {
  const plan = await findPlanLimits(db, planId);
  const missing = (["requestsPerMinute", "requestsPerDay"] as const).filter(
    (field) => (own[field] ?? plan?.[field] ?? null) === null,
  );
  if (missing.length === 0) return;
  throw invalidRequest(
    missing.map((field) => `${field}: is required, as plan ${planId} has none of its own`).join("; "),
  );
}

function toKeyChanges({ disabled, ...fields }: KeyUpdate): KeyChanges {
  const status = disabled === undefined ? undefined : disabled ? "disabled" : "active";
  const changes = Object.entries({ ...fields, status }).filter(([, value]) => value !== undefined);
  // Without its undefined members the object has the type with optional members.
  return Object.fromEntries(changes) as KeyChanges;
}

function toAuditFields(changes: KeyChanges): Record<string, unknown> {
  const { expiresAt, ...rest } = changes;
  return expiresAt === undefined ? rest : { ...rest, expiresAt: rfc3339OrNull(expiresAt) };
}
