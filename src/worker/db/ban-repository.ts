/** D1: live and past bans, and the ban overrides in key records. */
import { and, desc, eq, gt, inArray, isNull, type SQL, sql } from "drizzle-orm";
import type { Ban } from "../limiter/core/ban.ts";
import { rfc3339, rfc3339OrNull, toUnixSeconds } from "../time.ts";
import { type Database, rfc3339Sql } from "./database.ts";
import { apiKeys, bans } from "./schema.ts";

export type BanView = {
  readonly id: string;
  readonly keyId: string;
  readonly keyName: string | null;
  readonly cause: "strikes" | "operator";
  readonly reason: string | null;
  readonly strikes: number;
  readonly startedAt: string;
  readonly endsAt: string;
  readonly liftedAt: string | null;
  readonly liftedBy: string | null;
  readonly live: boolean;
};

export type BanRow = typeof bans.$inferSelect;

/** The live bans of a key that D1 knows of, the one that ends last first: at most one an operator set and one for strikes. */
export function selectLiveBans(db: Database, keyId: string, nowSeconds: number) {
  return db
    .select()
    .from(bans)
    .where(and(eq(bans.keyId, keyId), isLive(nowSeconds)))
    .orderBy(desc(bans.endsAt));
}

export async function findLastStrikeBanId(db: Database, keyId: string): Promise<string | undefined> {
  const row = await db
    .select({ id: bans.id })
    .from(bans)
    .where(and(eq(bans.keyId, keyId), eq(bans.cause, "strikes")))
    .orderBy(desc(bans.startedAt), desc(bans.id))
    .limit(1)
    .get();
  return row?.id;
}

export function isLive(nowSeconds: number): SQL {
  return sql`(${gt(bans.endsAt, nowSeconds)} and ${isNull(bans.liftedAt)})`;
}

/** A row that exists already is left as it is. */
export function insertBan(db: Database, row: typeof bans.$inferInsert) {
  return db.insert(bans).values(row).onConflictDoNothing();
}

export type Lifting = { readonly at: number; readonly by: string };

/** Marks the live ones of these bans as lifted. Returns them. */
export function markLifted(db: Database, ids: readonly string[], lifting: Lifting) {
  return db
    .update(bans)
    .set(liftedMembers(lifting))
    .where(and(inArray(bans.id, [...ids]), isLive(lifting.at)))
    .returning();
}

/** Marks the live bans of the key as lifted: those that are live when this batch runs. Returns them. */
export function markLiveBansLifted(db: Database, keyId: string, lifting: Lifting) {
  return db
    .update(bans)
    .set(liftedMembers(lifting))
    .where(and(eq(bans.keyId, keyId), isLive(lifting.at)))
    .returning();
}

/** The clock by which the ban began may be ahead of the one by which it is lifted. */
function liftedMembers({ at, by }: Lifting) {
  return { liftedAt: sql`max(${bans.startedAt}, ${at})`, liftedBy: by };
}

/**
 * The key's live ban that ends last, of these if given, as JSON text for the audit log, read when this batch runs. `also`
 * has the id of another live one, if there is one.
 */
export function selectLiveBanSummary(keyId: string, nowSeconds: number, ids?: readonly string[]): SQL {
  const isNamed = ids && inArray(bans.id, [...ids]);
  const live = sql`
    from ${bans} where ${and(eq(bans.keyId, keyId), isLive(nowSeconds), isNamed)} order by ends_at desc, id`;
  return sql`(
    select json_patch(
      json_object('ban', id, 'cause', cause, 'reason', reason, 'endsAt', ${rfc3339Sql(sql`ends_at`)}),
      json_object('also', (select id ${live} limit 1 offset 1)))
    ${live} limit 1)`;
}

/** Whether one of the bans is live when this batch runs. */
export function isAnyLive(ids: readonly string[], nowSeconds: number): SQL {
  return sql`exists (select 1 from ${bans} where ${and(inArray(bans.id, [...ids]), isLive(nowSeconds))})`;
}

/** Whether one of the bans is live, or the key's record does not name this one as forgiven yet, when this batch runs. */
export function isAnyLiveOrUnforgiven(
  ids: readonly string[],
  nowSeconds: number,
  keyId: string,
  forgivenBanId: string,
): SQL {
  return sql`(${isAnyLive(ids, nowSeconds)} or exists (
    select 1 from ${apiKeys} where id = ${keyId} and forgiven_ban_id is not ${forgivenBanId}))`;
}

/** The key's record names this operator ban from now on, and lifts the live ban for strikes, if the key has one. */
export function setOperatorBan(db: Database, keyId: string, banId: string, nowSeconds: number) {
  const liveStrikeBanId = sql`(
    select id from bans where key_id = ${keyId} and cause = 'strikes' and lifted_at is null and ends_at > ${nowSeconds}
    order by started_at desc limit 1)`;
  return db
    .update(apiKeys)
    .set({
      operatorBanId: banId,
      liftedBanId: sql`coalesce(${liveStrikeBanId}, ${apiKeys.liftedBanId})`,
    })
    .where(eq(apiKeys.id, keyId));
}

/**
 * The key's record lifts the bans that are named here and still live. Another operator ban, set meanwhile, stays. Returns
 * a row if the condition holds at this point of the batch.
 */
export function liftInRecord(
  db: Database,
  keyId: string,
  named: {
    readonly operatorBanId: string | undefined;
    readonly strikeBanId: string | undefined;
    readonly forgivenBanId: string | undefined;
  },
  nowSeconds: number,
  onlyIf: SQL,
) {
  // A lift that was written meanwhile, of a ban that began later, stays in the record.
  const liveStrikeBanId = sql`(
    select id from bans where id = ${named.strikeBanId ?? null} and lifted_at is null and ends_at > ${nowSeconds})`;
  return db
    .update(apiKeys)
    .set({
      operatorBanId: sql`nullif(${apiKeys.operatorBanId}, ${named.operatorBanId ?? null})`,
      liftedBanId: sql`coalesce(${liveStrikeBanId}, ${apiKeys.liftedBanId})`,
      forgivenBanId: sql`coalesce(${named.forgivenBanId ?? null}, ${apiKeys.forgivenBanId})`,
    })
    .where(and(eq(apiKeys.id, keyId), onlyIf))
    .returning({ id: apiKeys.id });
}

/** A limiter's ban as a row of D1, which stores whole seconds. */
export function toBanRow(keyId: string, ban: Ban): BanRow {
  return {
    id: ban.id,
    keyId,
    cause: ban.cause,
    reason: ban.reason,
    strikes: ban.strikes,
    startedAt: toUnixSeconds(ban.startedAtMs),
    endsAt: ban.endsAtMs / 1000,
    liftedAt: null,
    liftedBy: null,
  };
}

export function toBan(row: BanRow): Ban {
  const { id, cause, reason, strikes, startedAt, endsAt } = row;
  return { id, cause, reason, strikes, startedAtMs: startedAt * 1000, endsAtMs: endsAt * 1000 };
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
