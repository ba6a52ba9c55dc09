/** Lists keys, with the usage of the last days of each. */
import type * as v from "valibot";
import type { Bindings } from "../../context.ts";
import { withCustomerId } from "../../db/customers-sql.ts";
import { openDatabase } from "../../db/database.ts";
import { nowSeconds } from "../../text/time.ts";
import { lastReports } from "../usage/ask-limiters.ts";
import { countedUntil, lastDays, listDaysOfKeys } from "../usage/service.ts";
import { listKeys } from "./list-sql.ts";
import type { keyPage, keyQuery } from "./schema.ts";

export async function findKeyPage(
  env: Bindings,
  { days, ...filter }: v.InferOutput<typeof keyQuery>,
): Promise<v.InferOutput<typeof keyPage>> {
  const db = openDatabase(env.DB);
  // What is missing in the keys' rows is asked for before them: it can be reported meanwhile.
  const reported = await lastReports(env);
  const { keys, next } = await listKeys(db, await withCustomerId(db, filter), nowSeconds());
  const unreachable = [...reported.unreachable];
  const about = { next, asOf: countedUntil(lastDays(1), reported), unreachable };
  if (days === 0) return { keys: [...keys], ...about };
  const ids = keys.map(({ id }) => id);
  const daysOf = await listDaysOfKeys(db, ids, lastDays(days));
  const withDays = keys.map((key) => {
    const ofKey = daysOf(key.id);
    // A limiter may have reported since the keys were read.
    return { ...key, admittedToday: ofKey.at(-1)?.admitted ?? 0, days: ofKey };
  });
  return { keys: withDays, ...about };
}
