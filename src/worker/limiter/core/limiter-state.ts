/** Everything that a key's limiter stores. Pure. */
import { type Ban, NO_PENALTY, type PenaltyState } from "./ban.ts";
import type { Bookmark } from "./bookmark.ts";
import { endHour, type Figures, figuresByHour, type HourFigures, hourOf } from "./hours.ts";
import { type Counts, NOTHING_COUNTED } from "./quota.ts";

/** The usage of a key on one UTC day (`YYYY-MM-DD`). */
export type DailyUsage = Figures & {
  readonly day: string;
  /** The hours that had requests, in order. */
  readonly hours: readonly HourFigures[];
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
  /** The day's totals at the end of each of its earlier hours that had requests. */
  readonly endedHours: readonly HourFigures[];
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
  endedHours: [],
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
  if (!hasUsage(state)) return undefined;
  const { refused, refusedWhileBanned, counts } = state;
  return {
    day: dayName(counts.day.startMs),
    admitted: counts.day.used,
    refused,
    refusedWhileBanned,
    hours: figuresByHour(endedHoursWithCurrent(state)),
  };
}

/** Whether the limiter's current day has any usage. Asked on each request: `usageOfDay` costs more. */
export function hasUsage({ counts, refused, refusedWhileBanned }: LimiterState): boolean {
  return counts.day.used + refused + refusedWhileBanned > 0;
}

/** `endedHours` once the hour of the state's counts is over. */
export function endedHoursWithCurrent(state: LimiterState): readonly HourFigures[] {
  const { counts, refused, refusedWhileBanned, endedHours } = state;
  return endHour(endedHours, hourOf(counts), { admitted: counts.day.used, refused, refusedWhileBanned });
}

export function dayName(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
