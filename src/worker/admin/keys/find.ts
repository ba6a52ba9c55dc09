/** Finds a key, with its state of this moment, and says why its requests were refused. */
import type * as v from "valibot";
import type { Bindings } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { listPlans } from "../plans/sql.ts";
import { lastDays, listHours } from "../usage/service.ts";
import { readLive } from "./live.ts";
import type { inspectedKey, KeyView, LiveUsage } from "./schema.ts";
import { requireKey } from "./sql.ts";
import { whyRefused } from "./why-refused.ts";

const DAYS = 7;

/** With a customer, the sentences are about the days on which the key was the customer's. */
export async function findKey(
  env: Bindings,
  id: string,
  customer?: string,
): Promise<v.InferOutput<typeof inspectedKey>> {
  const db = openDatabase(env.DB);
  const before = await requireKey(db, id);
  // The limiter reports first, so that what is read after it has the refusals and the ban of now.
  const live = await readLive(env, before, "flushAndInspect");
  const [key, hours, plans] = await Promise.all([
    requireKey(db, id),
    listHours(db, { ...lastDays(DAYS), key: id, customer }),
    listPlans(db),
  ]);
  const figures = live === null ? {} : figuresAt(live, before, key);
  return { whyRefused: [...whyRefused(hours, DAYS, key, plans)], ...key, ...figures, live };
}

/**
 * The figures of D1 at the moment of `live`. D1 has more than the limiter if both rows have more, as after a
 * restore: a row that was read after `live` can have later requests.
 */
function figuresAt({ day, lastUsedAt }: LiveUsage, ...rows: readonly KeyView[]) {
  const admitted = Math.min(...rows.map(({ admittedToday }) => admittedToday));
  const days = rows.flatMap(({ lastUsedDay }) => lastUsedDay ?? []);
  const lastUsedDay = [...days, ...(lastUsedAt === null ? [] : [lastUsedAt.slice(0, 10)])].sort().at(-1);
  return { admittedToday: Math.max(day.used, admitted), lastUsedDay: lastUsedDay ?? null };
}
