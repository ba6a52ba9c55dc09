/** Draws the results as an SVG: CPU time of each kind of request as bars, and the time of a list against its orders. */
import type { Results } from "./results.ts";

const WIDTH = 960;
const BAR = { height: 18, gap: 8, left: 270, width: 560 } as const;
const CHART = { left: 90, width: 740, height: 260 } as const;
const COLORS = { ours: "#0b6e4f", "drizzle rows, c.json": "#b5651d", other: "#7a8ca3" } as const;

export function plot({ cases, lists }: Results): string {
  const bars = cases.flatMap(({ name, cpu }) => (cpu ? [{ name, ...cpu.msPerRequest }] : []));
  const barsHeight = bars.length === 0 ? 0 : 60 + bars.length * (BAR.height + BAR.gap);
  const chartHeight = lists.length === 0 ? 0 : CHART.height + 110;
  const height = barsHeight + chartHeight + 20;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="#fff"/>
${bars.length === 0 ? "" : barChart(bars)}
${lists.length === 0 ? "" : `<g transform="translate(0 ${barsHeight})">${listChart(lists)}</g>`}
</svg>
`;
}

type Bar = { readonly name: string; readonly median: number; readonly min: number; readonly max: number };

function barChart(bars: readonly Bar[]): string {
  const scale = BAR.width / Math.max(...bars.map(({ max }) => max));
  const rows = bars.map(({ name, median, min, max }, i) => {
    const y = 44 + i * (BAR.height + BAR.gap);
    const middle = y + BAR.height / 2;
    const x = (value: number) => (BAR.left + value * scale).toFixed(1);
    const color = name.startsWith("ours") ? COLORS.ours : COLORS.other;
    return `<text x="${BAR.left - 10}" y="${middle + 5}" text-anchor="end">${escaped(name)}</text>
<rect x="${BAR.left}" y="${y}" width="${(median * scale).toFixed(1)}" height="${BAR.height}" fill="${color}"/>
<line x1="${x(min)}" x2="${x(max)}" y1="${middle}" y2="${middle}" stroke="#222"/>
<text x="${Number(x(max)) + 8}" y="${middle + 5}">${median.toFixed(2)}</text>`;
  });
  return `${title("CPU time of workerd per request, ms (median; the line is the least and the greatest round)")}\n${rows.join("\n")}`;
}

type Lists = Results["lists"];
type Point = { readonly orders: number; readonly totalMs: number };

/** Both axes are logarithmic, so an empty list has no place on it. */
function listChart(lists: Lists): string {
  const series = [...new Set(lists.map(({ list }) => list))].flatMap((list) =>
    (["cold", "changed", "unchanged"] as const).map((state) => ({
      list,
      state,
      points: lists.flatMap((each): Point[] => {
        const totalMs = each.states[state]?.totalMs;
        return each.list === list && each.orders > 0 && totalMs !== undefined
          ? [{ orders: each.orders, totalMs }]
          : [];
      }),
    })),
  );
  const points = series.flatMap((each) => each.points);
  if (points.length === 0) return "";
  const x = logScale(
    points.map(({ orders }) => orders),
    CHART.left,
    CHART.left + CHART.width,
  );
  const y = logScale(
    points.map(({ totalMs }) => totalMs),
    50 + CHART.height,
    50,
  );
  const lines = series.map(({ list, state, points }) => {
    const path = points.map(({ orders, totalMs }) => `${x.at(orders)},${y.at(totalMs)}`).join(" ");
    const color = list === "ours" ? COLORS.ours : COLORS["drizzle rows, c.json"];
    const dots = points
      .map(
        ({ orders, totalMs }) => `<circle cx="${x.at(orders)}" cy="${y.at(totalMs)}" r="3" fill="${color}"/>`,
      )
      .join("");
    return `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2" stroke-dasharray="${DASHES[state]}"/>${dots}`;
  });
  return [title("Time of the whole list, ms, by number of orders"), axes(x, y), ...lines, legend()].join(
    "\n",
  );
}

const DASHES = { cold: "none", changed: "7 4", unchanged: "2 4" } as const;

type Scale = { readonly at: (value: number) => string; readonly ticks: readonly number[] };

/** Over whole powers of ten. */
function logScale(values: readonly number[], from: number, to: number): Scale {
  const first = Math.floor(Math.log10(Math.min(...values)));
  const last = Math.max(Math.ceil(Math.log10(Math.max(...values))), first + 1);
  return {
    at: (value) => (from + ((Math.log10(value) - first) / (last - first)) * (to - from)).toFixed(1),
    ticks: Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i)),
  };
}

function axes(x: Scale, y: Scale): string {
  const bottom = 50 + CHART.height;
  const right = CHART.left + CHART.width;
  const vertical = x.ticks.map(
    (tick) => `<line x1="${x.at(tick)}" x2="${x.at(tick)}" y1="50" y2="${bottom}" stroke="#ddd"/>
<text x="${x.at(tick)}" y="${bottom + 20}" text-anchor="middle">${tick.toLocaleString("en")}</text>`,
  );
  const horizontal = y.ticks.map(
    (tick) => `<line x1="${CHART.left}" x2="${right}" y1="${y.at(tick)}" y2="${y.at(tick)}" stroke="#ddd"/>
<text x="${CHART.left - 10}" y="${Number(y.at(tick)) + 5}" text-anchor="end">${tick.toLocaleString("en")}</text>`,
  );
  return [...vertical, ...horizontal].join("\n");
}

function legend(): string {
  const y = CHART.height + 98;
  const entries = [
    ...(["ours", "drizzle rows, c.json"] as const).map((list) => ({
      label: list,
      color: COLORS[list],
      dash: "none",
    })),
    ...(["cold", "changed", "unchanged"] as const).map((state) => ({
      label: state,
      color: "#222",
      dash: DASHES[state],
    })),
  ];
  return entries
    .map(({ label, color, dash }, i) => {
      const left = CHART.left + i * 175;
      return `<line x1="${left}" x2="${left + 36}" y1="${y - 4}" y2="${y - 4}" stroke="${color}" stroke-width="2" stroke-dasharray="${dash}"/><text x="${left + 42}" y="${y}">${label}</text>`;
    })
    .join("\n");
}

function title(text: string): string {
  return `<text x="20" y="26" font-size="15" font-weight="bold">${escaped(text)}</text>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
