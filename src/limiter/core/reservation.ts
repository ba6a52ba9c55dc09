/**
 * Reserving ahead: one write stores the counts of several requests before they are served. After a crash the
 * object goes on from what is stored: a key may lose what was reserved and not served, and never gains.
 *
 * Pure.
 */
import { type Count, type Quota, smallestWindow } from "./windows.ts";

/** Lower limits of the smallest window reserve nothing: each count is stored, and a crash loses none. */
const MIN_LIMIT = 300;

/** How much a write reserves ahead: at most a tenth of each window's limit, and half of what is left. */
export function reserveOf(quota: Quota): number {
  if (smallestWindow(quota).limit < MIN_LIMIT) return 0;
  return Math.min(
    ...quota.map(({ limit, remaining }) => Math.min(Math.floor(limit / 10), Math.floor(remaining / 2))),
  );
}

/**
 * Whether counts need no write: what is stored is of the same windows, not less than what is used, and
 * reserves no more than a write would now. A limit may have been lowered since, or a cost been given back.
 */
export function covers(stored: readonly Count[], used: readonly Count[], reserve: number): boolean {
  return used.every((count) =>
    stored.some(
      ({ seconds, startMs, used }) =>
        seconds === count.seconds &&
        startMs === count.startMs &&
        used >= count.used &&
        used <= count.used + reserve,
    ),
  );
}
