/** Rotates keys and retires their secrets. Each change and its audit row are one batch. */
import type { Bindings } from "../../context.ts";
import { openDatabase, transact } from "../../db/database.ts";
import { conflict, notFound } from "../../errors.ts";
import { type Audited, type Author, audit, type Change, isAudited } from "../audit/sql.ts";
import { requireVersion } from "../precondition.ts";
import { mintSecret } from "./mint.ts";
import {
  expireOtherSecrets,
  insertSecret,
  isRetirable,
  retire,
  selectHasEnded,
  selectRetirement,
  selectRotation,
  selectSecretMembers,
} from "./secrets-sql.ts";
import {
  onlyKey,
  REVOKED,
  requireChangeableKey,
  tellLimiter,
  type UpdatedKey,
  type WithSecret,
} from "./service.ts";
import { isChangeable, type KeyRow, selectKey, selectKeyMembers, updateKeyRow } from "./sql.ts";

const NO_SECRET = "The key has no secret with this id.";
const ONLY_SECRET = "This is the key's only valid secret. Rotate the key, or revoke it.";

/**
 * The old secrets expire after the grace period, or earlier if they would have expired anyway. Without a version, the one that is read
 * here is expected: of several rotations at once one succeeds, since each would let the secrets of the others expire.
 */
export async function rotateKey(
  env: Bindings,
  id: string,
  { graceSeconds }: { readonly graceSeconds: number },
  author: Author,
  expectedVersion?: number,
): Promise<WithSecret<UpdatedKey>> {
  const db = openDatabase(env.DB);
  const before = await requireChangeableKey(db, id, expectedVersion);
  if (before.status === "expired") throw conflict("An expired key cannot be rotated.");
  const { key, row } = await mintSecret(env, before, author.at);
  const change: Change = {
    call: "keys.rotate",
    object: id,
    before: selectKeyMembers(id, ["hints"]),
    after: selectRotation(row, graceSeconds),
  };
  const isMade = isAudited(author, change);
  const [[audited], , , , rows] = await transact<[Audited, never, never, never, KeyRow]>(db, [
    audit(db, author, change, isChangeable(id, before.version)),
    insertSecret(row, isMade),
    expireOtherSecrets(row),
    updateKeyRow(db, id, {}, isMade),
    selectKey(id, author.at),
  ]);
  const after = onlyKey(rows);
  if (!audited && after.status === "revoked") throw conflict(REVOKED);
  if (!audited) requireVersion(after, before.version);
  return { ...(await tellLimiter(env, after)), key };
}

/** Ends one secret of a key at once. A secret that has ended stays as it is, and no audit row is written. */
export async function retireSecret(
  env: Bindings,
  id: string,
  secretId: string,
  author: Author,
  expectedVersion?: number,
): Promise<UpdatedKey> {
  const db = openDatabase(env.DB);
  const before = await requireChangeableKey(db, id, expectedVersion);
  if (!before.secrets.some((each) => each.id === secretId)) throw notFound(NO_SECRET);
  const change: Change = {
    call: "keys.retire",
    object: id,
    before: selectSecretMembers(id, secretId),
    after: selectRetirement(),
  };
  const isMade = isAudited(author, change);
  const [[audited], , , [secret], rows] = await transact<
    [Audited, never, never, { hasEnded: number }, KeyRow]
  >(db, [
    audit(db, author, change, isRetirable(id, secretId, expectedVersion)),
    updateKeyRow(db, id, {}, isMade),
    retire(id, secretId, isMade),
    selectHasEnded(id, secretId),
    selectKey(id, author.at),
  ]);
  const key = onlyKey(rows);
  if (!audited && key.status === "revoked") throw conflict(REVOKED);
  if (!audited) requireVersion(key, expectedVersion);
  if (secret?.hasEnded !== 1) throw conflict(ONLY_SECRET);
  return tellLimiter(env, key);
}
