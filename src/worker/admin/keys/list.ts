/** Lists keys, with the usage of the last days of each. */
import type * as v from "valibot";
import type { Bindings } from "../../context.ts";
import { withCustomerId } from "../../db/customers-sql.ts";
import { type Database, openDatabase } from "../../db/database.ts";
import { DAY_SECONDS, midnightAfter, nowSeconds } from "../../text/time.ts";
import { countedUntil, lastDays, toTimeUsage } from "../usage/service.ts";
import { findDaysOfKeys, listKeys } from "./list-sql.ts";
import type { KeyView, keyPage, keyQuery, ListedKey } from "./schema.ts";

export async function findKeyPage(
  env: Bindings,
  { days, ...filter }: v.InferOutput<typeof keyQuery>,
): Promise<v.InferOutput<typeof keyPage>> {
  const [db, now] = [openDatabase(env.DB), nowSeconds()];
  const { keys, next } = await listKeys(db, await withCustomerId(db, filter), now);
  const from = midnightAfter(now, 1 - days);
  return {
    keys: days === 0 ? [...keys] : await withDays(db, keys, from, days),
    next,
    asOf: countedUntil(lastDays(1)),
  };
}

async function withDays(
  db: Database,
  keys: readonly KeyView[],
  fromSeconds: number,
  count: number,
): Promise<ListedKey[]> {
  const rowKey = (keyId: string, day: number) => `${keyId} ${day}`;
  const rows = await findDaysOfKeys(
    db,
    keys.map(({ id }) => id),
    fromSeconds,
  );
  const found = new Map(rows.map((row) => [rowKey(row.keyId, row.day), row]));
  const starts = Array.from({ length: count }, (_, i) => fromSeconds + i * DAY_SECONDS);
  return keys.map((key) => {
    const days = starts.map((start) => toTimeUsage(start, "day", found.get(rowKey(key.id, start))));
    // A limiter may have reported since the keys were read.
    return { ...key, admittedToday: days.at(-1)?.admitted ?? 0, days };
  });
}
