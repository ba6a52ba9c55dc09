/** Shows requests over time as a table, which a script draws as a chart. */
import type { TimeUsage } from "../../admin/usage/schema.ts";
import { formatDay, formatNumber, formatTime } from "../../text/format.ts";
import { DAY_SECONDS, HOUR_SECONDS } from "../../text/time.ts";
import { addressOf } from "./forms.ts";
import { Presets } from "./list.tsx";
import type { ConsoleContext } from "./page.tsx";
import { type Column, Count, NONE, Table, Time } from "./ui.tsx";

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

/** Says until when all requests are counted, and whose counters could not say so. */
export function AsOf({ c, iso, unreachable = [] }: AsOfProps) {
  return (
    <>
      {unreachable.length > 0 && `The counters of ${unreachable.join(", ")} cannot be reached. `}
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
  /** Divides the admitted requests by key. There are `MAX_KEYS_DRAWN` keys at most, with the same rows. */
  readonly keys?: readonly KeyRows[];
};

type KeyRows = { readonly name: string; readonly rows: readonly TimeUsage[] };

/** A part of each bar, the lowest first. */
type Series = {
  readonly label: string;
  /** What stands behind a number: `12 admitted`. */
  readonly words: string;
  /** A class of the legend. The colour is `--chart-` with this name. */
  readonly colour: string;
  readonly valueAt: (row: TimeUsage) => number;
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

const KEY_COLOURS = ["admitted", "key-2", "key-3", "key-4"];
export const MAX_KEYS_DRAWN = KEY_COLOURS.length;

function seriesOf(keys: readonly KeyRows[]): readonly Series[] {
  const starts = new Map(keys[0]?.rows.map(({ start }, i) => [start, i]));
  const admittedOf = ({ rows }: KeyRows, { start }: TimeUsage) =>
    rows[starts.get(start) ?? -1]?.admitted ?? 0;
  const ofKeys = keys.map((key, i) => ({
    ...{ label: key.name, words: `of ${key.name}`, colour: KEY_COLOURS[i] ?? "others" },
    valueAt: (row: TimeUsage) => admittedOf(key, row),
  }));
  const others: Series = {
    ...{ label: "Other keys", words: "of other keys", colour: "others" },
    valueAt: (row) => keys.reduce((rest, key) => rest - admittedOf(key, row), row.admitted),
  };
  return [...ofKeys, others];
}

export function UsageChart({ title, rows, by, asOf, keys = [] }: Props) {
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
  const byKey = seriesOf(keys).filter(({ valueAt }) => used.some((row) => valueAt(row) > 0));
  const admitted = keys.length === 0 ? [ADMITTED] : byKey;
  const series = [...admitted, ...NOT_ADMITTED];
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
        data-series={JSON.stringify(series.map(({ words, colour }) => [words, `--chart-${colour}`]))}
        data-points={JSON.stringify(
          used.map((row) => [secondsOf(row), ...series.map(({ valueAt }) => valueAt(row))]),
        )}
      />
      <ul class="legend" aria-hidden="true">
        {series.map(({ label, colour }) => (
          <li class={colour}>{label}</li>
        ))}
        {used.some((row) => row.refused + row.refusedWhileBanned > 0) && (
          <li class="hint">Below: refused and blocked, on a scale of their own</li>
        )}
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
            ...(keys.length === 0 ? [] : byKey).map(
              ({ label, valueAt }): Column<TimeUsage> => ({
                ...{ name: label, isNumber: true },
                cell: (row) => <Count value={valueAt(row)} />,
              }),
            ),
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

type SparklineProps = {
  readonly days: readonly TimeUsage[];
  /** The key's limit of a day. */
  readonly limit: number;
};

const BAR_WIDTH = 6;
const FULL_HEIGHT = 18;

/** Draws a bar for each day, and the limit as a line. Days with refusals have their own colour. */
export function Sparkline({ days, limit }: SparklineProps) {
  const max = Math.max(...days.map(({ admitted }) => admitted));
  const isRefused = ({ refused, refusedWhileBanned }: TimeUsage) => refused + refusedWhileBanned > 0;
  if (max <= 0 && !days.some(isRefused)) return NONE;
  const scale = Math.max(limit, max);
  const top = (value: number) => FULL_HEIGHT - Math.round((FULL_HEIGHT * value) / scale);
  const text = `at most ${formatNumber(max)} admitted a day, limit ${formatNumber(limit)}`;
  return (
    <svg
      class="sparkline"
      role="img"
      aria-label={text}
      width={days.length * BAR_WIDTH}
      height={FULL_HEIGHT + 1}
    >
      <title>{text}</title>
      {days.map((day, i) => {
        const y = Math.min(top(day.admitted), FULL_HEIGHT - 2);
        if (day.admitted === 0 && !isRefused(day)) return null;
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
      <rect class="limit" x={0} y={top(limit)} width={days.length * BAR_WIDTH - 1} height={1} />
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
    {
      name: "Admitted",
      isNumber: true,
      ...sorted("admitted"),
      cell: (row) => <Count value={row.admitted} />,
    },
    { name: "Refused", isNumber: true, ...sorted("refused"), cell: (row) => <Count value={row.refused} /> },
    { name: "Blocked by bans", isNumber: true, cell: (row) => <Count value={row.refusedWhileBanned} /> },
  ];
}
