/**
 * Reserves ahead: one write stores the counts of several requests before they are served. After a crash the
 * object goes on from the stored counts. A key may lose reserved requests that were not served, and never
 * gains requests.
 *
 * Pure.
 */
import type { Counters } from "./decide.ts";
import {
  type Costs,
  costIn,
  countedBy,
  isSameWindow,
  type Quota,
  smallestWindow,
  type WindowView,
} from "./windows.ts";

/** Below this limit of the smallest window, each count is stored at once, and a crash loses none. */
const MIN_LIMIT = 300;
/** A tenth of a month's limit would be too much to lose, and larger blocks save few writes. */
const MAX_RESERVE = 1_000;

/** Returns how many more requests with these costs a write reserves. */
export function reserveOf(quota: Quota, costs: Costs<string>): number {
  const counted = countedBy(quota, costs);
  const smallest = smallestWindow(counted);
  if (smallest !== undefined && smallest.limit < MIN_LIMIT) return 0;
  return Math.min(
    MAX_RESERVE,
    ...counted.map((window) => Math.floor(blockOf(window) / costIn(costs, window))),
  );
}

/** Returns how much of a window may be reserved: at most a tenth of the limit, half of what is left, and 1,000. */
function blockOf({ limit, remaining }: WindowView): number {
  return Math.min(MAX_RESERVE, Math.floor(limit / 10), Math.floor(remaining / 2));
}

/**
 * Whether the counts need no write: the stored counts are for the same windows, are not below `used`, and are
 * at most a block above. They can be further above after a lower limit. Costs that are not settled must be
 * the same: a crash would undo a settlement, and its repetition would give back what others have used since.
 */
export function covers(stored: Counters, present: Counters, quota: Quota): boolean {
  const { reserves } = present;
  if (stored.reserves.length !== reserves.length) return false;
  if (!stored.reserves.every(({ settleId }, i) => settleId === reserves[i]?.settleId)) return false;
  return present.counts.every((count) => {
    const window = quota.find((each) => isSameWindow(each, count));
    const ahead = window === undefined ? 0 : blockOf(window);
    return stored.counts.some(
      (each) => isSameWindow(each, count) && each.used >= count.used && each.used <= count.used + ahead,
    );
  });
}
