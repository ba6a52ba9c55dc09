/**
 * Reserving ahead: one write stores the counts of several requests before they are served. After a crash the object goes on
 * from what is stored, so a key may lose what was reserved and not served. It never gains a request.
 *
 * Pure.
 */
import { type Count, endOf, type Quota, smallestWindow } from "./windows.ts";

/** Lower limits of the smallest window reserve nothing: each count is stored, and a crash loses no request. */
const MIN_LIMIT = 300;

/** How much a write reserves beyond what is used: at most a tenth of the smallest limit, and half of what is left. */
export function reserveOf(quota: Quota): number {
  const { limit } = smallestWindow(quota);
  if (limit < MIN_LIMIT) return 0;
  const left = Math.min(...quota.map(({ remaining }) => remaining));
  return Math.min(Math.floor(limit / 10), Math.floor(left / 2));
}

/** Whether what is stored is of the same windows, and not less than what is used. */
export function covers(stored: readonly Count[], used: readonly Count[]): boolean {
  return used.every((count) =>
    stored.some(
      (each) => each.seconds === count.seconds && endOf(each) === endOf(count) && each.used >= count.used,
    ),
  );
}
