/**
 * When a limiter's alarm is due, and when its storage can be deleted.
 *
 * Pure: `nowMs` is a parameter.
 */
import { ESCALATION_WINDOW_MS } from "./ban.ts";
import { hasUsage, type LimiterState } from "./limiter-state.ts";
import { isEverythingReported, usageDueAtMs } from "./outbox.ts";
import { DAY_MS, MINUTE_MS } from "./quota.ts";

/**
 * The storage of an idle limiter is deleted this long after its last save for a call. The next idle flush
 * saves the calls after it, and the minute is room for that: a day has passed since the last call.
 */
export const DELETE_AFTER_MS = DAY_MS + MINUTE_MS;

/** The alarm repeats a failed report after this time, unless a request has done so before. */
export const REPORT_RETRY_MS = 60_000;

/** An alarm set for the present from within an alarm is dropped by the local runtime (workerd#6866). */
const MIN_ALARM_DELAY_MS = 1_000;

export function alarmDueAtMs(state: LimiterState, nowMs: number): number {
  return Math.max(nowMs + MIN_ALARM_DELAY_MS, nextTaskAtMs(state, nowMs));
}

function nextTaskAtMs(state: LimiterState, nowMs: number): number {
  if (state.unreportedBans.length > 0) return nowMs + REPORT_RETRY_MS;
  const dueAtMs = usageDueAtMs(state);
  if (nowMs < dueAtMs && !isEverythingReported(state)) return dueAtMs;
  if (state.finishedDays.length > 0) return nowMs + REPORT_RETRY_MS;
  // A first usage that is due now is reported by the request that caused it.
  if (hasUsage(state)) return dueAtMs + DAY_MS;
  return deletableAtMs(state);
}

/** Whether the state is no longer needed: no recent save, no ban that the next one would double, nothing to report. */
export function isDeletable(state: LimiterState, nowMs: number): boolean {
  return isEverythingReported(state) && nowMs >= deletableAtMs(state);
}

function deletableAtMs(state: LimiterState): number {
  const { lastBan } = state.penalty;
  const escalationEndsAtMs = lastBan === null ? 0 : lastBan.endsAtMs + ESCALATION_WINDOW_MS;
  return Math.max(state.savedAtMs + DELETE_AFTER_MS, escalationEndsAtMs);
}
