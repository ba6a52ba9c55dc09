/** Rotates keys and retires their secrets. Each change and its audit row are one batch. */
import type { Bindings } from "../context.ts";
import { type Author, audit, type Change } from "../db/audit-repository.ts";
import { openDatabase, transact } from "../db/database.ts";
import { isUnchanged, type KeyRow, raiseVersion, selectKey, selectKeyMembers } from "../db/key-repository.ts";
import {
  expireOtherSecrets,
  insertSecret,
  isRetirable,
  retire,
  selectHasEnded,
  selectSecretMembers,
} from "../db/secret-repository.ts";
import { conflict, notFound } from "../errors.ts";
import { rfc3339 } from "../time.ts";
import {
  notifyLimiter,
  onlyKey,
  REVOKED,
  requireChangeableKey,
  type UpdatedKey,
  type WithSecret,
} from "./key-service.ts";
import { mintSecret } from "./mint-secret.ts";

const CHANGED =
  "The key was changed meanwhile, perhaps by another rotation. Look at it, and rotate it again if need be.";
const NO_SECRET = "The key has no secret with this id.";
const ONLY_SECRET = "This is the key's only valid secret. Rotate the key, or revoke it.";

/** The old secrets expire after the grace period, or earlier if they would have expired anyway. */
export async function rotateKey(
  env: Bindings,
  id: string,
  { graceSeconds }: { readonly graceSeconds: number },
  author: Author,
): Promise<WithSecret<UpdatedKey>> {
  const db = openDatabase(env.DB);
  const before = await requireChangeableKey(db, id);
  if (before.status === "expired") throw conflict("An expired key cannot be rotated.");
  const oldExpireAt = author.at + graceSeconds;
  const { key, row } = await mintSecret(env, before, author.at);
  const change: Change = {
    call: "keys.rotate",
    object: id,
    before: selectKeyMembers(id, ["hints"]),
    after: { hint: row.hint, oldSecretsExpireAt: rfc3339(oldExpireAt) },
  };
  // Of several rotations at once, one succeeds: each of them would let the secrets of the others expire.
  const condition = isUnchanged(id, before.version);
  const [, [inserted], , , rows] = await transact<[never, { id: string }, never, never, KeyRow]>(db, [
    audit(db, author, change, condition),
    insertSecret(row, condition),
    expireOtherSecrets(row, graceSeconds),
    raiseVersion(id, condition),
    selectKey(id, author.at),
  ]);
  const after = onlyKey(rows);
  if (!inserted) throw conflict(after.status === "revoked" ? REVOKED : CHANGED);
  return { ...(await notifyLimiter(env, after)), key };
}

/** Ends one secret of a key at once. A secret that has ended stays as it is, and no audit row is written. */
export async function retireSecret(
  env: Bindings,
  id: string,
  secretId: string,
  author: Author,
): Promise<UpdatedKey> {
  const db = openDatabase(env.DB);
  const before = await requireChangeableKey(db, id);
  if (!before.secrets.some((each) => each.id === secretId)) throw notFound(NO_SECRET);
  const change: Change = {
    call: "keys.retire",
    object: id,
    before: selectSecretMembers(id, secretId),
    after: { expiresAt: rfc3339(author.at) },
  };
  const isRetired = isRetirable(id, secretId);
  const [, , [retired], [secret], rows] = await transact<
    [never, never, { id: string }, { hasEnded: number }, KeyRow]
  >(db, [
    audit(db, author, change, isRetired),
    raiseVersion(id, isRetired),
    retire(id, secretId),
    selectHasEnded(id, secretId),
    selectKey(id, author.at),
  ]);
  const key = onlyKey(rows);
  if (!retired && key.status === "revoked") throw conflict(REVOKED);
  if (secret?.hasEnded !== 1) throw conflict(ONLY_SECRET);
  return notifyLimiter(env, key);
}
