/** Usage by day or by hour as points of a chart. Pure. */
import { formatDay, formatHour, formatTime } from "../../shared/format.ts";
import type { DayFigures, HourFigures } from "../api-types.ts";

export type UsagePoint = {
  /** Below the chart. */
  readonly label: string;
  /** In the table. */
  readonly name: string;
  readonly admitted: number;
  readonly refused: number;
  readonly refusedWhileBanned: number;
};

/** Days are UTC days. */
export function pointsOfDays(days: readonly DayFigures[]): UsagePoint[] {
  return days.map((figures) => ({ ...figures, label: formatDay(figures.day), name: figures.day }));
}

/** Hours are shown in local time. */
export function pointsOfHours(hours: readonly HourFigures[]): UsagePoint[] {
  return hours.map((figures) => ({
    ...figures,
    label: formatHour(figures.hour),
    name: formatTime(figures.hour),
  }));
}
