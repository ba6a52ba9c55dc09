/** D1: pages of bans for the admin API, live, past or all. */
import { and, desc, eq, not, sql } from "drizzle-orm";
import type * as v from "valibot";
import { CUSTOMER_JSON, withCustomerId } from "../../db/customers-sql.ts";
import type { Database } from "../../db/database.ts";
import { apiKeys, bans } from "../../db/schema.ts";
import { fromCursor, type Position, pageOf, toCursor } from "../http/cursor.ts";
import type { BanView, banQuery, ListedBan } from "./schema.ts";
import { isLive, toBanView } from "./sql.ts";

type BanFilter = Partial<Pick<v.InferOutput<typeof banQuery>, "key" | "customer">> &
  Pick<v.InferOutput<typeof banQuery>, "state">;

type BanWithPosition = Pick<ListedBan, "customer" | "keyVersion"> & {
  readonly ban: BanView;
  readonly position: Position<number>;
};

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
  const order = orderOf(filter);
  const rows = await selectBans(db, filter, fromCursor(order, after), limit + 1, nowSeconds);
  const { shown, last } = pageOf(rows, limit);
  return {
    bans: shown.map(({ ban, customer, keyVersion }) => ({ ...ban, customer, keyVersion })),
    next: toCursor(order, last?.position),
  };
}

/** Reads the first bans after a position, in the order of the list. The customer of the filter is an id. */
export async function selectBans(
  db: Database,
  filter: BanFilter,
  after: Position | undefined,
  maxRows: number,
  nowSeconds: number,
): Promise<BanWithPosition[]> {
  const { state, key, customer } = filter;
  const value = POSITIONS[orderOf(filter)];
  const ofState = { all: undefined, live: isLive(nowSeconds), past: not(isLive(nowSeconds)) }[state];
  const ofKey = key === undefined ? undefined : eq(bans.keyId, key);
  const ofCustomer = customer === undefined ? undefined : eq(bans.customerId, customer);
  const isAfter = after && sql`(${value}, ${bans.id}) < (${after.value}, ${after.id})`;
  const rows = await db
    .select({ row: bans, keyName: apiKeys.name, customer: CUSTOMER, keyVersion: apiKeys.version, value })
    .from(bans)
    .leftJoin(apiKeys, eq(apiKeys.id, bans.keyId))
    .leftJoin(sql`customers c`, sql`c.id = ${bans.customerId}`)
    .where(and(ofState, ofKey, ofCustomer, isAfter))
    .orderBy(desc(value), desc(bans.id))
    .limit(maxRows);
  return rows.map(({ row, keyName, customer: json, keyVersion, value }) => ({
    keyVersion,
    customer: JSON.parse(json),
    ban: toBanView(row, keyName, nowSeconds),
    position: { value, id: row.id },
  }));
}

const CUSTOMER = sql<string>`${CUSTOMER_JSON}`;
