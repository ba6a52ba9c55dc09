/** Finds a key, with its state of this moment, and says why its requests were refused. */
import type * as v from "valibot";
import type { Bindings } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { listPlans } from "../plans/sql.ts";
import { lastDays, listHours } from "../usage/service.ts";
import { look } from "./live.ts";
import type { inspectedKey } from "./schema.ts";
import { whyRefused } from "./why-refused.ts";

const DAYS = 7;

export async function findKey(env: Bindings, id: string): Promise<v.InferOutput<typeof inspectedKey>> {
  // The limiter reports first, so that the sentence knows the refusals of now.
  const { key, live } = await look(env, id, "flushAndInspect");
  const db = openDatabase(env.DB);
  const [hours, plans] = await Promise.all([listHours(db, id, lastDays(DAYS)), listPlans(db)]);
  return { whyRefused: [...whyRefused(hours, DAYS, key, plans)], ...key, live };
}
