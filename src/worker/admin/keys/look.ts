/** A key, and what its limiter has at this moment. */
import type { Bindings } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { reachLimiter } from "../../limit.ts";
import { nowSeconds } from "../../time.ts";
import { findSetBan } from "../bans/sql.ts";
import { toLiveUsage, unusedUsage } from "./live.ts";
import type { KeyView, LiveUsage } from "./schema.ts";
import { requireKey } from "./service.ts";

/** `live` is null if the limiter cannot be reached. */
export async function look(
  env: Bindings,
  id: string,
  how: "inspect" | "flushAndInspect",
): Promise<{ readonly key: KeyView; readonly live: LiveUsage | null }> {
  const db = openDatabase(env.DB);
  const key = await requireKey(db, id);
  // Only a client's request may create the object of a key: an object stays where it was first called.
  if (key.firstUsedAt === null) {
    return { key, live: unusedUsage(key.limits, await findSetBan(db, id, nowSeconds())) };
  }
  const inspection = await reachLimiter(env, key, (limiter) => limiter[how]());
  return { key, live: inspection ? toLiveUsage(inspection) : null };
}
