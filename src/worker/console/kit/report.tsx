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

function beside({ before, total }: Props["report"], last: string): string {
  if (before === null) return `; the use of ${last} is not known as a whole`;
  if (before.admitted === 0) return `; none in ${last}`;
  const change = total.admitted - before.admitted;
  const percent = formatPercent(Math.abs(change), before.admitted);
  return `; ${last} had ${formatNumber(before.admitted)} admitted, so this is ${change < 0 ? "−" : "+"}${percent}`;
}

export function MonthReport({ c, report }: Props) {
  const { customer, month, days, keys, keyCount, total, asOf } = report;
  const monthAt = (later: number) => new Date(dateOf(month, later)).toISOString().slice(0, "2026-11".length);
  const other = (later: number) => addressOf(c.req.path, { month: monthAt(later) });
  const last = monthName(month, -1);
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
      <Totals of={total}>{beside(report, last)}</Totals>
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
      {report.next !== null && <p class="hint">The {keys.length} keys with the most requests.</p>}
      <p class="hint">
        <AsOf of={{ ...report, unreachable: [] }} />
      </p>
    </article>
  );
}
