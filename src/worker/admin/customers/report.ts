/** The report of a month: the usage of a customer, asked for the month and the one before it. */
import type * as v from "valibot";
import type { Bindings } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { DAY_SECONDS, dayName, nowSeconds } from "../../text/time.ts";
import { MAX_PAGE_SIZE } from "../http/schemas.ts";
import { listUsageOf, listUsageOverTime, sumOf, toKeyUsageView, withReports } from "../usage/service.ts";
import { GROUPS } from "../usage/sql.ts";
import type { reportAnswer, reportQuery } from "./schema.ts";
import { requireCustomer } from "./sql.ts";

const MOST_FIRST = { sort: "admitted", direction: "desc", limit: MAX_PAGE_SIZE } as const;

export async function findReport(
  env: Bindings,
  idOrName: string,
  { month = monthOf(startOf(monthOf(nowSeconds())) - DAY_SECONDS) }: v.InferOutput<typeof reportQuery>,
): Promise<v.InferOutput<typeof reportAnswer>> {
  const { id, name, email } = await requireCustomer(openDatabase(env.DB), idOrName);
  const [from, to] = [startOf(month), startOf(monthOf(startOf(month) + 31 * DAY_SECONDS))];
  const customer = { id, name, email };
  // Limiters are asked once, so that keys and days are of one time.
  return withReports(env, { customer: id, from, to }, "day", async (db, filter, about) => {
    const fromSeconds = startOf(monthOf(from - DAY_SECONDS));
    const { rows, total, next } = await listUsageOf(db, GROUPS.key, "key", filter, MOST_FIRST);
    const days = await listUsageOverTime(db, { ...filter, fromSeconds }, "day");
    const before = days.filter(({ start }) => !start.startsWith(month));
    const sameDay = new Map(before.map(({ start, admitted }) => [start.slice(-2), admitted]));
    const { keyCount, ...figures } = total;
    return {
      ...about,
      customer,
      month,
      total: figures,
      keyCount,
      hasMoreKeys: next !== null,
      before: sumOf(before),
      days: days
        .slice(before.length)
        .map((day) => ({ ...day, before: sameDay.get(day.start.slice(-2)) ?? 0 })),
      keys: rows.map((row) => ({ month, ...toKeyUsageView(row), customer })),
      unreachable: [...about.unreachable],
    };
  });
}

/** `2026-11` */
function monthOf(atSeconds: number): string {
  return dayName(atSeconds).slice(0, "2026-11".length);
}

function startOf(month: string): number {
  return Date.parse(`${month}-01`) / 1000;
}
