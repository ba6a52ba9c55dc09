/**
 * Reserves ahead: one write stores the counts of several requests before they are served. After a crash the
 * object goes on from the stored counts. A key may lose reserved requests that were not served, and never
 * gains requests.
 *
 * Pure.
 */
import { type Count, type Quota, smallestWindow } from "./windows.ts";

/** Below this limit of the smallest window, each count is stored at once, and a crash loses none. */
const MIN_LIMIT = 300;

/** Returns how much a write reserves: at most a tenth of each window's limit, and half of what is left. */
export function reserveOf(quota: Quota): number {
  if (smallestWindow(quota).limit < MIN_LIMIT) return 0;
  return Math.min(
    ...quota.map(({ limit, remaining }) => Math.min(Math.floor(limit / 10), Math.floor(remaining / 2))),
  );
}

/**
 * Whether the counts need no write: the stored counts are for the same windows, are not below `used`, and are
 * at most `reserve` above. They can be further above after a lower limit or a settlement.
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
