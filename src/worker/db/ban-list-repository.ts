/** D1: pages of bans for the admin API, live, past or all. */
import { and, desc, eq, not, type SQL, sql } from "drizzle-orm";
import { type BanRow, isLive } from "./ban-repository.ts";
import type { Database } from "./database.ts";
import { apiKeys, bans } from "./schema.ts";

export type BanFilter = {
  readonly state: "live" | "past" | "all";
  readonly key?: string | undefined;
  readonly after?: BanPosition | undefined;
  readonly limit: number;
};

/** A ban's place in the list: the time that the list is sorted by, in Unix seconds, and the ban's id. */
export type BanPosition = { readonly value: number; readonly id: string };

export type NamedBan = { readonly ban: BanRow; readonly keyName: string | null };

/** What the list is sorted by, the latest first: the start of each ban, when it will end, or when it ended. */
export type BanOrder = "start" | "end" | "past end";

/** Among all bans, the live ones can be far apart in the order of their start, and so can past ones. */
export function banOrder({ state, key }: Pick<BanFilter, "state" | "key">): BanOrder {
  if (state === "all" || key !== undefined) return "start";
  return state === "live" ? "end" : "past end";
}

export function positionOf(order: BanOrder, { id, startedAt, endsAt, liftedAt }: BanRow): BanPosition {
  if (order === "start") return { value: startedAt, id };
  return { value: order === "end" ? endsAt : (liftedAt ?? endsAt), id };
}

/** Negative if `a` is before `b` in the list, 0 if they are the same place. */
export function comparePositions(a: BanPosition, b: BanPosition): number {
  return b.value - a.value || Number(a.id < b.id) - Number(a.id > b.id);
}

/** The page of bans, in order. */
export async function listBans(db: Database, filter: BanFilter, nowSeconds: number): Promise<NamedBan[]> {
  const page = await selectPage(db, filter, nowSeconds);
  const place = ({ ban }: NamedBan) => positionOf(banOrder(filter), ban);
  return page.sort((a, b) => comparePositions(place(a), place(b)));
}

function selectPage(db: Database, filter: BanFilter, nowSeconds: number) {
  const order = banOrder(filter);
  const query = db
    .select({ ban: bans, keyName: apiKeys.name })
    .from(bans)
    .leftJoin(apiKeys, eq(apiKeys.id, bans.keyId));
  if (order === "start") {
    return query
      .where(and(matches(filter, nowSeconds), isAfter(sql`${bans.startedAt}`, sql`${bans.id}`, filter)))
      .orderBy(desc(bans.startedAt), desc(bans.id))
      .limit(filter.limit);
  }
  const ids = order === "end" ? selectLive(filter, nowSeconds) : selectPast(filter, nowSeconds);
  return query.where(sql`${bans.id} in (${ids})`);
}

function matches({ state, key }: BanFilter, nowSeconds: number): SQL | undefined {
  if (key === undefined) return undefined;
  const ofState = { all: undefined, live: isLive(nowSeconds), past: not(isLive(nowSeconds)) }[state];
  return and(eq(bans.keyId, key), ofState);
}

function isAfter(time: SQL, id: SQL, { after }: BanFilter): SQL {
  return after ? sql`(${time}, ${id}) < (${after.value}, ${after.id})` : sql`true`;
}

function selectLive(filter: BanFilter, nowSeconds: number): SQL {
  return sql`
    select id from bans
    where lifted_at is null and ends_at > ${nowSeconds} and ${isAfter(sql`ends_at`, sql`id`, filter)}
    order by ends_at desc, id desc limit ${filter.limit}`;
}

/** Those that ended by themselves and those that were lifted, each from its index. */
function selectPast(filter: BanFilter, nowSeconds: number): SQL {
  const { limit, after } = filter;
  // The cursor's bound is the tighter one. `+` keeps SQLite from searching the index by the other one.
  const isOver = after ? sql`+ends_at <= ${nowSeconds}` : sql`ends_at <= ${nowSeconds}`;
  return sql`
    select id from (
      select * from (select id, ends_at as ended_at from bans
        where lifted_at is null and ${isOver} and ${isAfter(sql`ends_at`, sql`id`, filter)}
        order by ends_at desc, id desc limit ${limit})
      union all
      select * from (select id, lifted_at from bans
        where lifted_at is not null and ${isAfter(sql`lifted_at`, sql`id`, filter)}
        order by lifted_at desc, id desc limit ${limit}))
    order by ended_at desc, id desc limit ${limit}`;
}
