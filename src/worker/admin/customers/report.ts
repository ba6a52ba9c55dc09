/** The report of a month: the usage of a customer, asked for the month and the one before it. */
import type * as v from "valibot";
import type { Bindings } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { DAY_SECONDS, dayName, nowSeconds } from "../../text/time.ts";
import { MAX_PAGE_SIZE } from "../http/schemas.ts";
import { findUsage, sumOf } from "../usage/service.ts";
import type { reportAnswer, reportQuery } from "./schema.ts";
import { requireCustomer } from "./sql.ts";

export async function findReport(
  env: Bindings,
  idOrName: string,
  { month = monthOf(startOf(monthOf(nowSeconds())) - DAY_SECONDS) }: v.InferOutput<typeof reportQuery>,
): Promise<v.InferOutput<typeof reportAnswer>> {
  const { id, name, email } = await requireCustomer(openDatabase(env.DB), idOrName);
  const [from, to] = [startOf(month), startOf(monthOf(startOf(month) + 31 * DAY_SECONDS))];
  const beforeFrom = startOf(monthOf(from - DAY_SECONDS));
  const of = { customer: id, limit: MAX_PAGE_SIZE };
  const byKey = await findUsage(env, { ...of, by: "key", sort: "admitted", from, to });
  const byDay = await findUsage(env, { ...of, by: "day", from: beforeFrom, to });
  if (byKey.by !== "key" || byDay.by !== "day") throw new Error("usage by another group");
  const { by: _, rows: keys, total, next, ...about } = byKey;
  const [before, days] = [
    byDay.rows.filter(({ start }) => !start.startsWith(month)),
    byDay.rows.filter(({ start }) => start.startsWith(month)),
  ];
  const sameDay = new Map(before.map(({ start, admitted }) => [start.slice(-2), admitted]));
  const customer = { id, name, email };
  return {
    ...about,
    ...{
      customer,
      month,
      total: sumOf(days),
      keyCount: total.keyCount,
      hasMoreKeys: next !== null,
      before: sumOf(before),
    },
    days: days.map((day) => ({ ...day, before: sameDay.get(day.start.slice(-2)) ?? 0 })),
    keys: keys.map((key) => ({ month, ...key, customer })),
    unreachable: [...about.unreachable],
  };
}

/** `2026-11` */
function monthOf(atSeconds: number): string {
  return dayName(atSeconds).slice(0, "2026-11".length);
}

function startOf(month: string): number {
  return Date.parse(`${month}-01`) / 1000;
}
