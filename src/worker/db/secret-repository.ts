/** D1: the secrets of keys. Changes are statements, so that a caller can batch its audit row with them. */
import { type SQL, sql } from "drizzle-orm";
import { selectMembers } from "./audit-repository.ts";
import { type Database, rfc3339Sql, type Statement } from "./database.ts";
import { isChangeable, SECRET_ID_CHARS } from "./key-repository.ts";
import type { keySecrets } from "./schema.ts";

export type NewSecret = Pick<typeof keySecrets.$inferInsert, "hash" | "keyId" | "hint" | "createdAt">;

/** Adds the secret if the condition holds at this point of the batch. Returns a row if it did. */
export function insertSecret({ hash, keyId, hint, createdAt }: NewSecret, condition: SQL): Statement {
  return sql`
    insert into key_secrets (hash, key_id, hint, created_at)
    select ${hash}, ${keyId}, ${hint}, ${createdAt} where ${condition}
    returning key_id as id`;
}

/** If the batch has added the new secret: lets the key's others expire at `expiresAt`, except those that expire earlier anyway. */
export function expireOtherSecrets(secret: NewSecret, expiresAt: number): Statement {
  return sql`
    update key_secrets set expires_at = ${expiresAt}
    where ${areOthers(secret)} and (expires_at is null or expires_at > ${expiresAt})`;
}

/** If the batch has added the new secret: ends the key's others at once. */
export function endOtherSecrets(secret: NewSecret, nowSeconds: number): Statement {
  return sql`update key_secrets set ${ended(nowSeconds)} where ${areOthers(secret)}`;
}

/** Those that an operator has ended stay as they are. */
function areOthers({ keyId, hash }: NewSecret): SQL {
  return sql`(key_id = ${keyId} and hash <> ${hash} and not is_ended
      and exists (select 1 from key_secrets where hash = ${hash}))`;
}

/** Also one that has expired, which the clock of another isolate may not know yet (ADR-26). */
function ended(nowSeconds: number): SQL {
  return sql`expires_at = ${endAt(nowSeconds)}, is_ended = 1`;
}

/** One that has expired keeps its end. */
function endAt(nowSeconds: number): SQL {
  return sql`min(coalesce(expires_at, ${nowSeconds}), ${nowSeconds})`;
}

/** For the audit log: when the secret will have ended if it is retired. */
export function selectEnd(keyId: string, secretId: string, nowSeconds: number): SQL {
  const row = sql`key_secrets where key_id = ${keyId} and ${isNamed(secretId)}`;
  return selectMembers({ expiresAt: rfc3339Sql(endAt(nowSeconds)) }, ["expiresAt"], row);
}

/** Ends one secret at once, if `isRetirable`. Returns a row if it did. */
export function retire(keyId: string, secretId: string, nowSeconds: number): Statement {
  return sql`
    update key_secrets set ${ended(nowSeconds)}
    where key_id = ${keyId} and ${isNamed(secretId)} and ${isRetirable(keyId, secretId, nowSeconds)}
    returning key_id as id`;
}

/** Whether an operator has ended the secret, at this point of the batch. */
export function selectIsEnded(keyId: string, secretId: string): Statement {
  return sql`select is_ended as isEnded from key_secrets where key_id = ${keyId} and ${isNamed(secretId)}`;
}

/** For the audit log: the secret without its hash. */
export function selectSecretMembers(keyId: string, secretId: string): SQL {
  const members = { secret: sql`${secretId}`, hint: sql`hint`, expiresAt: rfc3339Sql(sql`expires_at`) };
  const row = sql`key_secrets where key_id = ${keyId} and ${isNamed(secretId)}`;
  return selectMembers(members, Object.keys(members), row);
}

/** Whether no operator has ended the secret, and it has expired or another one of the key is valid, at this point of the batch. */
export function isRetirable(keyId: string, secretId: string, nowSeconds: number): SQL {
  const ofKey = sql`key_secrets where key_id = ${keyId} and not is_ended`;
  return sql`(${isChangeable(keyId)}
    and exists (select 1 from ${ofKey} and ${isNamed(secretId)})
    and (exists (select 1 from ${ofKey} and ${isNamed(secretId)} and expires_at <= ${nowSeconds})
      or exists (select 1 from ${ofKey} and not ${isNamed(secretId)} and (expires_at is null or expires_at > ${nowSeconds}))))`;
}

function isNamed(secretId: string): SQL {
  return sql`substr(hash, 1, ${SECRET_ID_CHARS}) = ${secretId}`;
}

export async function listKeyIdsByHash(db: Database, hash: string): Promise<string[]> {
  const rows = await db.all<{ id: string }>(sql`select key_id as id from key_secrets where hash = ${hash}`);
  return rows.map(({ id }) => id);
}

/** The last four characters are searched for in an index, any case: read out, an upper-case letter is easily lost. */
export async function listKeyIdsByLastChars(
  db: Database,
  hint: { readonly beginning: string; readonly lastChars: string },
  maxKeys: number,
): Promise<string[]> {
  const rows = await db.all<{ id: string }>(sql`
    select key_id as id from key_secrets
    where substr(hint, -4) = ${hint.lastChars} collate nocase and instr(hint, ${hint.beginning}) = 1
    limit ${maxKeys}`);
  return [...new Set(rows.map(({ id }) => id))];
}
