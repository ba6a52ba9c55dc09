/** Draws requests over time as stacked bars, with the values of the bar under the pointer. */
import uPlot from "uplot";
import { formatDay, formatNumber, formatTime } from "../../worker/text/format.ts";

const HEIGHT = 240;
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

export function drawCharts(): void {
  for (const box of document.querySelectorAll<HTMLElement>(".plot")) keepDrawn(box, rangeOf(box.dataset));
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
function keepDrawn(box: HTMLElement, range: Range): void {
  let plot: uPlot | undefined;
  const redraw = () => {
    plot?.destroy();
    plot = new uPlot(optionsFor(box, range), dataOf(range), box);
  };
  redraw();
  new ResizeObserver(() => plot?.setSize({ width: box.clientWidth, height: HEIGHT })).observe(box);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

/** From the top of the stack to the bottom, so that each bar hides the lower part of the one before. */
function dataOf({ series, points }: Range): uPlot.AlignedData {
  const heights = series.map((_, i) => points.map(([, ...values]) => sumOf(values.slice(0, i + 1))));
  return [points.map((_, i) => i), ...heights.toReversed()];
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

function optionsFor(box: HTMLElement, range: Range): uPlot.Options {
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
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
    scales: {
      x: { time: false, range: [-0.6, points.length - 0.4] },
      y: { range: (_plot, _min, max) => [0, (Math.floor(max / stepFor(max)) + 1) * stepFor(max)] },
    },
    axes: [
      {
        ...axis,
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
        // As wide as the longest number.
        size: (_plot, values) => 20 + 8 * Math.max(5, ...(values ?? []).map((value) => value.length)),
        splits: (_plot, _axis, _min, max) => {
          const step = stepFor(max - 1);
          return Array.from({ length: Math.round(max / step) + 1 }, (_, i) => i * step);
        },
        values: (_plot, ticks) => ticks.map(formatNumber),
      },
    ],
    series: [
      {},
      ...range.series.toReversed().map(([, name]) => ({
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
          ...valueHooks(range),
          drawClear: (plot) => shadeOpen(plot, range, colour("--line")),
          draw: (plot) => nameGaps(plot, range, colour("--muted")),
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
