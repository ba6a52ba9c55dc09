/**
 * The outbox: what a limiter still has to report to D1. Reports may be repeated, so an item leaves the outbox only once
 * D1 has acknowledged it.
 *
 * Pure: `nowMs` is a parameter.
 */
import type { Ban } from "./ban.ts";
import { type DailyUsage, hasUsage, type LimiterState, usageOfDay } from "./limiter-state.ts";

/**
 * Usage is reported from a moment within this time of the UTC day on. Each key has its own moment, so that D1 gets no burst
 * of reports at midnight.
 */
export const REPORT_SPREAD_MS = 15 * 60_000;

export type Report = {
  readonly days: readonly DailyUsage[];
  readonly bans: readonly Ban[];
  /** The limiter's current day, if its usage so far is part of this report. */
  readonly currentDayStartMs: number | null;
};

/**
 * The report that is due, if any. A ban is due at once. Usage is due from the key's moment of the day on: of finished days,
 * and once a day of the current one, so that D1 knows that the key is in use.
 */
export function pendingReport(state: LimiterState, nowMs: number): Report | undefined {
  if (isEverythingReported(state)) return undefined;
  const isUsageDue = nowMs >= usageDueAtMs(state);
  if (!isUsageDue && state.unreportedBans.length === 0) return undefined;
  const current = isUsageDue && hasUnreportedUsage(state) ? usageOfDay(state) : undefined;
  const finishedDays = isUsageDue ? state.finishedDays : [];
  const days = current ? [...finishedDays, current] : finishedDays;
  if (days.length + state.unreportedBans.length === 0) return undefined;
  return {
    days,
    bans: state.unreportedBans,
    currentDayStartMs: current ? state.counts.day.startMs : null,
  };
}

/** Whether D1 has all that the limiter reports, due or not. */
export function isEverythingReported(state: LimiterState): boolean {
  const { finishedDays, unreportedBans } = state;
  return finishedDays.length + unreportedBans.length === 0 && !hasUnreportedUsage(state);
}

/** Whether D1 does not know yet that the key is in use on the current day. */
function hasUnreportedUsage(state: LimiterState): boolean {
  return state.reportedDayStartMs !== state.counts.day.startMs && hasUsage(state);
}

/** The key's moment of the limiter's current day. */
export function usageDueAtMs(state: LimiterState): number {
  return state.counts.day.startMs + spreadMs(state.keyId);
}

/** The state once D1 has the report. What was added meanwhile stays in the outbox. */
export function acknowledge(state: LimiterState, report: Report): LimiterState {
  return {
    ...state,
    finishedDays: state.finishedDays.filter((day) => !report.days.includes(day)),
    unreportedBans: state.unreportedBans.filter((ban) => !report.bans.includes(ban)),
    reportedDayStartMs: report.currentDayStartMs ?? state.reportedDayStartMs,
  };
}

/** A fixed moment within the spread for each key. */
function spreadMs(keyId: string): number {
  let hash = 0;
  for (let i = 0; i < keyId.length; i++) hash = (hash * 31 + keyId.charCodeAt(i)) >>> 0;
  return hash % REPORT_SPREAD_MS;
}
