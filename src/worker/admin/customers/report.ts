/** The report of a month: the usage of a customer, asked for the month and the one before it. */
import type * as v from "valibot";
import type { Bindings } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { DAY_SECONDS, dayName, nowSeconds, rfc3339 } from "../../text/time.ts";
import { listUsageOf, listUsageOverTime, sumOf, toKeyUsageView, withReports } from "../usage/service.ts";
import { ALL_KEYS } from "../usage/sql.ts";
import type { reportAnswer, reportQuery } from "./schema.ts";
import { requireCustomer } from "./sql.ts";

const MOST_FIRST = { sort: "admitted", direction: "desc" } as const;

export async function findReport(
  env: Bindings,
  idOrName: string,
  {
    month = monthOf(startOf(monthOf(nowSeconds())) - DAY_SECONDS),
    ...page
  }: v.InferOutput<typeof reportQuery>,
): Promise<v.InferOutput<typeof reportAnswer>> {
  const { id, name, email } = await requireCustomer(openDatabase(env.DB), idOrName);
  const [from, to] = [startOf(month), startOf(monthOf(startOf(month) + 31 * DAY_SECONDS))];
  const customer = { id, name, email };
  const both = { customer: id, from: startOf(monthOf(from - DAY_SECONDS)), to };
  // Limiters are asked once, so that keys and days are of one time.
  return withReports(env, both, "day", async (db, filter, about) => {
    const ofMonth = { ...filter, fromSeconds: from };
    const { rows, total, next } = await listUsageOf(db, ALL_KEYS, "key", ofMonth, {
      ...page,
      ...MOST_FIRST,
    });
    const days = await listUsageOverTime(db, filter, "day");
    const before = days.filter(({ start }) => !start.startsWith(month));
    const sameDay = new Map(before.map(({ start, admitted }) => [start.slice(-2), admitted]));
    const { keyCount, ...figures } = total;
    return {
      ...about,
      from: rfc3339(from),
      completeFrom: rfc3339(Math.max(from, Date.parse(about.completeFrom) / 1000)),
      customer,
      month,
      total: figures,
      keyCount,
      next,
      before: about.completeFrom === about.from ? sumOf(before) : null,
      days: days
        .slice(before.length)
        .map((day) => ({ ...day, before: sameDay.get(day.start.slice(-2)) ?? 0 })),
      keys: rows.map((row) => ({ month, ...toKeyUsageView(row), customer })),
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
