/** Shows requests over time as a chart and as a table. */
import type { PropsWithChildren } from "hono/jsx";
import type { DayUsage, KeyUsageView, TimeUsage } from "../../admin/usage/schema.ts";
import { formatDay, formatNumber, formatPercent, formatShort, formatTime } from "../../text/format.ts";
import { DAY_SECONDS, HOUR_SECONDS } from "../../text/time.ts";
import { OF_THE_DAY } from "./list.tsx";
import { type Column, countColumn, NONE, Table, Time } from "./ui.tsx";

type AsOfProps = {
  readonly of: {
    readonly from?: string;
    readonly to?: string;
    readonly completeFrom?: string;
    readonly asOf: string;
    readonly unreachable?: readonly string[];
  };
};

/** Says from when and, before the end of the range, until when all requests are counted, and whose counters could not say so. */
export function AsOf({ of: { from, to, completeFrom = from, asOf, unreachable = [] } }: AsOfProps) {
  return (
    <>
      {unreachable.length > 0 && `The counters of ${unreachable.join(", ")} could not report. `}
      {completeFrom !== undefined && completeFrom !== from && `Usage begins on ${formatDay(completeFrom)}. `}
      {asOf !== to && (
        <>
          Counted until <Time iso={asOf} />, and most of what came later.
        </>
      )}
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

type Props = Rows & {
  readonly title: string;
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
        {title}: no requests until <Time iso={asOf} />.
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

/** Days of one key have their limit, and those of a report what the same day of the month before had. */
type DrawnRow = TimeUsage & Partial<Pick<DayUsage, "limitPerDay"> & { readonly before: number }>;

/** A part of each bar, the lowest first. */
type Series = {
  readonly label: string;
  /** What stands behind a number: `12 admitted`. */
  readonly words: string;
  /** A class, which sets the colour. */
  readonly colour: string;
  readonly valueAt: (row: DrawnRow) => number;
};

type Rows = {
  /** Every hour or day of the range, oldest first. */
  readonly rows: readonly DrawnRow[];
  readonly by: "hour" | "day";
};

type BarsProps = Rows & {
  /** Until then every request is counted. */
  readonly asOf: string;
  readonly admitted: readonly Series[];
  /** A few refusals could not be seen above millions, so they have a band below, with a scale of its own. */
  readonly refused: readonly Series[];
  /** What is drawn across a bar. */
  readonly lines: readonly Series[];
};

const HEIGHT = 240;
const BAND_HEIGHT = 64;
/** The room of the times below the bars, and above the highest bar. */
const FOOT = 22;
const HEAD = 18;
/** So many fit on a phone. */
const MAX_TIMES = 7;

const STEP_MS = { hour: HOUR_SECONDS * 1000, day: DAY_SECONDS * 1000 };
/** How far the times below the bars may be from each other. */
const DISTANCES = { hour: [1, 3, 6, 12, 24, 96, 336], day: [1, 2, 4, 7, 14, 28, 56] };

function timeOf(start: string, by: Rows["by"]): string {
  return by === "day" ? formatDay(start) : formatTime(start);
}

function Bars({ rows, by, asOf, admitted, refused, lines }: BarsProps) {
  const bottom = HEIGHT - FOOT;
  const floor = refused.length === 0 ? bottom : bottom - BAND_HEIGHT;
  const width = 100 / rows.length;
  const stepsTo = ({ start }: DrawnRow) => Date.parse(start) / STEP_MS[by];
  const isOpen = (row: DrawnRow) => stepsTo(row) + 1 > Date.parse(asOf) / STEP_MS[by];
  const open = rows.filter(isOpen).length;
  const distance = DISTANCES[by].find((each) => rows.length / each <= MAX_TIMES) ?? rows.length;
  const named = rows.flatMap((row, i) =>
    stepsTo(row) % distance === 0 ? [{ start: row.start, middle: (i + 0.5) * width }] : [],
  );
  const titleOf = (row: DrawnRow) => {
    const figures = [...admitted, ...refused, ...lines.filter(({ colour }) => colour === "before")].map(
      ({ valueAt, words }) => `${formatNumber(valueAt(row))} ${words}`,
    );
    return `${timeOf(row.start, by)}: ${figures.join(", ")}${isOpen(row) ? ", reported so far" : ""}`;
  };
  return (
    <svg class="plot" height={HEIGHT} aria-hidden="true">
      <rect class="open" x={percent(100 - open * width)} width={percent(open * width)} height={bottom}>
        <title>Not all requests of this time are reported yet</title>
      </rect>
      <Panel rows={rows} series={admitted} top={HEAD} bottom={floor} lines={lines} />
      {refused.length > 0 && <Panel rows={rows} series={refused} top={floor + HEAD} bottom={bottom} />}
      {named.map(({ start, middle }, i) => (
        <text x={percent(middle)} y={HEIGHT - 5}>
          {labelOf(start, named[i - 1]?.start)}
        </text>
      ))}
      {rows.map(
        (row, i) =>
          isUsed(row) && (
            <rect class="hit" x={percent(i * width)} width={percent(width)} height={bottom}>
              <title>{titleOf(row)}</title>
            </rect>
          ),
      )}
    </svg>
  );
}

function isUsed({ admitted, refused, refusedWhileBanned }: DrawnRow): boolean {
  return admitted + refused + refusedWhileBanned > 0;
}

function percent(value: number): string {
  return `${Number(value.toFixed(2))}%`;
}

/** `26 Nov`, the next day of the month as `27`, or the hour of the day: `03:00`. */
function labelOf(start: string, before = ""): string {
  if (!isMidnight(start)) return start.slice(11, 16);
  const isSameMonth = isMidnight(before) && before.slice(0, 7) === start.slice(0, 7);
  return formatDay(start).slice(0, isSameMonth ? 2 : -" 2026".length);
}

function isMidnight(start: string): boolean {
  return ["", "00:00"].includes(start.slice(11, 16));
}

type PanelProps = Pick<Rows, "rows"> & {
  readonly series: readonly Series[];
  readonly top: number;
  readonly bottom: number;
  readonly lines?: BarsProps["lines"];
};

/** In percent of the width. */
const MAX_WIDTH = 4;
const MIN_HEIGHT = 3;
const MIN_DISTANCE = 24;

/** The bars with the lines of their scale. */
function Panel({ rows, series, top, bottom, lines = [] }: PanelProps) {
  const sums = rows.map((row) => series.reduce((sum, { valueAt }) => sum + valueAt(row), 0));
  const max = Math.max(...sums, ...lines.flatMap(({ valueAt }) => rows.map(valueAt)));
  const unit = unitOf(max, Math.floor((bottom - top) / MIN_DISTANCE));
  const highest = Math.max(unit, max);
  const heightOf = (value: number) => Math.round(((bottom - top) * value) / highest);
  const y = (value: number) => bottom - heightOf(value);
  const step = 100 / rows.length;
  const width = Math.min(0.76 * step, MAX_WIDTH);
  const middle = (i: number) => (i + 0.5) * step;
  const scale = Array.from({ length: Math.floor(highest / unit) + 1 }, (_, i) => i * unit);
  return (
    <>
      {scale.map((value) => (
        <>
          <line x2="100%" y1={y(value)} y2={y(value)} />
          <text class="scale" x={-8} y={y(value) + 4}>
            {formatShort(value)}
          </text>
        </>
      ))}
      {rows.map((row, i) => {
        let end = bottom;
        return series.map(({ colour, valueAt }) => {
          if (valueAt(row) === 0) return null;
          const height = Math.max(MIN_HEIGHT, heightOf(valueAt(row)));
          end -= height;
          return (
            <rect
              class={colour}
              x={percent(middle(i) - width / 2)}
              y={end}
              width={percent(width)}
              height={height}
            />
          );
        });
      })}
      {lines.map(({ colour, valueAt }) =>
        rows.map((row, i) => {
          if (valueAt(row) === 0) return null;
          const at = y(valueAt(row));
          return <line class={colour} x1={percent(i * step)} x2={percent((i + 1) * step)} y1={at} y2={at} />;
        }),
      )}
    </>
  );
}

/** The value between two lines, of which there are `count` at most: 1, 2 or 5 with zeros. */
function unitOf(max: number, count: number): number {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(max / count)));
  return [1, 2, 5, 10].map((n) => n * power).find((unit) => max / unit <= count) ?? max;
}
