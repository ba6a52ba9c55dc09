/** D1: pages of bans for the admin API, live, past or all. */
import { and, desc, eq, not, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { apiKeys, bans } from "../../db/schema.ts";
import { foldCase } from "../../text.ts";
import { type BanRow, isLive } from "./sql.ts";

export type BanFilter = {
  readonly state: "live" | "past" | "all";
  readonly key?: string | undefined;
  /** The owner's name, or else e-mail address, in any case. */
  readonly owner?: string | undefined;
  readonly after?: BanPosition | undefined;
  readonly limit: number;
};

/** A ban's place in the list: the time that the list is sorted by, in Unix seconds, and the ban's id. */
export type BanPosition = { readonly value: number; readonly id: string };

export type NamedBan = {
  readonly ban: BanRow;
  readonly keyName: string | null;
  readonly owner: string | null;
  readonly keyVersion: number | null;
};

/** What the list is sorted by, the latest first: when each ban began, will end, or ended. */
export type BanOrder = "start" | "end" | "past end";

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
  const { state, key, owner, after, limit } = filter;
  const place = PLACES[banOrder(filter)];
  const ofState = { all: undefined, live: isLive(nowSeconds), past: not(isLive(nowSeconds)) }[state];
  const ofKey = key === undefined ? undefined : eq(bans.keyId, key);
  const ofOwner = owner === undefined ? undefined : eq(apiKeys.ownerKey, foldCase(owner));
  const isAfter = after && sql`(${place}, ${bans.id}) < (${after.value}, ${after.id})`;
  return db
    .select({ ban: bans, keyName: apiKeys.name, owner: OWNER, keyVersion: apiKeys.version })
    .from(bans)
    .leftJoin(apiKeys, eq(apiKeys.id, bans.keyId))
    .where(and(ofState, ofKey, ofOwner, isAfter))
    .orderBy(desc(place), desc(bans.id))
    .limit(limit);
}

const OWNER = sql<string | null>`coalesce(${apiKeys.ownerName}, ${apiKeys.ownerEmail})`;

const PLACES: Readonly<Record<BanOrder, SQL>> = {
  start: sql`${bans.startedAt}`,
  end: sql`${bans.endsAt}`,
  "past end": sql`coalesce(${bans.liftedAt}, ${bans.endsAt})`,
};
