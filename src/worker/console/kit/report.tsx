/** The report of a month, for operators and for the customer. It prints on a sheet of A4. */
import type * as v from "valibot";
import type { reportAnswer } from "../../admin/customers/schema.ts";
import { counted, formatNumber, formatPercent, planName } from "../../text/format.ts";
import { AsOf, figureColumns, Totals, UsageChart } from "./chart.tsx";
import { addressOf } from "./forms.ts";
import { Presets } from "./list.tsx";
import type { ConsoleContext } from "./page.tsx";
import { Table } from "./ui.tsx";

type Props = { readonly c: ConsoleContext; readonly report: v.InferOutput<typeof reportAnswer> };

/** `October 2026` */
export function monthName(month: string, of = 0): string {
  return new Date(dateOf(month, of)).toLocaleDateString("en-GB", {
    timeZone: "UTC",
    month: "long",
    year: "numeric",
  });
}

function dateOf(month: string, later: number): number {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return Date.UTC(year, number - 1 + later);
}

export function MonthReport({ c, report }: Props) {
  const { customer, month, days, keys, keyCount, total, before, asOf } = report;
  const monthAt = (later: number) => new Date(dateOf(month, later)).toISOString().slice(0, "2026-11".length);
  const other = (later: number) => addressOf(c.req.path, { month: monthAt(later) });
  const last = monthName(month, -1);
  const change =
    before.admitted === 0 ? undefined : (100 * (total.admitted - before.admitted)) / before.admitted;
  return (
    <article class="report">
      <Presets
        links={[
          [last, other(-1)],
          ...(dateOf(month, 1) > Date.now() ? [] : [[monthName(month, 1), other(1)] as const]),
          ["CSV", addressOf(c.req.path, { month, format: "csv" })],
        ]}
      />
      <p>
        Requests of <strong>{customer.name}</strong> in {monthName(month)} (UTC), with{" "}
        {counted(keyCount, "key")}.
      </p>
      <Totals of={total}>
        {change === undefined
          ? `; none in ${last}`
          : `; ${last} had ${formatNumber(before.admitted)} admitted, so this is ${change < 0 ? "−" : "+"}${formatPercent(Math.abs(change), 100)}`}
      </Totals>
      <UsageChart title={`${monthName(month)}, and ${last} as a line`} rows={days} by="day" asOf={asOf} />
      <Table
        caption="Keys"
        columns={[
          { name: "Key", cell: ({ keyName }) => keyName },
          { name: "Plan", isClear: true, cell: ({ plan }) => planName(plan) },
          { name: "Of the limit", isNumber: true, cell: ({ percent }) => `${percent} %` },
          ...figureColumns(),
        ]}
        rows={keys}
        empty="No key was in use."
      />
      {report.hasMoreKeys && <p class="hint">The {keys.length} keys with the most requests.</p>}
      <p class="hint">
        <AsOf c={c} of={{ ...report, unreachable: [] }} />
      </p>
    </article>
  );
}
