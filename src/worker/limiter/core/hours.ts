/**
 * A day's usage by UTC hour. The limiter stores the day's totals at the end of each hour, and an hour's figures are the
 * difference of two: a request copies nothing, and the hours add up to the day, also after a crash (ADR-22).
 *
 * Pure.
 */
import { type Counts, HOUR_MS } from "./quota.ts";

export type Figures = {
  readonly admitted: number;
  readonly refused: number;
  readonly refusedWhileBanned: number;
};

/** Of one UTC hour, from 0 to 23. A tuple, as it is stored as JSON in the limiter's row and in D1. */
export type HourFigures = readonly [
  hour: number,
  admitted: number,
  refused: number,
  refusedWhileBanned: number,
];

/**
 * The hour that the counts are in. It is the minute's, so the hour does not go back with the clock either, and what a
 * crash made of a reservation is in the hour of the reservation, which never covers two minutes.
 */
export function hourOf({ minute, day }: Counts): number {
  return Math.floor((minute.startMs - day.startMs) / HOUR_MS);
}

/** The totals at the end of each hour so far, if this hour ends now. An hour without requests is left out. */
export function endHour(
  ended: readonly HourFigures[],
  hour: number,
  totals: Figures,
): readonly HourFigures[] {
  const [, admitted, refused, banned] = ended.at(-1) ?? [0, 0, 0, 0];
  const hasRequests =
    totals.admitted + totals.refused + totals.refusedWhileBanned > admitted + refused + banned;
  if (!hasRequests) return ended;
  return [...ended, [hour, totals.admitted, totals.refused, totals.refusedWhileBanned]];
}

/** The figures of each hour that had requests, from the totals at the end of each. */
export function figuresByHour(totals: readonly HourFigures[]): readonly HourFigures[] {
  return totals.map(([hour, admitted, refused, banned], i) => {
    const [, admittedBefore, refusedBefore, bannedBefore] = totals[i - 1] ?? [0, 0, 0, 0];
    return [hour, admitted - admittedBefore, refused - refusedBefore, banned - bannedBefore];
  });
}
