/** Draws requests over time as stacked bars, with the values of the bar under the pointer. */
import uPlot from "uplot";

const HEIGHT = 240;
const DAY_SECONDS = 86_400;

/** From the top of the stack to the bottom, so that each bar hides the upper part of the one before. */
const SERIES = ["banned", "refused", "admitted"] as const;

type Point = readonly [start: number, admitted: number, refused: number, banned: number];
type Range = {
  readonly from: number;
  readonly to: number;
  readonly step: number;
  readonly points: readonly Point[];
};

export function drawCharts(): void {
  for (const box of document.querySelectorAll<HTMLElement>(".plot")) keepDrawn(box, rangeOf(box.dataset));
}

/** Each bucket of the range, also those without requests. */
function rangeOf({ from, to, step, points }: DOMStringMap): Range {
  const given = new Map((JSON.parse(points ?? "[]") as Point[]).map((point) => [point[0], point]));
  const range = { from: Number(from), to: Number(to), step: Number(step) };
  const count = Math.ceil((range.to - range.from) / range.step);
  const starts = Array.from({ length: count }, (_, i) => range.from + i * range.step);
  return { ...range, points: starts.map((start) => given.get(start) ?? [start, 0, 0, 0]) };
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

function dataOf({ points }: Range): uPlot.AlignedData {
  return [
    points.map((_, i) => i),
    points.map(([, admitted, refused, banned]) => admitted + refused + banned),
    points.map(([, admitted, refused]) => admitted + refused),
    points.map(([, admitted]) => admitted),
  ];
}

function labelOf(start: number, step: number): string {
  const iso = new Date(start * 1000).toISOString();
  return step >= DAY_SECONDS || start % DAY_SECONDS === 0 ? iso.slice(5, 10) : iso.slice(11, 16);
}

function valuesOf([start, admitted, refused, banned]: Point, step: number): string {
  const iso = new Date(start * 1000).toISOString();
  const time = step >= DAY_SECONDS ? iso.slice(0, 10) : `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
  const format = (count: number) => count.toLocaleString("en");
  return `${time}: ${format(admitted)} admitted, ${format(refused)} refused, ${format(banned)} blocked`;
}

function optionsFor(box: HTMLElement, { points, step }: Range): uPlot.Options {
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
      y: { range: (_plot, _min, max) => [0, Math.max(max * 1.05, 5)] },
    },
    axes: [
      {
        ...axis,
        label: "UTC",
        size: 26,
        labelSize: 18,
        labelGap: 0,
        grid: { show: false },
        incrs: [1, 2, 3, 4, 6, 7, 12, 14, 24, 30],
        values: (_plot, ticks) => ticks.map((tick) => (points[tick] ? labelOf(points[tick][0], step) : "")),
      },
      {
        ...axis,
        // As wide as the longest number.
        size: (_plot, values) => 20 + 8 * Math.max(5, ...(values ?? []).map((value) => value.length)),
        incrs: [1, 2, 5, ...[10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].flatMap((n) => [n, 2 * n, 5 * n])],
        values: (_plot, ticks) => ticks.map((tick) => tick.toLocaleString("en")),
      },
    ],
    series: [
      {},
      ...SERIES.map((name) => ({
        fill: colour(`--chart-${name}`),
        stroke: colour(`--chart-${name}`),
        width: 0,
        points: { show: false },
        ...(bars ? { paths: bars } : {}),
      })),
    ],
    plugins: [{ hooks: valueHooks(points, step) }],
  };
}

/** Shows the values of the bar under the pointer. */
function valueHooks(points: readonly Point[], step: number) {
  const values = document.createElement("div");
  values.className = "plot-values";
  values.hidden = true;
  return {
    init: (plot: uPlot) => plot.root.append(values),
    setCursor: ({ cursor: { idx } }: uPlot) => {
      const point = points[idx ?? -1];
      values.hidden = point === undefined;
      if (point) values.textContent = valuesOf(point, step);
    },
  };
}
