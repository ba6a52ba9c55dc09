/** Everything that a key's limiter stores. Pure. */
import { type Ban, NO_PENALTY, type PenaltyState } from "./ban.ts";
import type { Bookmark } from "./bookmark.ts";
import { type Counts, NOTHING_COUNTED } from "./quota.ts";

/** The usage of a key on one UTC day (`YYYY-MM-DD`). */
export type DailyUsage = {
  readonly day: string;
  readonly admitted: number;
  readonly refused: number;
  readonly refusedWhileBanned: number;
};

export type LimiterState = {
  /** Empty until the first call. Stored, because an alarm has no caller that could pass it. */
  readonly keyId: string;
  /** Records below this version are stale. */
  readonly minVersion: number;
  readonly counts: Counts;
  /** Refusals in the day of `counts.day`. */
  readonly refused: number;
  readonly refusedWhileBanned: number;
  readonly penalty: PenaltyState;
  /** The latest state of D1 that the key has seen; undefined without read replication (ADR-19). */
  readonly bookmark: Bookmark | undefined;
  readonly savedAtMs: number;
  readonly alarmAtMs: number | null;
  /** The outbox: finished days and bans that D1 does not have yet, and the newest day of which it has any usage. */
  readonly finishedDays: readonly DailyUsage[];
  readonly unreportedBans: readonly Ban[];
  readonly reportedDayStartMs: number | null;
};

export const NEW_LIMITER: LimiterState = {
  keyId: "",
  minVersion: 0,
  counts: NOTHING_COUNTED,
  refused: 0,
  refusedWhileBanned: 0,
  penalty: NO_PENALTY,
  bookmark: undefined,
  savedAtMs: 0,
  alarmAtMs: null,
  finishedDays: [],
  unreportedBans: [],
  reportedDayStartMs: null,
};

/** The usage of the limiter's current day; undefined when there is none. */
export function usageOfDay(state: LimiterState): DailyUsage | undefined {
  const { refused, refusedWhileBanned } = state;
  const { startMs, used } = state.counts.day;
  if (used + refused + refusedWhileBanned === 0) return undefined;
  return { day: dayName(startMs), admitted: used, refused, refusedWhileBanned };
}

export function dayName(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
