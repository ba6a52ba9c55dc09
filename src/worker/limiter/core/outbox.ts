/**
 * The outbox: what a limiter still has to report to D1. Reports may be repeated, so an item leaves the outbox only once
 * D1 has acknowledged it.
 *
 * Pure.
 */
import type { Ban } from "./ban.ts";
import { type DailyUsage, type LimiterState, usageOfDay } from "./limiter-state.ts";

export type Report = {
  readonly days: readonly DailyUsage[];
  readonly bans: readonly Ban[];
  /** The newest day whose usage D1 has, once this report is acknowledged. */
  readonly reportedDayStartMs: number | null;
};

/** The report that is due, if any. Today's usage is reported once, so that D1 knows that the key is in use. */
export function pendingReport(state: LimiterState): Report | undefined {
  const dayStartMs = state.counts.day.startMs;
  const today = state.reportedDayStartMs === dayStartMs ? undefined : usageOfDay(state);
  const days = today ? [...state.finishedDays, today] : state.finishedDays;
  const bans = state.unreportedBans;
  if (days.length + bans.length === 0) return undefined;
  return { days, bans, reportedDayStartMs: today ? dayStartMs : state.reportedDayStartMs };
}

/** The state once D1 has the report. What was added meanwhile stays in the outbox. */
export function acknowledge(state: LimiterState, report: Report): LimiterState {
  return {
    ...state,
    finishedDays: state.finishedDays.filter((day) => !report.days.includes(day)),
    unreportedBans: state.unreportedBans.filter((ban) => !report.bans.includes(ban)),
    reportedDayStartMs: report.reportedDayStartMs,
  };
}
