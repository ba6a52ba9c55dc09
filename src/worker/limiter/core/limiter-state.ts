/** All that a key's limiter remembers. Pure. */
import { type Ban, NO_PENALTY, type PenaltyState } from "./ban.ts";
import { type Counts, NOTHING_COUNTED } from "./quota.ts";

/** What a key did on one UTC day (`YYYY-MM-DD`). */
export type DailyUsage = {
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
  readonly penalty: PenaltyState;
  /** When the last override it obeyed was issued. */
  readonly banOverrideAtMs: number;
  readonly seenAtMs: number;
  readonly savedAtMs: number;
  readonly alarmAtMs: number | null;
  /** What the history in D1 has yet to hear: days that are over, bans, and whether it knows of today's use at all. */
  readonly finishedDays: readonly DailyUsage[];
  readonly unreportedBans: readonly Ban[];
  readonly reportedDayStartMs: number | null;
};

export const NEW_LIMITER: LimiterState = {
  minVersion: 0,
  counts: NOTHING_COUNTED,
  refused: 0,
  refusedWhileBanned: 0,
  penalty: NO_PENALTY,
  banOverrideAtMs: 0,
  seenAtMs: 0,
  savedAtMs: 0,
  alarmAtMs: null,
  finishedDays: [],
  unreportedBans: [],
  reportedDayStartMs: null,
};

/** The use of the day the limiter is in; undefined when it has none. */
export function usageOfDay(state: LimiterState): DailyUsage | undefined {
  const { refused, refusedWhileBanned } = state;
  const { startMs, used } = state.counts.day;
  if (used + refused + refusedWhileBanned === 0) return undefined;
  return { day: dayName(startMs), admitted: used, refused, refusedWhileBanned };
}

export function dayName(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
