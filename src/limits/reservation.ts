/**
 * Reserving ahead: storage is told of requests before they come, so that a burst of them costs one row. Whoever goes
 * on from storage counts the whole reservation as used: a crash may cost the key what was reserved and not yet
 * served, and can never give it a request (D8).
 *
 * Pure: `nowMs` comes in, new values go out.
 */
import { type Counts, countMany, type Limits } from "./quota.ts";

/** After this long without a request a burst is over, and the exact counts are saved. */
export const QUIET_MS = 1_000;

/** A reservation covers at most this part of a minute's limit. */
export const LARGEST_SHARE_OF_MINUTE = 0.1;

export type Burst = { readonly blockSize: number; readonly lastAdmittedAtMs: number };

export const NO_BURST: Burst = { blockSize: 0, lastAdmittedAtMs: Number.NEGATIVE_INFINITY };

/** Whether what is saved already counts all that is used, so that nothing has to be written. */
export function covers(saved: Counts, used: Counts): boolean {
  return (
    saved.minute.startMs === used.minute.startMs &&
    saved.day.startMs === used.day.startMs &&
    saved.minute.used >= used.minute.used &&
    saved.day.used >= used.day.used
  );
}

/**
 * How many requests the next write pays for, the one just counted in `used` among them: 1 at first, twice as many at
 * each write of a burst, at most a tenth of the minute's limit and half of what is left.
 */
export function nextBlockSize(burst: Burst, used: Counts, limits: Limits, nowMs: number): number {
  const isQuiet = nowMs - burst.lastAdmittedAtMs >= QUIET_MS;
  const wanted = isQuiet ? 1 : 2 * burst.blockSize;
  const left = Math.min(limits.perMinute - used.minute.used, limits.perDay - used.day.used);
  return Math.max(
    1,
    Math.min(wanted, Math.floor(limits.perMinute * LARGEST_SHARE_OF_MINUTE), Math.floor(left / 2)),
  );
}

/** The counts to save for a block of that size. */
export function reserve(used: Counts, blockSize: number): Counts {
  return countMany(used, blockSize - 1);
}
