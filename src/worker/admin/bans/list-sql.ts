/** D1: pages of bans for the admin API, live, past or all. */
import { and, desc, eq, lt, not, sql } from "drizzle-orm";
import type * as v from "valibot";
import { CUSTOMER_JSON, withCustomerId } from "../../db/customers-sql.ts";
import type { Database } from "../../db/database.ts";
import { apiKeys, bans } from "../../db/schema.ts";
import { fromCursor, pageOf, toCursor } from "../http/cursor.ts";
import type { banQuery, ListedBan } from "./schema.ts";
import { isLive, toBanView } from "./sql.ts";

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
    .select({ row: bans, keyName: apiKeys.name, customer: CUSTOMER, keyVersion: apiKeys.version, value })
    .from(bans)
    .leftJoin(apiKeys, eq(apiKeys.id, bans.keyId))
    .leftJoin(sql`customers c`, sql`c.id = ${bans.customerId}`)
    .where(and(ofState, ofKey, ofCustomer, isLater, isEarlier, isAfter))
    .orderBy(desc(value), desc(bans.id))
    .limit(limit + 1);
  const { shown, last } = pageOf(rows, limit);
  return {
    bans: shown.map(({ row, keyName, customer: json, keyVersion }) => ({
      ...toBanView(row, keyName, nowSeconds),
      ...{ customer: JSON.parse(json), keyVersion },
    })),
    next: toCursor(order, last && { value: last.value, id: last.row.id }),
  };
}

const CUSTOMER = sql<string>`${CUSTOMER_JSON}`;
