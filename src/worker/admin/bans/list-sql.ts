/** D1: pages of bans for the admin API, live, past or all. */
import { and, sql } from "drizzle-orm";
import type * as v from "valibot";
import type { Database } from "../../db/database.ts";
import { foldCase } from "../../text/text.ts";
import { fromCursor, type Position, pageOf, toCursor } from "../http/cursor.ts";
import type { BanView, banQuery, ListedBan } from "./schema.ts";
import { BAN_ROW, type BanRow, isLive, toBanView } from "./sql.ts";

type BanFilter = Partial<Pick<v.InferOutput<typeof banQuery>, "key" | "owner">> &
  Pick<v.InferOutput<typeof banQuery>, "state">;

type BanWithPosition = Pick<ListedBan, "owner" | "keyVersion"> & {
  readonly ban: BanView;
  readonly position: Position<number>;
};

type Found = BanRow & Pick<ListedBan, "keyName" | "owner" | "keyVersion"> & { readonly value: number };

/** A list is sorted by when each ban began, will end, or ended. The latest ban is the first. */
const POSITIONS = {
  start: sql`started_at`,
  end: sql`ends_at`,
  "past end": sql`coalesce(lifted_at, ends_at)`,
};

function orderOf({ state }: BanFilter): keyof typeof POSITIONS {
  if (state === "all") return "start";
  return state === "live" ? "end" : "past end";
}

/** Returns a negative number if `a` is before `b` in the list, and 0 for the same position. */
export function comparePositions(a: Position<number>, b: Position<number>): number {
  return b.value - a.value || Number(a.id < b.id) - Number(a.id > b.id);
}

export async function listBans(
  db: Database,
  { after, limit, ...filter }: BanFilter & { readonly after?: string | undefined; readonly limit: number },
  nowSeconds: number,
): Promise<{ readonly bans: readonly ListedBan[]; readonly next: string | null }> {
  const order = orderOf(filter);
  const rows = await selectBans(db, filter, fromCursor(order, after), limit + 1, nowSeconds);
  const { shown, last } = pageOf(rows, limit);
  return {
    bans: shown.map(({ ban, owner, keyVersion }) => ({ ...ban, owner, keyVersion })),
    next: toCursor(order, last?.position),
  };
}

/** Reads the first bans after a position, in the order of the list. */
export async function selectBans(
  db: Database,
  filter: BanFilter,
  after: Position | undefined,
  maxRows: number,
  nowSeconds: number,
): Promise<BanWithPosition[]> {
  const { state, key, owner } = filter;
  const value = POSITIONS[orderOf(filter)];
  const isFound = and(
    { all: sql`true`, live: isLive(nowSeconds), past: sql`not ${isLive(nowSeconds)}` }[state],
    key === undefined ? undefined : sql`key_id = ${key}`,
    owner === undefined ? undefined : sql`k.owner_key = ${foldCase(owner)}`,
    after && sql`(${value}, bans.id) < (${after.value}, ${after.id})`,
  );
  const rows = await db.all<Found>(sql`
    select ${BAN_ROW}, k.name as keyName, coalesce(k.owner_name, k.owner_email) as owner, k.version as keyVersion, ${value} as value
    from bans left join api_keys k on k.id = key_id where ${isFound} order by value desc, bans.id desc limit ${maxRows}`);
  return rows.map(({ keyName, owner, keyVersion, value, ...row }) => ({
    owner,
    keyVersion,
    ban: toBanView(row, keyName, nowSeconds),
    position: { value, id: row.id },
  }));
}
