/** Requests by day or by hour as stacked bars, and the same figures as a table for those who do not see the chart. */
import { useEffect, useId, useRef } from "preact/hooks";
import uPlot from "uplot";
import { counted, formatNumber } from "../../shared/format.ts";
import type { UsagePoint } from "./points.ts";
import { stack } from "./stack.ts";

const HEIGHT = 220;

/** From the top of the stack to the bottom, so that each bar hides the upper part of the one before. */
const SERIES = [
  { label: "While banned", name: "banned" },
  { label: "Refused", name: "refused" },
  { label: "Admitted", name: "admitted" },
] as const;

export function UsageChart({
  points,
  title,
}: {
  readonly points: readonly UsagePoint[];
  readonly title: string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const titleId = useId();
  useEffect(() => {
    const element = box.current;
    return element ? draw(element, points) : undefined;
  }, [points]);
  const sum = (pick: (point: UsagePoint) => number) =>
    points.reduce((total, point) => total + pick(point), 0);
  return (
    <figure class="chart" aria-labelledby={titleId}>
      <figcaption id={titleId}>
        {title}:{" "}
        {counted(
          sum((point) => point.admitted),
          "request",
        )}{" "}
        admitted, {formatNumber(sum((point) => point.refused))} refused,{" "}
        {formatNumber(sum((point) => point.refusedWhileBanned))} while banned
      </figcaption>
      <div ref={box} class="plot" aria-hidden="true" />
      <ul class="legend" aria-hidden="true">
        {SERIES.toReversed().map(({ label, name }) => (
          <li key={label} class={name}>
            {label}
          </li>
        ))}
      </ul>
      <details>
        <summary>As a table</summary>
        <FiguresTable points={points} title={title} />
      </details>
    </figure>
  );
}

function FiguresTable({ points, title }: { readonly points: readonly UsagePoint[]; readonly title: string }) {
  const used = points
    .filter((point) => point.admitted + point.refused + point.refusedWhileBanned > 0)
    .toReversed();
  if (used.length === 0) return <p class="muted">No requests.</p>;
  return (
    <div class="scrollable">
      <table>
        <caption class="sr-only">{title}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col" class="number">
              Admitted
            </th>
            <th scope="col" class="number">
              Refused
            </th>
            <th scope="col" class="number">
              While banned
            </th>
          </tr>
        </thead>
        <tbody>
          {used.map((point) => (
            <tr key={point.name}>
              <th scope="row">{point.name}</th>
              <td class="number">{formatNumber(point.admitted)}</td>
              <td class="number">{formatNumber(point.refused)}</td>
              <td class="number">{formatNumber(point.refusedWhileBanned)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Draws again when the width or the colour scheme changes. Returns a function that removes the chart. */
function draw(box: HTMLElement, points: readonly UsagePoint[]): () => void {
  let plot: uPlot | undefined;
  const redraw = () => {
    plot?.destroy();
    plot = new uPlot(optionsFor(box, points), dataOf(points), box);
  };
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const resized = new ResizeObserver(() => plot?.setSize({ width: box.clientWidth, height: HEIGHT }));
  redraw();
  resized.observe(box);
  scheme.addEventListener("change", redraw);
  return () => {
    resized.disconnect();
    scheme.removeEventListener("change", redraw);
    plot?.destroy();
  };
}

function dataOf(points: readonly UsagePoint[]): uPlot.AlignedData {
  const stacked = stack(points.map((point) => [point.admitted, point.refused, point.refusedWhileBanned]));
  return [points.map((_, i) => i), ...stacked.toReversed()];
}

function optionsFor(box: HTMLElement, points: readonly UsagePoint[]): uPlot.Options {
  const colours = getComputedStyle(box);
  const colour = (name: string) => colours.getPropertyValue(name).trim();
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
    cursor: { show: false },
    scales: {
      x: { time: false, range: [-0.6, points.length - 0.4] },
      y: { range: (_plot, _min, max) => [0, Math.max(max * 1.05, 5)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        incrs: [1, 2, 3, 4, 6, 7, 12, 14, 30],
        values: (_plot, ticks) => ticks.map((tick) => points[tick]?.label ?? ""),
      },
      {
        ...axis,
        size: 60,
        incrs: [1, 2, 5, 10, 20, 50, ...[100, 1e3, 1e4, 1e5, 1e6, 1e7].flatMap((n) => [n, 2 * n, 5 * n])],
        values: (_plot, ticks) => ticks.map((tick) => formatNumber(tick)),
      },
    ],
    series: [
      {},
      ...SERIES.map(({ label, name }) => ({
        label,
        fill: colour(`--chart-${name}`),
        stroke: colour(`--chart-${name}`),
        width: 0,
        points: { show: false },
        ...(bars ? { paths: bars } : {}),
      })),
    ],
  };
}
