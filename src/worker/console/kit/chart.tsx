/** Shows requests over time as a chart and as a table. */
import type { PropsWithChildren } from "hono/jsx";
import type { DayUsage, KeyUsageView, TimeUsage } from "../../admin/usage/schema.ts";
import { formatDay, formatNumber, formatPercent } from "../../text/format.ts";
import { Bars, type DrawnRow, isUsed, type Series, timeOf } from "./bars.tsx";
import { OF_THE_DAY } from "./list.tsx";
import { type Column, countColumn, NONE, Table, Time } from "./ui.tsx";

type AsOfProps = {
  readonly of: {
    readonly from?: string;
    readonly completeFrom?: string;
    readonly asOf: string;
    readonly unreachable?: readonly string[];
  };
};

/** Says from when and until when all requests are counted, and whose counters could not say so. */
export function AsOf({ of: { from, completeFrom = from, asOf, unreachable = [] } }: AsOfProps) {
  return (
    <>
      {unreachable.length > 0 && `The counters of ${unreachable.join(", ")} could not report. `}
      {completeFrom !== undefined && completeFrom !== from && `Usage begins on ${formatDay(completeFrom)}. `}
      Counted until <Time iso={asOf} />, and most of what came later.
    </>
  );
}

/** How many requests there were. The children end the sentence. */
export function Totals({ of, children }: PropsWithChildren<{ readonly of: Figures }>) {
  return (
    <p>
      <strong>{formatNumber(of.admitted)}</strong> admitted, <strong>{formatNumber(of.refused)}</strong>{" "}
      refused by a limit, <strong>{formatNumber(of.refusedWhileBanned)}</strong> blocked by bans{children}.
    </p>
  );
}

type Props = {
  readonly title: string;
  /** Every hour or day of the range, oldest first. */
  readonly rows: readonly DrawnRow[];
  readonly by: "hour" | "day";
  /** Until then every request is counted. */
  readonly asOf: string;
};

const ADMITTED: Series = {
  ...{ label: "Admitted", words: "admitted", colour: "admitted" },
  valueAt: ({ admitted }) => admitted,
};
const NOT_ADMITTED: readonly Series[] = [
  {
    ...{ label: "Refused by a limit", words: "refused", colour: "refused" },
    valueAt: ({ refused }) => refused,
  },
  {
    ...{ label: "Blocked by bans", words: "blocked by bans", colour: "banned" },
    valueAt: ({ refusedWhileBanned }) => refusedWhileBanned,
  },
];

/** A higher limit would leave the bars too little room. */
const MAX_LIMIT = 4;

export function UsageChart({ title, rows, by, asOf }: Props) {
  const used = rows.filter(isUsed);
  if (used.length === 0) {
    return (
      <p class="muted">
        {title}: no requests until <Time iso={asOf} />. Later ones are not reported yet.
      </p>
    );
  }
  const isShown = ({ valueAt }: Series) => used.some((row) => valueAt(row) > 0);
  const admitted = [ADMITTED].filter(isShown);
  const refused = NOT_ADMITTED.filter(isShown);
  const highest = Math.max(...used.map((row) => row.admitted));
  const lines: readonly Series[] = [
    {
      ...{ label: "Limit of the day", words: "the limit of the day", colour: "limit" },
      valueAt: ({ limitPerDay }: DrawnRow) =>
        limitPerDay && limitPerDay <= MAX_LIMIT * highest ? limitPerDay : 0,
    },
    {
      ...{ label: "The month before", words: "admitted in the month before", colour: "before" },
      valueAt: ({ before = 0 }: DrawnRow) => before,
    },
  ].filter(isShown);
  return (
    <figure class="chart">
      <figcaption>{title}, UTC</figcaption>
      <Bars rows={rows} by={by} asOf={asOf} admitted={admitted} refused={refused} lines={lines} />
      <ul class="legend" aria-hidden="true">
        {[...admitted, ...refused, ...lines].map(({ label, colour }) => (
          <li class={colour}>{label}</li>
        ))}
        {refused.length > 0 && <li class="hint">Below: refused and blocked, on a scale of their own</li>}
      </ul>
      <details>
        <summary>As a table</summary>
        <Table
          caption={title}
          columns={[
            { name: "Time (UTC)", cell: ({ start }) => timeOf(start, by) },
            ...figureColumns(),
            ...(used.some(({ limitPerDay }) => limitPerDay)
              ? [countColumn("Limit of the day", ({ limitPerDay }: DrawnRow) => limitPerDay ?? 0)]
              : []),
          ]}
          rows={used.toReversed()}
          empty="No requests."
        />
      </details>
    </figure>
  );
}

type Figures = Omit<TimeUsage, "start">;

const BAR_WIDTH = 6;
const FULL_HEIGHT = 18;

/** Draws each day in percent of its limit, and 100 % as a line if that is near. Days with refusals have their own colour. */
export function Sparkline({ days }: { readonly days: readonly DayUsage[] }) {
  const isRefused = ({ refused, refusedWhileBanned }: DayUsage) => refused + refusedWhileBanned > 0;
  if (!days.some(isUsed)) return NONE;
  const shareOf = ({ admitted, limitPerDay }: DayUsage) => admitted / (limitPerDay ?? 1);
  const highest = Math.max(...days.map(shareOf));
  const scale = highest >= 0.5 ? Math.max(1, highest) : highest || 1;
  const top = (share: number) => FULL_HEIGHT - Math.round((FULL_HEIGHT * share) / scale);
  const width = days.length * BAR_WIDTH;
  const text = `at most ${formatPercent(highest, 1)} of the limit of the day`;
  return (
    <svg class="sparkline" role="img" aria-label={text} width={width} height={FULL_HEIGHT + 1}>
      <title>{text}</title>
      {days.map((day, i) => {
        const y = Math.min(top(shareOf(day)), FULL_HEIGHT - 2);
        if (!isUsed(day)) return null;
        return (
          <rect
            x={i * BAR_WIDTH}
            y={y + 1}
            width={BAR_WIDTH - 1}
            height={FULL_HEIGHT - y}
            class={isRefused(day) ? "refused" : undefined}
          />
        );
      })}
      {highest >= 0.5 && <rect class="limit" x={0} y={top(1)} width={width - 1} height={1} />}
    </svg>
  );
}

type Closeness = Pick<KeyUsageView, "daysNear" | "peakPercent">;

export function closenessColumns(
  sortBy: (name: "near" | "peak", first: "desc") => ColumnSort,
  ofKey = "",
): Column<Closeness>[] {
  const about = `${OF_THE_DAY}${ofKey}`;
  return [
    countColumn("Days over 80 %", ({ daysNear }) => daysNear, { about, sort: sortBy("near", "desc") }),
    {
      ...{ name: "Peak", about, isNumber: true, sort: sortBy("peak", "desc") },
      cell: ({ peakPercent }) => `${peakPercent} %`,
    },
  ];
}

type ColumnSort = Exclude<Column<Figures>["sort"], undefined>;

/** `sortBy` returns the address of the table sorted by a column. */
export function figureColumns(
  sortBy?: (name: "admitted" | "refused", first: "desc") => ColumnSort,
): Column<Figures>[] {
  const sorted = (name: "admitted" | "refused") => (sortBy ? { sort: sortBy(name, "desc") } : {});
  return [
    countColumn("Admitted", ({ admitted }) => admitted, sorted("admitted")),
    countColumn("Refused", ({ refused }) => refused, sorted("refused")),
    countColumn("Blocked by bans", ({ refusedWhileBanned }) => refusedWhileBanned),
  ];
}
