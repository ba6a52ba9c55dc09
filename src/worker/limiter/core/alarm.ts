/**
 * When a limiter's alarm is due, and when its storage can be deleted.
 *
 * Pure: `nowMs` is a parameter.
 */
import { ESCALATION_WINDOW_MS } from "./ban.ts";
import { type LimiterState, usageOfDay } from "./limiter-state.ts";
import { pendingReport } from "./outbox.ts";
import { DAY_MS } from "./quota.ts";

/** The storage of an idle limiter is deleted this long after its last save. */
export const DELETE_AFTER_MS = DAY_MS;

/** A finished day is reported within this time, each key at its own moment, so that D1 gets no burst of reports at midnight. */
export const REPORT_SPREAD_MS = 15 * 60_000;

/** The alarm repeats a failed report after this time, unless a request has done so before. */
export const REPORT_RETRY_MS = 60_000;

/** An alarm set for the present from within an alarm is dropped by the local runtime (workerd#6866). */
const MIN_ALARM_DELAY_MS = 1_000;

export function alarmDueAtMs(state: LimiterState, nowMs: number): number {
  return Math.max(nowMs + MIN_ALARM_DELAY_MS, nextTaskAtMs(state, nowMs));
}

function nextTaskAtMs(state: LimiterState, nowMs: number): number {
  if (state.finishedDays.length + state.unreportedBans.length > 0) return nowMs + REPORT_RETRY_MS;
  if (usageOfDay(state)) return state.counts.day.startMs + DAY_MS + spreadMs(state.keyId);
  return deletableAtMs(state);
}

/** Whether the state is no longer needed: no recent save, no ban that the next one would double, no pending report. */
export function isDeletable(state: LimiterState, nowMs: number): boolean {
  return pendingReport(state) === undefined && nowMs >= deletableAtMs(state);
}

function deletableAtMs(state: LimiterState): number {
  const { lastBan } = state.penalty;
  const escalationEndsAtMs = lastBan === null ? 0 : lastBan.endsAtMs + ESCALATION_WINDOW_MS;
  return Math.max(state.savedAtMs + DELETE_AFTER_MS, escalationEndsAtMs);
}

/** A fixed moment within the spread for each key. */
function spreadMs(keyId: string): number {
  let hash = 0;
  for (let i = 0; i < keyId.length; i++) hash = (hash * 31 + keyId.charCodeAt(i)) >>> 0;
  return hash % REPORT_SPREAD_MS;
}
