/** The owners of keys, and how close they come to their limits: who should buy the next plan. */
import type { Bindings } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import type { CustomerSort } from "../../db/values.ts";
import { dayName, rfc3339 } from "../../time.ts";
import type { Position } from "../http/cursor.ts";
import { countedUntil, firstOf, lastDays, placeOf } from "../usage/service.ts";
import type { Page, Placed } from "../usage/sql.ts";
import type { CustomerView } from "./schema.ts";
import { type CustomerRow, listCustomers } from "./sql.ts";

export type Customers = {
  readonly days: number;
  readonly from: string;
  readonly to: string;
  /** All hours before this one are reported. */
  readonly asOf: string;
  readonly customers: readonly CustomerView[];
  readonly next: Position<string | number> | null;
};

export async function findCustomers(
  env: Bindings,
  days: number,
  page: Page<CustomerSort>,
): Promise<Customers> {
  const range = lastDays(days);
  const rows = await listCustomers(openDatabase(env.DB), range, days, page);
  const { shown, next } = firstOf(rows, page.limit, placeOf);
  return {
    days,
    from: rfc3339(range.fromSeconds),
    to: rfc3339(range.toSeconds),
    asOf: countedUntil(range),
    customers: shown.map(toView),
    next,
  };
}

function toView({ id: _id, value: _value, ...row }: Placed<CustomerRow>): CustomerView {
  // `listCustomers` made this text.
  return { ...row, plans: JSON.parse(row.plans) as string[], peakDay: dayName(row.peakDay) };
}
