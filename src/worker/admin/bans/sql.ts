/** D1: the bans of keys, and what a key's limiter applies of them. */
import { gt, isNull, type SQL, sql } from "drizzle-orm";
import { type Database, rfc3339Sql, type Statement } from "../../db/database.ts";
import { bans } from "../../db/schema.ts";
import { rfc3339, rfc3339OrNull } from "../../time.ts";
import { keyExists } from "../keys/sql.ts";
import type { BanView } from "./schema.ts";

export type BanRow = typeof bans.$inferSelect;

export function isLive(nowSeconds: number): SQL {
  return sql`(${gt(bans.endsAt, nowSeconds)} and ${isNull(bans.liftedAt)})`;
}

export function insertBan(
  { id, keyId, cause, reason, strikes, startedAt, endsAt }: BanRow,
  condition: SQL,
): Statement {
  return sql`
    insert into bans (id, key_id, cause, reason, strikes, started_at, ends_at)
    select ${id}, ${keyId}, ${cause}, ${reason}, ${strikes}, ${startedAt}, ${endsAt} where ${condition}`;
}

export type Lifting = { readonly at: number; readonly by: string };

/** Marks the live bans of the key as lifted: those that are live when this batch runs. Returns them as `BanRow`. */
export function markLiveBansLifted(keyId: string, { at, by }: Lifting, condition: SQL): Statement {
  // The clock by which the ban began may be ahead of the one by which it is lifted.
  return sql`
    update bans set lifted_at = max(started_at, ${at}), lifted_by = ${by}
    where ${ofKeyAndLive(keyId, at)} and ${condition}
    returning id, key_id as keyId, cause, reason, strikes, started_at as startedAt, ends_at as endsAt,
      lifted_at as liftedAt, lifted_by as liftedBy`;
}

/**
 * The key's live ban that ends last, as JSON text for the audit log, read when this batch runs. `also` has the id of another live
 * one, if there is one.
 */
export function selectLiveBanSummary(keyId: string, nowSeconds: number): SQL {
  const live = sql`from bans where ${ofKeyAndLive(keyId, nowSeconds)} order by ends_at desc, id`;
  return sql`(
    select json_patch(
      json_object('ban', id, 'cause', cause, 'reason', reason, 'endsAt', ${rfc3339Sql(sql`ends_at`)}),
      json_object('also', (select id ${live} limit 1 offset 1)))
    ${live} limit 1)`;
}

/** Whether the key has the expected version and a live ban when this batch runs. */
export function isLiftable(keyId: string, nowSeconds: number, expectedVersion: number | undefined): SQL {
  return sql`
    (${keyExists(keyId, expectedVersion)} and exists (select 1 from bans where ${ofKeyAndLive(keyId, nowSeconds)}))`;
}

function ofKeyAndLive(keyId: string, nowSeconds: number): SQL {
  return sql`key_id = ${keyId} and ends_at > ${nowSeconds} and lifted_at is null`;
}

/** If the condition holds: the ban that the key's limiter applies from now on, or none. A live ban for strikes is pardoned. */
export function setBan(
  keyId: string,
  ban: Pick<BanRow, "endsAt" | "reason"> | null,
  nowSeconds: number,
  condition: SQL,
): Statement {
  return sql`
    update api_keys set banned_until = ${ban?.endsAt ?? null}, ban_reason = ${ban?.reason ?? null}, version = version + 1,
      pardoned_ban_id = coalesce((
        select id from bans where ${ofKeyAndLive(keyId, nowSeconds)} and cause = 'strikes' order by started_at desc limit 1),
        pardoned_ban_id)
    where id = ${keyId} and ${condition}`;
}

export type SetBan = { readonly endsAt: number; readonly reason: string };

/** The ban that an operator has set, if it is live. */
export async function findSetBan(
  db: Database,
  keyId: string,
  nowSeconds: number,
): Promise<SetBan | undefined> {
  return db.get<SetBan | undefined>(sql`
    select banned_until as endsAt, ban_reason as reason from api_keys where id = ${keyId} and banned_until > ${nowSeconds}`);
}

export function toBanView(row: BanRow, keyName: string | null, nowSeconds: number): BanView {
  return {
    id: row.id,
    keyId: row.keyId,
    keyName,
    cause: row.cause,
    reason: row.reason,
    strikes: row.strikes,
    startedAt: rfc3339(row.startedAt),
    endsAt: rfc3339(row.endsAt),
    liftedAt: rfc3339OrNull(row.liftedAt),
    liftedBy: row.liftedBy,
    live: row.liftedAt === null && nowSeconds < row.endsAt,
  };
}
