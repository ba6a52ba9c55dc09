/** D1: the secrets of keys. Changes are statements, so that a caller can batch its audit row with them. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, rfc3339Sql, type Statement } from "../../db/database.ts";
import type { keySecrets } from "../../db/schema.ts";
import { auditedTime, selectMembers } from "../audit/sql.ts";
import { isChangeable, SECRET_ID_CHARS } from "./sql.ts";

export type NewSecret = Pick<typeof keySecrets.$inferInsert, "hash" | "keyId" | "hint" | "createdAt">;

/** Adds the secret if the condition holds at this point of the batch. */
export function insertSecret({ hash, keyId, hint, createdAt }: NewSecret, condition: SQL): Statement {
  return sql`
    insert into key_secrets (hash, key_id, hint, created_at)
    select ${hash}, ${keyId}, ${hint}, ${createdAt} where ${condition}`;
}

/** For the audit log. Here and in the policy of a limiter, D1's clock says whether a secret has ended. */
export function selectRotation({ hint }: NewSecret, graceSeconds: number): SQL {
  const end = rfc3339Sql(sql`unixepoch() + ${graceSeconds}`);
  return sql`json_object('hint', ${hint}, 'oldSecretsExpireAt', ${end})`;
}

/** For the audit log. */
export function selectRetirement(): SQL {
  return sql`json_object('expiresAt', ${rfc3339Sql(sql`unixepoch()`)})`;
}

/**
 * If the batch has added the new secret: lets the key's other secrets expire at the time in the audit row.
 * A secret that expires earlier keeps its end.
 */
export function expireOtherSecrets({ keyId, hash }: NewSecret): Statement {
  const end = auditedTime("oldSecretsExpireAt");
  return sql`
    update key_secrets set expires_at = ${end}
    where key_id = ${keyId} and hash <> ${hash} and (expires_at is null or expires_at > ${end})
      and exists (select 1 from key_secrets where hash = ${hash})`;
}

/** Ends one secret at the time in the audit row, if the condition holds at this point of the batch. */
export function retire(keyId: string, secretId: string, condition: SQL): Statement {
  return sql`
    update key_secrets set expires_at = ${auditedTime("expiresAt")}
    where key_id = ${keyId} and ${isNamed(secretId)} and ${condition}`;
}

/** Whether the secret has ended, at this point of the batch. */
export function selectHasEnded(keyId: string, secretId: string): Statement {
  return sql`
    select expires_at is not null and expires_at <= unixepoch() as hasEnded
    from key_secrets where key_id = ${keyId} and ${isNamed(secretId)}`;
}

/** For the audit log: the secret without its hash. */
export function selectSecretMembers(keyId: string, secretId: string): SQL {
  const members = { secret: sql`${secretId}`, hint: sql`hint`, expiresAt: rfc3339Sql(sql`expires_at`) };
  const row = sql`key_secrets where key_id = ${keyId} and ${isNamed(secretId)}`;
  return selectMembers(members, Object.keys(members), row);
}

/** Whether the secret has not ended and another one of the key has not either, at this point of the batch. */
export function isRetirable(keyId: string, secretId: string, expectedVersion: number | undefined): SQL {
  const valid = sql`key_secrets where key_id = ${keyId} and (expires_at is null or expires_at > unixepoch())`;
  return sql`(${isChangeable(keyId, expectedVersion)}
    and exists (select 1 from ${valid} and ${isNamed(secretId)})
    and exists (select 1 from ${valid} and not ${isNamed(secretId)}))`;
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
