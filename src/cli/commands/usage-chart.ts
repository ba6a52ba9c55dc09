/** Usage by day and by hour, as charts of bars. */
import * as v from "valibot";
import { arrayOf, figures, type hours } from "./answers.ts";
import { bar, widest } from "./print.ts";
import type { List } from "./session.ts";

export type Figures = { admitted: number; refused: number; refusedWhileBanned: number };

/** Older services do not say it. */
export const live = v.optional(v.boolean(), true);

export const keyUsageShape = v.object({
  days: arrayOf(v.object({ day: v.string(), ...figures, live })),
  hours: arrayOf(v.object({ hour: v.string(), ...figures, live })),
});

type HourUsage = v.InferOutput<typeof hours>[number];

const COLUMNS = ["admitted", "refused", "while banned"].map((label) => ({ label }));
const LIVE = { label: "live" };
const NOT_LIVE =
  "The key's limiter cannot be reached: the figures of today and yesterday are as last reported, and there can be more.";

/** Hours, then days; of the two only what was asked for. As CSV one table: the hours only if they were asked for. */
export function listOfKeyUsage(
  { days, hours }: v.InferOutput<typeof keyUsageShape>,
  only: { days?: string; hours?: string },
): List {
  const byDay = days.map((each) => ({ ...each, label: each.day }));
  const byHour = hours.map((each) => ({ ...each, label: hourLabel(each.hour) }));
  const note = [...days, ...hours].every(({ live }) => live) ? "" : NOT_LIVE;
  if (only.hours !== undefined) {
    return {
      note,
      columns: [{ label: "hour" }, ...COLUMNS, LIVE],
      rows: hours.map((each) => [each.hour, ...figuresOf(each), yesOrNo(each.live)]),
      chart: (width) => chart(byHour, width),
    };
  }
  return {
    note,
    columns: [{ label: "day" }, ...COLUMNS, LIVE],
    rows: days.map((each) => [each.day, ...figuresOf(each), yesOrNo(each.live)]),
    chart: (width) =>
      only.days === undefined
        ? `By hour, UTC\n${chart(byHour, width)}\n\nBy day, UTC\n${chart(byDay, width)}`
        : chart(byDay, width),
  };
}

/** The hours of a day, of all keys and of each plan. */
export function listOfDayHours(
  parts: readonly { name: string; hours: readonly HourUsage[] }[],
  note: string,
): List {
  const charts = (width: number) =>
    parts.map(({ name, hours }) =>
      [
        name,
        chart(
          hours.map((each) => ({ ...each, label: hourLabel(each.hour) })),
          width,
        ),
      ].join("\n"),
    );
  return {
    note,
    columns: [{ label: "plan" }, { label: "hour" }, ...COLUMNS],
    rows: parts.flatMap(({ name, hours }) => hours.map((each) => [name, each.hour, ...figuresOf(each)])),
    chart: (width) => charts(width).join("\n\n"),
  };
}

export function figuresOf({ admitted, refused, refusedWhileBanned }: Figures): number[] {
  return [admitted, refused, refusedWhileBanned];
}

export function yesOrNo(value: boolean): string {
  return value ? "yes" : "no";
}

function hourLabel(hour: string): string {
  return hour.slice(0, 16).replace("T", " ");
}

const MAX_BAR_CHARS = 40;
const MIN_BAR_CHARS = 8;

function chart(rows: readonly (Figures & { label: string })[], width: number): string {
  if (rows.length === 0) return "Nothing to show.";
  const max = Math.max(...rows.map(({ admitted }) => admitted));
  const figures = rows.map((row) => describeFigures(row));
  const spare = width - widest(rows.map(({ label }) => label)) - widest(figures) - 2;
  const barChars = Math.max(MIN_BAR_CHARS, Math.min(MAX_BAR_CHARS, spare));
  return rows
    .map(({ label, admitted }, i) => [label, bar(admitted, max, barChars), figures[i]])
    .map((parts) => parts.filter((part) => part !== "").join(" "))
    .join("\n");
}

export function describeFigures({ admitted, refused, refusedWhileBanned }: Figures, unit = ""): string {
  const refusals = [
    ...(refused > 0 ? [`${refused} refused`] : []),
    ...(refusedWhileBanned > 0 ? [`${refusedWhileBanned} while banned`] : []),
  ];
  return `${admitted}${unit}${refusals.length > 0 ? ` (${refusals.join(", ")})` : ""}`;
}
