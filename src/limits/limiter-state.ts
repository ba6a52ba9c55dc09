/** All that a key's limiter remembers. Pure. */
import { type Ban, CLEAN_CONDUCT, type Conduct } from "./ban.ts";
import { type Counts, NOTHING_COUNTED } from "./quota.ts";

/** What a key did on one UTC day (`YYYY-MM-DD`). */
export type DayUse = {
  readonly day: string;
  readonly admitted: number;
  readonly refused: number;
  readonly refusedWhileBanned: number;
};

export type LimiterState = {
  /** Copies of the key's record below this version are refused as stale. */
  readonly minVersion: number;
  readonly counts: Counts;
  /** Refusals in the day of `counts.day`. */
  readonly refused: number;
  readonly refusedWhileBanned: number;
  readonly conduct: Conduct;
  /** When the last decree it obeyed was issued. */
  readonly decreedAtMs: number;
  readonly seenAtMs: number;
  readonly savedAtMs: number;
  readonly alarmAtMs: number | null;
  /** What the history in D1 has yet to hear: days that are over, bans, and whether it knows of today's use at all. */
  readonly finishedDays: readonly DayUse[];
  readonly unreportedBans: readonly Ban[];
  readonly reportedDayStartMs: number | null;
};

export const NEW_LIMITER: LimiterState = {
  minVersion: 0,
  counts: NOTHING_COUNTED,
  refused: 0,
  refusedWhileBanned: 0,
  conduct: CLEAN_CONDUCT,
  decreedAtMs: 0,
  seenAtMs: 0,
  savedAtMs: 0,
  alarmAtMs: null,
  finishedDays: [],
  unreportedBans: [],
  reportedDayStartMs: null,
};

/** The use of the day the limiter is in; undefined when it has none. */
export function useOfDay(state: LimiterState): DayUse | undefined {
  const { refused, refusedWhileBanned } = state;
  const { startMs, used } = state.counts.day;
  if (used + refused + refusedWhileBanned === 0) return undefined;
  return { day: dayName(startMs), admitted: used, refused, refusedWhileBanned };
}

export function dayName(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
