/** Draws requests over time. Places across are in percent, so that text keeps its size on each screen. */
import type { DayUsage, TimeUsage } from "../../admin/usage/schema.ts";
import { formatDay, formatNumber, formatShort, formatTime } from "../../text/format.ts";
import { DAY_SECONDS, HOUR_SECONDS } from "../../text/time.ts";

/** Days of one key have their limit, and those of a report what the same day of the month before had. */
export type DrawnRow = TimeUsage & Partial<Pick<DayUsage, "limitPerDay"> & { readonly before: number }>;

/** A part of each bar, the lowest first. */
export type Series = {
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

type Props = Rows & {
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
/** The room of the times below the bars, and of a value above the highest bar. */
const FOOT = 22;
const HEAD = 18;
/** So many fit on a phone. */
const MAX_TIMES = 7;
const MAX_VALUES = 7;

const STEP_MS = { hour: HOUR_SECONDS * 1000, day: DAY_SECONDS * 1000 };
/** How far the times below the bars may be from each other. */
const DISTANCES = { hour: [1, 3, 6, 12, 24, 96, 336], day: [1, 2, 4, 7, 14, 28, 56] };

export function timeOf(start: string, by: Rows["by"]): string {
  return by === "day" ? formatDay(start) : formatTime(start);
}

export function Bars({ rows, by, asOf, admitted, refused, lines }: Props) {
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

export function isUsed({ admitted, refused, refusedWhileBanned }: DrawnRow): boolean {
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
  readonly lines?: Props["lines"];
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
      {rows.length <= MAX_VALUES &&
        sums.map(
          (sum, i) =>
            sum > 0 && (
              <text x={percent(middle(i))} y={y(sum) - 5}>
                {formatShort(sum)}
              </text>
            ),
        )}
    </>
  );
}

/** The value between two lines, of which there are `count` at most: 1, 2 or 5 with zeros. */
function unitOf(max: number, count: number): number {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(max / count)));
  return [1, 2, 5, 10].map((n) => n * power).find((unit) => max / unit <= count) ?? max;
}
