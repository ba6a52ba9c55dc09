/** Shows requests over time as a table, which a script draws as a chart. */
import type { TimeUsage } from "../../admin/usage/schema.ts";
import { formatDay, formatNumber, formatTime } from "../../text/format.ts";
import { DAY_SECONDS, HOUR_SECONDS } from "../../text/time.ts";
import { addressOf } from "./forms.ts";
import { Presets } from "./list.tsx";
import type { ConsoleContext } from "./page.tsx";
import { type Column, Table, Time } from "./ui.tsx";

const RANGES = {
  "24h": { name: "24 hours", by: "hour", from: "23h" },
  "7d": { name: "7 days", by: "day", from: "6d" },
  "30d": { name: "30 days", by: "day", from: "29d" },
} as const;

/** Reads the range of a chart from the address of its page. */
export function rangeIn(c: ConsoleContext, byDefault: keyof typeof RANGES) {
  const [, shown] = Object.entries(RANGES).find(([id]) => id === c.req.query("range")) ?? [];
  return shown ?? RANGES[byDefault];
}

export function RangeLinks({
  c,
  shown,
}: {
  readonly c: ConsoleContext;
  readonly shown: { readonly name: string };
}) {
  const links = Object.entries(RANGES).map(
    ([range, { name }]) => [name, addressOf(c.req.path, { range }), name === shown.name] as const,
  );
  return <Presets links={links} />;
}

type AsOfProps = {
  readonly c: ConsoleContext;
  readonly iso: string;
  readonly unreachable?: readonly string[];
};

/** Says until when all requests are counted, and which limiters could not say so. */
export function AsOf({ c, iso, unreachable = [] }: AsOfProps) {
  return (
    <>
      {unreachable.length > 0 && `The limiters of ${unreachable.join(", ")} cannot be reached. `}
      Counted until <Time iso={iso} />, and most of what came later.{" "}
      <a href={addressOf(c.req.path, c.req.query())}>Refresh</a>
    </>
  );
}

type Props = {
  readonly title: string;
  /** Every hour or day of the range, oldest first. */
  readonly rows: readonly TimeUsage[];
  readonly by: "hour" | "day";
  /** Until then every request is counted. */
  readonly asOf: string;
};

export function UsageChart({ title, rows, by, asOf }: Props) {
  const step = by === "day" ? DAY_SECONDS : HOUR_SECONDS;
  const secondsOf = ({ start }: TimeUsage) => Date.parse(start) / 1000;
  const [first, last] = [rows[0], rows.at(-1)];
  const used = rows.filter((each) => each.admitted + each.refused + each.refusedWhileBanned > 0);
  if (used.length === 0) {
    return (
      <p class="muted">
        {title}: no requests until <Time iso={asOf} />. Later ones are not reported yet.
      </p>
    );
  }
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <div
        class="plot"
        aria-hidden="true"
        data-from={first && secondsOf(first)}
        data-to={last && secondsOf(last) + step}
        data-step={step}
        data-as-of={Date.parse(asOf) / 1000}
        data-points={JSON.stringify(
          used.map((each) => [secondsOf(each), each.admitted, each.refused, each.refusedWhileBanned]),
        )}
      />
      <ul class="legend" aria-hidden="true">
        <li class="admitted">Admitted</li>
        <li class="refused">Refused by a limit</li>
        <li class="banned">Blocked by bans</li>
      </ul>
      <details>
        <summary>As a table</summary>
        <Table
          caption={title}
          columns={[
            {
              name: "Time (UTC)",
              cell: ({ start }) => (by === "day" ? formatDay(start) : formatTime(start)),
            },
            ...figureColumns(),
          ]}
          rows={used.toReversed()}
          empty="No requests."
        />
      </details>
    </figure>
  );
}

type Figures = Omit<TimeUsage, "start">;

type SparklineProps = { readonly days: readonly TimeUsage[] };

const BAR_WIDTH = 6;
const MAX_BAR_HEIGHT = 20;

/** Draws a bar for each day. The highest bar has the full height, and days with refusals their own colour. */
export function Sparkline({ days }: SparklineProps) {
  const max = Math.max(...days.map(({ admitted }) => admitted));
  const isRefused = ({ refused, refusedWhileBanned }: TimeUsage) => refused + refusedWhileBanned > 0;
  if (max <= 0 && !days.some(isRefused)) return <>–</>;
  const text = `at most ${formatNumber(max)} admitted a day`;
  return (
    <svg
      class="sparkline"
      role="img"
      aria-label={text}
      width={days.length * BAR_WIDTH}
      height={MAX_BAR_HEIGHT}
    >
      <title>{text}</title>
      {days.map((day, i) => {
        const height = Math.max(1, Math.round((MAX_BAR_HEIGHT * day.admitted) / Math.max(1, max)));
        return (
          <rect
            x={i * BAR_WIDTH}
            y={MAX_BAR_HEIGHT - height}
            width={BAR_WIDTH - 1}
            height={height}
            class={isRefused(day) ? "refused" : undefined}
          />
        );
      })}
    </svg>
  );
}

type ColumnSort = Exclude<Column<Figures>["sort"], undefined>;

/** `sortBy` returns the address of the table sorted by a column. */
export function figureColumns(
  sortBy?: (name: "admitted" | "refused", first: "desc") => ColumnSort,
): Column<Figures>[] {
  const sorted = (name: "admitted" | "refused") => sortBy && { sort: sortBy(name, "desc") };
  return [
    { name: "Admitted", isNumber: true, ...sorted("admitted"), cell: (row) => formatNumber(row.admitted) },
    { name: "Refused", isNumber: true, ...sorted("refused"), cell: (row) => formatNumber(row.refused) },
    { name: "Blocked by bans", isNumber: true, cell: (row) => formatNumber(row.refusedWhileBanned) },
  ];
}
