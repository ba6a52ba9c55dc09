/** D1: the bans there are and were. A limiter acts on its own state; these rows are for people. */
import { and, desc, eq, gt, isNull, lte, not, type SQL, sql } from "drizzle-orm";
import type { Ban } from "../limiter/core/ban.ts";
import type { BanOverride } from "../limiter/core/ban-override.ts";
import { rfc3339, rfc3339OrNull } from "../time.ts";
import type { Database } from "./database.ts";
import { apiKeys, banOverrides, bans } from "./schema.ts";
import { toBanRow } from "./usage-report-repository.ts";

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

export type BanFilter = {
  readonly state: "live" | "past" | "all";
  readonly key?: string | undefined;
  readonly limit: number;
};

/** Newest first. */
export async function listBans(db: Database, filter: BanFilter, nowSeconds: number): Promise<BanView[]> {
  const live = and(gt(bans.endsAt, nowSeconds), isNull(bans.liftedAt));
  const conditions: (SQL | undefined)[] = [];
  if (filter.state === "live") conditions.push(live);
  if (filter.state === "past" && live) conditions.push(not(live));
  if (filter.key !== undefined) conditions.push(eq(bans.keyId, filter.key));
  const rows = await db
    .select({ ban: bans, keyName: apiKeys.name })
    .from(bans)
    .leftJoin(apiKeys, eq(apiKeys.id, bans.keyId))
    .where(and(...conditions))
    .orderBy(desc(bans.startedAt), desc(bans.id))
    .limit(filter.limit);
  return rows.map(({ ban, keyName }) => toBanView(ban, keyName, nowSeconds));
}

export function insertBan(db: Database, keyId: string, ban: Ban) {
  return db.insert(bans).values(toBanRow(keyId, ban));
}

/** For the limiter, should it not be reached now: it comes with the key's record. */
export function putBanOverride(db: Database, keyId: string, override: BanOverride) {
  const text = JSON.stringify(override);
  return db
    .insert(banOverrides)
    .values({ keyId, override: text })
    .onConflictDoUpdate({ target: banOverrides.keyId, set: { override: text } });
}

/** When a override is issued: after the key's last one, though another machine's clock that runs ahead may have issued that. */
export async function banOverrideTimeMs(db: Database, keyId: string, nowMs: number): Promise<number> {
  const last = await db
    .select({ atMs: sql<number>`json_extract(${banOverrides.override}, '$.atMs')` })
    .from(banOverrides)
    .where(eq(banOverrides.keyId, keyId))
    .get();
  return Math.max(nowMs, (last?.atMs ?? 0) + 1);
}

export type Lifting = { readonly at: number; readonly by: string };

/** Marks whatever ban of the key is live as lifted. */
export function liftBans(db: Database, keyId: string, lifting: Lifting) {
  return db
    .update(bans)
    .set({ liftedAt: lifting.at, liftedBy: lifting.by })
    .where(
      and(
        eq(bans.keyId, keyId),
        gt(bans.endsAt, lifting.at),
        lte(bans.startedAt, lifting.at),
        isNull(bans.liftedAt),
      ),
    );
}

/** A ban that the limiter lifted, and that the history may not have heard of. */
export function recordLifted(db: Database, keyId: string, ban: Ban, lifting: Lifting) {
  const lifted = { liftedAt: lifting.at, liftedBy: lifting.by };
  return db
    .insert(bans)
    .values({ ...toBanRow(keyId, ban), ...lifted })
    .onConflictDoUpdate({ target: bans.id, set: lifted, setWhere: sql`${bans.liftedAt} is null` });
}

export function describeBan(keyId: string, keyName: string | null, ban: Ban, nowSeconds: number): BanView {
  return toBanView(
    { reason: null, liftedAt: null, liftedBy: null, ...toBanRow(keyId, ban) },
    keyName,
    nowSeconds,
  );
}

function toBanView(row: typeof bans.$inferInsert, keyName: string | null, nowSeconds: number): BanView {
  const liftedAt = row.liftedAt ?? null;
  return {
    id: row.id,
    keyId: row.keyId,
    keyName,
    cause: row.cause,
    reason: row.reason ?? null,
    strikes: row.strikes,
    startedAt: rfc3339(row.startedAt),
    endsAt: rfc3339(row.endsAt),
    liftedAt: rfc3339OrNull(liftedAt),
    liftedBy: row.liftedBy ?? null,
    live: liftedAt === null && nowSeconds < row.endsAt,
  };
}
