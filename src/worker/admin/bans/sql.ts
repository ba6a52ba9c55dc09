/** D1: the bans of keys, and the ban that the limiter of a key applies. */
import { gt, isNull, type SQL, sql } from "drizzle-orm";
import type { Author } from "../../context.ts";
import { type Conditional, type Database, rfc3339Sql } from "../../db/database.ts";
import { apiKeys, bans } from "../../db/schema.ts";
import { rfc3339, rfc3339OrNull } from "../../text/time.ts";
import { type Made, updateRows } from "../change.ts";
import type { BanView } from "./schema.ts";

export type BanRow = Omit<typeof bans.$inferSelect, "customerId">;

export function isLive(nowSeconds: number): SQL {
  return sql`(${gt(bans.endsAt, nowSeconds)} and ${isNull(bans.liftedAt)})`;
}

/**
 * Lifts the bans that are live when the batch runs, pardons the last ban for strikes among them, and makes
 * the limiter apply this ban, or none. Returns the lifted bans as `BanRow`.
 */
export function replaceLiveBans(
  keyId: string,
  ban: Pick<BanRow, "endsAt" | "reason"> | null,
  { at, actor }: Author,
  made: Made,
): Conditional[] {
  const live = ofKeyAndLive(keyId, at);
  const values = {
    bannedUntil: ban?.endsAt ?? null,
    banReason: ban?.reason ?? null,
    pardonedBanId: sql`coalesce((
      select id from bans where ${live} and cause = 'strikes' order by started_at desc limit 1), pardoned_ban_id)`,
  };
  return [
    updateRows({ table: apiKeys }, made, [], values),
    // The ban may have begun by a clock that is ahead of this one.
    {
      head: sql`update bans set lifted_at = max(started_at, ${at}), lifted_by = ${actor}`,
      where: live,
      tail: sql`
        returning id, key_id as keyId, cause, reason, strikes, started_at as startedAt, ends_at as endsAt,
          lifted_at as liftedAt, lifted_by as liftedBy`,
    },
  ];
}

/**
 * Reads the key's live ban that ends last as JSON text for the audit log, when the batch runs. `also` is the
 * id of another live ban.
 */
export function selectLiveBanSummary(keyId: string, nowSeconds: number): SQL {
  const live = sql`from bans where ${ofKeyAndLive(keyId, nowSeconds)} order by ends_at desc, id`;
  return sql`(
    select json_patch(
      json_object('ban', id, 'cause', cause, 'reason', reason, 'endsAt', ${rfc3339Sql(sql`ends_at`)}),
      json_object('also', (select id ${live} limit 1 offset 1)))
    ${live} limit 1)`;
}

export function ofKeyAndLive(keyId: string, nowSeconds: number): SQL {
  return sql`key_id = ${keyId} and ends_at > ${nowSeconds} and lifted_at is null`;
}

export type SetBan = { readonly endsAt: number; readonly reason: string };

/** Finds the live ban that an operator has set. */
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
