/** Sums the usage of all keys on the day before, by plan. Run hourly by the cron trigger in wrangler.toml (ADR-22). */
import { sumByPlan } from "./admin/usage-sums.ts";
import type { Bindings } from "./context.ts";
import { openDatabase } from "./db/database.ts";
import { listUsagePage, type PlanTotals, replaceUsageTotals } from "./db/usage-totals-repository.ts";
import { dayName } from "./limiter/core/limiter-state.ts";
import { DAY_MS } from "./limiter/core/quota.ts";
import { logError } from "./log.ts";

/** 180,000 keys, in what the deletion of expired rows leaves of the 1,000 queries that an invocation may make. */
const MAX_PAGES = 90;

/** Again in each hour of the day, since a limiter may report late. The totals of an earlier day stay as they are. */
export async function sumUsageOfYesterday(env: Bindings, nowMs: number): Promise<void> {
  const db = openDatabase(env.DB);
  const day = dayName(nowMs - DAY_MS);
  try {
    const parts: PlanTotals[] = [];
    let after: string | undefined = "";
    for (let page = 0; after !== undefined; page++) {
      if (page === MAX_PAGES) throw new Error(`more than ${MAX_PAGES} pages of keys were used`);
      const { usages, next } = await listUsagePage(db, day, after);
      parts.push(...sumByPlan(usages));
      after = next;
    }
    await replaceUsageTotals(db, day, sumByPlan(parts));
  } catch (thrown) {
    logError("usage_not_summed", thrown, { day });
  }
}
