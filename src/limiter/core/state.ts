/**
 * Everything that an object stores, when its alarm is due, and when its storage can be deleted.
 *
 * Pure: `nowMs` is a parameter.
 */
import { rememberedUntilMs } from "./bans.ts";
import { type Counters, NOTHING_COUNTED } from "./decide.ts";
import { EMPTY_OUTBOX, hourDueAtMs, hoursEndAtMs, type Outbox, unreportedHours } from "./usage.ts";
import { endOf } from "./windows.ts";

/** A failed report is repeated after this time, and no alarm comes sooner. */
const RETRY_MS = 60_000;
/** Storage is deleted this long after all is over: clocks of an object that moves differ, and the alarm is then rarely moved. */
const DELETE_AFTER_MS = 600_000;

export type State = Counters & { readonly outbox: Outbox; readonly alarmAtMs: number | null };

export const NEW_STATE: State = { ...NOTHING_COUNTED, outbox: EMPTY_OUTBOX, alarmAtMs: null };

/** When the alarm is due; null for never. */
export function alarmDueAtMs(state: State, key: string, keeps: boolean, nowMs: number): number | null {
  const dueAtMs = nextTaskAtMs(state, key, keeps);
  return dueAtMs === null ? null : Math.max(dueAtMs, nowMs + RETRY_MS);
}

function nextTaskAtMs(state: State, key: string, keeps: boolean): number | null {
  if (state.outbox.bans.length > 0) return 0;
  const [hour] = unreportedHours(state.outbox);
  if (hour) return hourDueAtMs(hour, key);
  return keeps ? null : deletableAtMs(state);
}

/** Whether nothing of the state matters any more: no window that counts, no ban that is remembered, nothing to report. */
export function isOver(state: State, nowMs: number): boolean {
  const { outbox } = state;
  return unreportedHours(outbox).length + outbox.bans.length === 0 && nowMs >= deletableAtMs(state);
}

function deletableAtMs({ counts, penalty, outbox }: State): number {
  const windowsEndAtMs = Math.max(0, ...counts.map(endOf));
  return Math.max(windowsEndAtMs, rememberedUntilMs(penalty), hoursEndAtMs(outbox)) + DELETE_AFTER_MS;
}
