/** D1: the bans of keys, the ban that the limiter of a key applies, and pages of bans. */
import { and, desc, eq, gt, isNull, lt, not, type SQL, sql } from "drizzle-orm";
import type * as v from "valibot";
import type { Author } from "../../context.ts";
import { CUSTOMER_JSON, withCustomerId } from "../../db/customers-sql.ts";
import { type Conditional, type Database, rfc3339Sql } from "../../db/database.ts";
import { apiKeys, bans } from "../../db/schema.ts";
import { rfc3339, rfc3339OrNull } from "../../text/time.ts";
import { type Made, updateRows } from "../change.ts";
import { fromCursor, pageOf, toCursor } from "../http/cursor.ts";
import type { BanView, banQuery, ListedBan } from "./schema.ts";

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
  const { startedAt, endsAt, liftedAt, ...others } = row;
  const times = { startedAt: rfc3339(startedAt), endsAt: rfc3339(endsAt), liftedAt: rfc3339OrNull(liftedAt) };
  return { ...others, ...times, keyName, live: liftedAt === null && nowSeconds < endsAt };
}

type BanFilter = Partial<Pick<v.InferOutput<typeof banQuery>, "key" | "customer" | "from" | "to">> &
  Pick<v.InferOutput<typeof banQuery>, "state">;

/** A list is sorted by when each ban began, will end, or ended. The latest ban is the first. */
const POSITIONS = {
  start: sql<number>`${bans.startedAt}`,
  end: sql<number>`${bans.endsAt}`,
  "past end": sql<number>`coalesce(${bans.liftedAt}, ${bans.endsAt})`,
};

function orderOf({ state }: BanFilter): keyof typeof POSITIONS {
  if (state === "all") return "start";
  return state === "live" ? "end" : "past end";
}

export async function listBans(
  db: Database,
  { after, limit, ...query }: BanFilter & { readonly after?: string | undefined; readonly limit: number },
  nowSeconds: number,
): Promise<{ readonly bans: readonly ListedBan[]; readonly next: string | null }> {
  const filter = await withCustomerId(db, query);
  const { state, key, customer, from, to } = filter;
  const order = orderOf(filter);
  const value = POSITIONS[order];
  const position = fromCursor(order, after);
  const ofState = { all: undefined, live: isLive(nowSeconds), past: not(isLive(nowSeconds)) }[state];
  const ofKey = key === undefined ? undefined : eq(bans.keyId, key);
  const ofCustomer = customer === undefined ? undefined : eq(bans.customerId, customer);
  const isLater = from === undefined ? undefined : sql`coalesce(${bans.liftedAt}, ${bans.endsAt}) > ${from}`;
  const isEarlier = to === undefined ? undefined : lt(bans.startedAt, to);
  const isAfter = position && sql`(${value}, ${bans.id}) < (${position.value}, ${position.id})`;
  const rows = await db
    .select({
      row: bans,
      keyName: apiKeys.name,
      customer: sql<string>`${CUSTOMER_JSON}`,
      keyVersion: apiKeys.version,
      value,
    })
    .from(bans)
    .leftJoin(apiKeys, eq(apiKeys.id, bans.keyId))
    .leftJoin(sql`customers c`, sql`c.id = ${bans.customerId}`)
    .where(and(ofState, ofKey, ofCustomer, isLater, isEarlier, isAfter))
    .orderBy(desc(value), desc(bans.id))
    .limit(limit + 1);
  const { shown, last } = pageOf(rows, limit);
  return {
    bans: shown.map(({ row: { customerId: _, ...row }, keyName, customer: json, keyVersion }) => ({
      ...toBanView(row, keyName, nowSeconds),
      ...{ customer: JSON.parse(json), keyVersion },
    })),
    next: toCursor(order, last && { value: last.value, id: last.row.id }),
  };
}
