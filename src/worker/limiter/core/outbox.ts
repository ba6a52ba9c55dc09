/**
 * What a limiter does beside deciding: what it owes the history in D1, when it must wake up, when it may forget.
 *
 * Pure: `nowMs` comes in.
 */
import { type Ban, ESCALATION_WINDOW_MS, liveBan } from "./ban.ts";
import { type DailyUsage, type LimiterState, usageOfDay } from "./limiter-state.ts";
import { DAY_MS } from "./quota.ts";

/** An idle limiter is forgotten after this long without a call. */
export const FORGET_AFTER_MS = DAY_MS;

/** A day is reported this long after its end at the latest, each key at its own moment, so that D1 sees no stampede. */
export const REPORT_SPREAD_MS = 15 * 60_000;

/** A report that failed is tried again by alarm after this long, if no request did so before. */
export const REPORT_RETRY_MS = 60_000;

/** An alarm set for the present from within an alarm is dropped by the local runtime. */
const MIN_ALARM_DELAY_MS = 1_000;

export type Report = {
  readonly days: readonly DailyUsage[];
  readonly bans: readonly Ban[];
  /** The newest day of which the history knows once this is told. */
  readonly reportedDayStartMs: number | null;
};

/** What the history has yet to hear, if anything. Today's use is told once, so that the key is known to be in use. */
export function pendingReport(state: LimiterState): Report | undefined {
  const dayStartMs = state.counts.day.startMs;
  const today = state.reportedDayStartMs === dayStartMs ? undefined : usageOfDay(state);
  const days = today ? [...state.finishedDays, today] : state.finishedDays;
  const bans = state.unreportedBans;
  if (days.length + bans.length === 0) return undefined;
  return { days, bans, reportedDayStartMs: today ? dayStartMs : state.reportedDayStartMs };
}

/** The state once that was told: what came up meanwhile stays to be told. */
export function acknowledge(state: LimiterState, told: Report): LimiterState {
  return {
    ...state,
    finishedDays: state.finishedDays.filter((day) => !told.days.includes(day)),
    unreportedBans: state.unreportedBans.filter((ban) => !told.bans.includes(ban)),
    reportedDayStartMs: told.reportedDayStartMs,
  };
}

/** When the limiter must wake up by itself at the latest: to tell the history something, or to be forgotten. */
export function alarmDueAtMs(state: LimiterState, keyId: string, nowMs: number): number {
  return Math.max(nowMs + MIN_ALARM_DELAY_MS, nextDutyAtMs(state, keyId, nowMs));
}

function nextDutyAtMs(state: LimiterState, keyId: string, nowMs: number): number {
  if (state.finishedDays.length + state.unreportedBans.length > 0) return nowMs + REPORT_RETRY_MS;
  if (usageOfDay(state)) return state.counts.day.startMs + DAY_MS + spreadMs(keyId);
  return forgettableAtMs(state, nowMs);
}

/** Whether nothing is left to remember: no recent call, no live ban, no escalation to decay, nothing untold. */
export function isForgettable(state: LimiterState, nowMs: number): boolean {
  return pendingReport(state) === undefined && nowMs >= forgettableAtMs(state, nowMs);
}

function forgettableAtMs(state: LimiterState, nowMs: number): number {
  const banEndsAtMs = liveBan(state.penalty, nowMs)?.endsAtMs ?? 0;
  const last = state.penalty.lastStrikeBan;
  return Math.max(
    state.seenAtMs + FORGET_AFTER_MS,
    banEndsAtMs,
    last === null ? 0 : last.endedAtMs + ESCALATION_WINDOW_MS,
  );
}

/** A fixed moment within the spread for each key. */
function spreadMs(keyId: string): number {
  let hash = 0;
  for (let i = 0; i < keyId.length; i++) hash = (hash * 31 + keyId.charCodeAt(i)) >>> 0;
  return hash % REPORT_SPREAD_MS;
}
