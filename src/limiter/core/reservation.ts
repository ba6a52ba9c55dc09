/**
 * Reserves ahead: one write stores the counts of several requests before they are served. After a crash the
 * object goes on from the stored counts. A key may lose reserved requests that were not served, and never
 * gains requests.
 *
 * Pure.
 */
import type { Counters } from "./decide.ts";
import { type Quota, smallestWindow } from "./windows.ts";

/** Below this limit of the smallest window, each count is stored at once, and a crash loses none. */
const MIN_LIMIT = 300;
/** A tenth of a month's limit would be too much to lose, and larger blocks save few writes. */
const MAX_RESERVE = 1_000;

/** Returns how much a write reserves: at most a tenth of each limit, half of what is left, and 1,000. */
export function reserveOf(quota: Quota): number {
  if (smallestWindow(quota).limit < MIN_LIMIT) return 0;
  return Math.min(
    MAX_RESERVE,
    ...quota.map(({ limit, remaining }) => Math.min(Math.floor(limit / 10), Math.floor(remaining / 2))),
  );
}

/**
 * Whether the counts need no write: the stored counts are for the same windows, are not below `used`, and are
 * at most `reserve` above. They can be further above after a lower limit. Costs that are not settled must be
 * the same: a crash would undo a settlement, and its repetition would give back what others have used since.
 */
export function covers(stored: Counters, present: Counters, reserve: number): boolean {
  const { reserves } = present;
  if (stored.reserves.length !== reserves.length) return false;
  if (!stored.reserves.every(({ settleId }, i) => settleId === reserves[i]?.settleId)) return false;
  return present.counts.every((count) =>
    stored.counts.some(
      ({ seconds, startMs, used }) =>
        seconds === count.seconds &&
        startMs === count.startMs &&
        used >= count.used &&
        used <= count.used + reserve,
    ),
  );
}
