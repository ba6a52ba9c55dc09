/** D1: key records, by the hash of a secret or by id. */
import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import type { KeyRecord } from "../auth/key-record.ts";
import { toBan } from "./ban-repository.ts";
import type { Database } from "./database.ts";
import { apiKeys, bans, keyLimits, keySecrets } from "./schema.ts";
import { IN_INDEX_BY } from "./usage-repository.ts";
import type { UsageSort } from "./values.ts";

/** For the admin API, which shows a key with its name, owner and plan. */
export type NamedKeyRecord = KeyRecord & {
  readonly name: string;
  readonly ownerName: string | null;
  readonly ownerEmail: string | null;
  readonly plan: string;
};

const columns = {
  key: apiKeys,
  limits: { perMinute: keyLimits.perMinute, perDay: keyLimits.perDay },
  version: keyLimits.version,
  operatorBan: bans,
};

type Row = {
  key: typeof apiKeys.$inferSelect;
  limits: KeyRecord["limits"];
  version: number;
  operatorBan: typeof bans.$inferSelect | null;
};

function toRecord({ key, limits, version, operatorBan }: Row): NamedKeyRecord {
  const { id, name, ownerName, ownerEmail, plan, status, expiresAt, location, liftedBanId, forgivenBanId } =
    key;
  return {
    id,
    name,
    ownerName,
    ownerEmail,
    plan,
    version,
    status,
    limits,
    expiresAt,
    operatorBan: operatorBan?.liftedAt === null ? toBan(operatorBan) : null,
    liftedBanId,
    forgivenBanId,
    location,
    isUsed: key.firstUsedAt !== null,
  };
}

/** One query. Unknown hashes have no entry. A revoked, disabled or expired key is returned as such. */
export async function findKeyRecordsByHash(
  db: Database,
  hashes: readonly string[],
): Promise<Map<string, KeyRecord>> {
  // One parameter for any number of hashes: D1 allows 100 of them. `cross join` keeps the order, so that the index is used.
  const rows = await db
    .select({
      ...columns,
      hash: keySecrets.hash,
      // Where it was ended at once, it has ended for isolates whose clocks are behind, too (ADR-26).
      secretExpiresAt: sql<number | null>`iif(${keySecrets.isEnded}, 0, ${keySecrets.expiresAt})`.as(
        "secret_expires_at",
      ),
    })
    .from(sql`json_each(${JSON.stringify(hashes)}) as asked`)
    .crossJoin(keySecrets)
    .innerJoin(apiKeys, eq(apiKeys.id, keySecrets.keyId))
    .innerJoin(keyLimits, eq(keyLimits.keyId, apiKeys.id))
    .leftJoin(bans, eq(bans.id, apiKeys.operatorBanId))
    .where(eq(keySecrets.hash, sql`asked.value`));
  return new Map(
    rows.map((row) => {
      const record = toRecord(row);
      return [row.hash, { ...record, expiresAt: earlier(record.expiresAt, row.secretExpiresAt) }];
    }),
  );
}

export async function findKeyRecordById(db: Database, id: string): Promise<NamedKeyRecord | undefined> {
  const row = await db
    .select(columns)
    .from(apiKeys)
    .innerJoin(keyLimits, eq(keyLimits.keyId, apiKeys.id))
    .leftJoin(bans, eq(bans.id, apiKeys.operatorBanId))
    .where(eq(apiKeys.id, id))
    .get();
  return row && toRecord(row);
}

/** What a limiter is notified by, as the batch has it at this point. */
export function selectNotice(db: Database, id: string) {
  return db
    .select({
      version: sql<number>`${keyLimits.version}`.as("notice_version"),
      firstUsedAt: sql<number | null>`${apiKeys.firstUsedAt}`.as("notice_first_used_at"),
    })
    .from(apiKeys)
    .innerJoin(keyLimits, eq(keyLimits.keyId, apiKeys.id))
    .where(eq(apiKeys.id, id));
}

/**
 * Keys whose limiters may have usage or bans that D1 does not have, in no order: those first in the order of `sort` on one
 * of these days, then those most used, then those first used last. Keys that were never used have no limiter and are
 * left out (ADR-17).
 */
export async function listUsedKeys(
  db: Database,
  days: readonly string[],
  sort: UsageSort,
  limit: number,
): Promise<NamedKeyRecord[]> {
  // Each part reads its rows from an index, in order. The limit comes before the joins, which would read every candidate.
  const parts = [
    ...(sort === "admitted" ? [] : days.map((day) => selectFirst(day, SORTED_BY[sort], limit))),
    ...days.map((day) => selectFirst(day, SORTED_BY.admitted, limit)),
    sql`
      select * from (select id, null, null, first_used_at from api_keys
        where first_used_at is not null order by first_used_at desc limit ${limit})`,
  ];
  const candidates = sql`(
    select key_id, max(sorted) as max_sorted, max(admitted) as max_admitted
    from (${sql.join(parts, sql` union all `)})
    group by key_id order by max_sorted desc nulls last, max_admitted desc nulls last, max(first_used_at) desc
    limit ${limit}) as candidates`;
  const rows = await db
    .select(columns)
    .from(candidates)
    .innerJoin(apiKeys, sql`${apiKeys.id} = candidates.key_id`)
    .innerJoin(keyLimits, eq(keyLimits.keyId, apiKeys.id))
    .leftJoin(bans, eq(bans.id, apiKeys.operatorBanId));
  return rows.map(toRecord);
}

const SORTED_BY = {
  admitted: { columns: sql`null as sorted, admitted`, where: sql``, column: sql`admitted` },
  refused: {
    columns: sql`refused as sorted, null as admitted`,
    where: sql`and ${IN_INDEX_BY.refused}`,
    column: sql`refused`,
  },
  percent: {
    columns: sql`percent as sorted, null as admitted`,
    where: sql`and ${IN_INDEX_BY.percent}`,
    column: sql`percent`,
  },
} satisfies Record<UsageSort, unknown>;

function selectFirst(
  day: string,
  { columns, where, column }: (typeof SORTED_BY)[UsageSort],
  limit: number,
): SQL {
  return sql`
    select * from (select key_id, ${columns}, null as first_used_at from daily_usage
      where day = ${day} ${where} order by ${column} desc, key_id desc limit ${limit})`;
}

/**
 * Marks a key as used, before its limiter is first called. Returns the record's version at that moment, undefined if it was
 * marked already. Every later change is sent to the limiter. An earlier change may be newer than the caller's record.
 */
export async function markAsUsed(
  db: Database,
  keyId: string,
  nowSeconds: number,
): Promise<number | undefined> {
  const row = await db
    .update(apiKeys)
    .set({ firstUsedAt: nowSeconds })
    .where(and(eq(apiKeys.id, keyId), isNull(apiKeys.firstUsedAt)))
    .returning({
      version: sql<number>`max(api_keys.version, (select version from plans where id = api_keys.plan))`,
    })
    .get();
  return row?.version;
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}
