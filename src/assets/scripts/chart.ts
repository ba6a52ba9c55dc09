/**
 * Draws requests over time as stacked bars, with the values of the bar under the pointer. Refused ones are in a
 * band below, with a scale of its own: a few of them could not be seen above millions.
 */
import uPlot from "uplot";
import { formatDay, formatNumber, formatTime } from "../../worker/text/format.ts";

const HEIGHT = 240;
const BAND_HEIGHT = 64;
/** Each part of a bar of the band can be seen. */
const MIN_BAR = 3;
const IN_BAND = ["--chart-refused", "--chart-banned"];
const DAY_SECONDS = 86_400;

/** The first value is at the bottom of the stack. */
type Point = readonly [start: number, ...values: number[]];
/** What stands behind each number, as in `admitted`, and the custom property of the colour. */
type Series = readonly [words: string, colour: string];
type Range = {
  readonly series: readonly Series[];
  readonly from: number;
  readonly to: number;
  readonly step: number;
  /** Until then every request is counted. */
  readonly asOf: number;
  readonly points: readonly Point[];
};

type Plot = {
  readonly isBand: boolean;
  readonly height: number;
  readonly colours: readonly string[];
  /** From the top of the stack to the bottom, so that each bar hides the lower part of the one before. */
  readonly data: uPlot.AlignedData;
  readonly max: number;
};

export function drawCharts(): void {
  for (const [i, box] of document.querySelectorAll<HTMLElement>(".plot").entries())
    keepDrawn(box, rangeOf(box.dataset), `plot-${i}`);
}

/** Each bucket of the range, also those without requests. */
function rangeOf({ from, to, step, asOf, points, series: json }: DOMStringMap): Range {
  const series: readonly Series[] = JSON.parse(json ?? "[]");
  const given = new Map((JSON.parse(points ?? "[]") as Point[]).map((point) => [point[0], point]));
  const range = { from: Number(from), to: Number(to), step: Number(step), asOf: Number(asOf) };
  const count = Math.ceil((range.to - range.from) / range.step);
  const starts = Array.from({ length: count }, (_, i) => range.from + i * range.step);
  const none = series.map(() => 0);
  return { ...range, series, points: starts.map((start) => given.get(start) ?? [start, ...none]) };
}

/** Draws again when the width or the colour scheme changes. */
function keepDrawn(box: HTMLElement, range: Range, key: string): void {
  const plots = plotsOf(range);
  let drawn: uPlot[] = [];
  const redraw = () => {
    for (const each of drawn) each.destroy();
    // As wide as the longest number, so that the bars of both are in line.
    const longest = Math.max(5, ...plots.map(({ max }) => formatNumber(Math.ceil(max)).length));
    drawn = plots.map((plot) => {
      const options = optionsFor(box, range, plot, 20 + 8 * longest);
      return new uPlot({ ...options, cursor: { ...options.cursor, sync: { key } } }, plot.data, box);
    });
  };
  redraw();
  new ResizeObserver(() => {
    for (const [i, each] of drawn.entries())
      each.setSize({ width: box.clientWidth, height: plots[i]?.height ?? 0 });
  }).observe(box);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

/** With a band and without one the whole has the same height. */
function plotsOf(range: Range): readonly Plot[] {
  const isInBand = range.series.map(([, colour]) => IN_BAND.includes(colour));
  const band = plotOf(range, (i) => isInBand[i] === true, true);
  const above = plotOf(range, (i) => isInBand[i] !== true, false);
  return band.max === 0 ? [{ ...above, height: HEIGHT }] : [above, band];
}

function plotOf({ series, points }: Range, has: (series: number) => boolean, isBand: boolean): Plot {
  const shown = points.map(([, ...values]) => values.filter((_, i) => has(i)));
  const max = Math.max(...shown.map(sumOf));
  const height = isBand ? BAND_HEIGHT : HEIGHT - BAND_HEIGHT;
  const least = isBand ? (max * MIN_BAR) / (height - 4 * MIN_BAR) : 0;
  const seen = shown.map((values) => values.map((value) => (value === 0 ? 0 : Math.max(value, least))));
  const colours = series.filter((_, i) => has(i)).map(([, colour]) => colour);
  const heights = colours.map((_, i) => seen.map((values) => sumOf(values.slice(0, i + 1))));
  const data: uPlot.AlignedData = [points.map((_, i) => i), ...heights.toReversed()];
  return { isBand, height, colours: colours.toReversed(), data, max };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** `26 Nov`, or the hour of that day. */
function labelOf(start: number, step: number): string {
  const iso = new Date(start * 1000).toISOString();
  return step >= DAY_SECONDS || start % DAY_SECONDS === 0
    ? formatDay(iso).slice(0, -" 2026".length)
    : iso.slice(11, 16);
}

function isEmpty([, ...values]: Point): boolean {
  return sumOf(values) === 0;
}

/** A bucket can get more requests than were reported. */
function isOpen([start]: Point, { step, asOf }: Range): boolean {
  return start + step > asOf;
}

/** What is said of a bucket without a figure. */
function nothingIn(point: Point, range: Range): string {
  return isOpen(point, range) ? "not reported yet" : "no requests";
}

function valuesOf(point: Point, range: Range): string {
  const { step, series } = range;
  const [start, ...values] = point;
  const iso = new Date(start * 1000).toISOString();
  const time = step >= DAY_SECONDS ? formatDay(iso) : formatTime(iso);
  if (isEmpty(point)) return `${time}: ${nothingIn(point, range)}`;
  const soFar = isOpen(point, range) ? ", reported so far" : "";
  const figures = series.map(([words], i) => `${formatNumber(values[i] ?? 0)} ${words}`);
  return `${time}: ${figures.join(", ")}${soFar}`;
}

/** The distance of the lines: four to ten of them, the last one above the highest bar. */
function stepFor(max: number): number {
  return (
    [1, 2, 5]
      .map((n) => n * 10 ** Math.max(0, Math.floor(Math.log10(max / 4))))
      .findLast((n) => 4 * n <= max) ?? 1
  );
}

function optionsFor(box: HTMLElement, range: Range, plot: Plot, size: number): uPlot.Options {
  const { points, step } = range;
  // Resolved for the colour scheme, which the value of the custom property is not.
  const colour = (name: string) => {
    box.style.color = `var(${name})`;
    return getComputedStyle(box).color;
  };
  const axis = {
    stroke: colour("--muted"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  const bars = uPlot.paths.bars?.({ size: [0.75, 40] });
  return {
    width: box.clientWidth,
    height: plot.height,
    padding: [8, 20, plot.isBand ? 8 : 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
    scales: {
      x: { time: false, range: [-0.6, points.length - 0.4] },
      y: {
        range: (_plot, _min, max) => [
          0,
          plot.isBand ? max * 1.05 : (Math.floor(max / stepFor(max)) + 1) * stepFor(max),
        ],
      },
    },
    axes: [
      {
        ...axis,
        show: !plot.isBand,
        label: "UTC",
        size: 26,
        labelSize: 18,
        labelGap: 0,
        grid: { show: false },
        incrs: step < DAY_SECONDS ? [1, 2, 3, 4, 6, 12, 24, 48, 96, 168] : [1, 2, 7, 14, 28],
        // A label at midnight is that of the day.
        splits: (_plot, _axis, _min, _max, distance) => {
          const midnight = Math.max(
            0,
            points.findIndex(([start]) => start % DAY_SECONDS === 0),
          );
          return points.map((_, i) => i).filter((i) => (i - midnight) % distance === 0);
        },
        values: (_plot, ticks) => ticks.map((tick) => (points[tick] ? labelOf(points[tick][0], step) : "")),
      },
      {
        ...axis,
        size,
        splits: (_plot, _axis, _min, max) => {
          if (plot.isBand) return [0, plot.max];
          const step = stepFor(max - 1);
          return Array.from({ length: Math.round(max / step) + 1 }, (_, i) => i * step);
        },
        values: (_plot, ticks) => ticks.map(formatNumber),
      },
    ],
    series: [
      {},
      ...plot.colours.map((name) => ({
        fill: colour(name),
        stroke: colour(name),
        width: 0,
        points: { show: false },
        ...(bars ? { paths: bars } : {}),
      })),
    ],
    plugins: [
      {
        hooks: {
          ...(plot.isBand ? {} : valueHooks(range)),
          drawClear: (drawn) => shadeOpen(drawn, range, colour("--line")),
          ...(plot.isBand ? {} : { draw: (drawn) => nameGaps(drawn, range, colour("--muted")) }),
        },
      },
    ],
  };
}

/** Limiters have not reported all requests of these buckets. */
function shadeOpen({ ctx, bbox, valToPos }: uPlot, range: Range, colour: string): void {
  const first = range.points.findIndex((point) => isOpen(point, range));
  if (first === -1) return;
  const left = Math.max(bbox.left, valToPos(first - 0.5, "x", true));
  ctx.save();
  ctx.fillStyle = colour;
  ctx.globalAlpha = 0.6;
  ctx.fillRect(left, bbox.top, bbox.left + bbox.width - left, bbox.height);
  ctx.restore();
}

/** So that nobody takes a time without figures for a chart that is not drawn. */
function nameGaps({ ctx, bbox, valToPos }: uPlot, range: Range, colour: string): void {
  const { points } = range;
  ctx.save();
  ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.fillStyle = colour;
  ctx.textAlign = "center";
  const textAt = (i: number) => {
    const point = points[i];
    return point && isEmpty(point) ? nothingIn(point, range) : "";
  };
  for (let first = 0, i = 1; i <= points.length; i++) {
    const text = textAt(first);
    if (i < points.length && textAt(i) === text) continue;
    const [left, right] = [valToPos(first - 0.5, "x", true), valToPos(i - 0.5, "x", true)];
    if (right - left > ctx.measureText(text).width * 1.2)
      ctx.fillText(text, (left + right) / 2, bbox.top + bbox.height - 8 * devicePixelRatio);
    first = i;
  }
  ctx.restore();
}

/** Shows the values of the bar under the pointer. */
function valueHooks(range: Range) {
  const values = document.createElement("div");
  values.className = "plot-values";
  values.hidden = true;
  return {
    init: (plot: uPlot) => plot.root.append(values),
    setCursor: ({ cursor: { idx } }: uPlot) => {
      const point = range.points[idx ?? -1];
      values.hidden = point === undefined;
      if (point) values.textContent = valuesOf(point, range);
    },
  };
}
