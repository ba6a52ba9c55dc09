/** Rotates keys and retires their secrets. Each change and its audit row are one batch. */
import type { Bindings } from "../context.ts";
import { type Author, audit, type Change } from "../db/audit-repository.ts";
import { openDatabase, transact } from "../db/database.ts";
import { isUnchanged, type KeyRow, type KeyView, selectKey, selectKeyMembers } from "../db/key-repository.ts";
import {
  endOtherSecrets,
  expireOtherSecrets,
  insertSecret,
  isRetirable,
  retire,
  selectEnd,
  selectIsEnded,
  selectSecretMembers,
} from "../db/secret-repository.ts";
import { conflict, notFound } from "../errors.ts";
import { rfc3339OrNull } from "../time.ts";
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
  const { key, row } = await mintSecret(id, author.at);
  const change: Change = {
    call: "keys.rotate",
    object: id,
    before: selectKeyMembers(id, ["hints"]),
    after: { hint: row.hint, oldSecretsExpireAt: rfc3339OrNull(oldExpireAt) },
  };
  // Of several rotations at once, one succeeds: each of them would let the secrets of the others expire.
  const condition = isUnchanged(id, before.version);
  const [, [inserted], , rows] = await transact<[never, { id: string }, never, KeyRow]>(db, [
    audit(db, author, change, condition),
    insertSecret(row, condition),
    graceSeconds === 0 ? endOtherSecrets(row, author.at) : expireOtherSecrets(row, oldExpireAt),
    selectKey(id, author.at),
  ]);
  const after = onlyKey(rows);
  if (!inserted) throw conflict(after.status === "revoked" ? REVOKED : CHANGED);
  return { ...(await notifyLimiter(env, after)), key };
}

/** Ends one secret of a key at once. A secret that an operator has ended already stays as it is, and no audit row is written. */
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
    after: selectEnd(id, secretId, author.at),
  };
  const [, [retired], [secret], rows] = await transact<[never, { id: string }, { isEnded: number }, KeyRow]>(
    db,
    [
      audit(db, author, change, isRetirable(id, secretId, author.at)),
      retire(id, secretId, author.at),
      selectIsEnded(id, secretId),
      selectKey(id, author.at),
    ],
  );
  const key = onlyKey(rows);
  if (!retired && key.status === "revoked") throw conflict(REVOKED);
  if (secret?.isEnded !== 1 && isValid(key, secretId, author.at)) throw conflict(ONLY_SECRET);
  return notifyLimiter(env, key);
}

function isValid({ secrets }: KeyView, secretId: string, nowSeconds: number): boolean {
  const expiresAt = secrets.find(({ id }) => id === secretId)?.expiresAt;
  return expiresAt === null || (expiresAt !== undefined && Date.parse(expiresAt) > nowSeconds * 1000);
}
