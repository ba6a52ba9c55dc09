/**
 * Reserving ahead: a burst stores its count once for several requests, before it serves them. After a crash the object
 * goes on from what is stored, so the key may lose what was reserved and not served. It never gains a request (ADR-8).
 *
 * Pure: `nowMs` is a parameter, and new values are returned.
 */
import { type Counts, countMany, type Limits } from "./quota.ts";

/** After this long without a call the burst is over, and the exact counts are stored. */
export const IDLE_FLUSH_MS = 1_000;

/** A reservation covers at most this share of the minute's limit: what a crash can cost a key. */
export const MAX_RESERVED_SHARE_OF_MINUTE = 0.1;

/** Keys with lower limits reserve nothing: each count is stored, and a crash costs them no request. */
export const MIN_LIMIT_TO_RESERVE = 300;

/**
 * The first writes of a burst cover one request each, as many as an idle flush costs: a row at $1.00 a million, and a
 * second in memory at $1.56. A shorter burst would never earn that back (ADR-8).
 */
export const WRITES_BEFORE_RESERVING = 3;

export type Reservation = {
  /** The stored counts: never less than the true ones. */
  readonly stored: Counts;
  /** How many writes of counts the burst has caused. */
  readonly writesInBurst: number;
  /** How many requests the last write covered: at least 1. */
  readonly blockSize: number;
  readonly lastAdmittedAtMs: number;
};

/** After a start, the stored counts are all that is known. */
export function reservationOf(stored: Counts): Reservation {
  return { stored, writesInBurst: 0, blockSize: 1, lastAdmittedAtMs: Number.NEGATIVE_INFINITY };
}

/** Covers the request just counted in `used`. `stored` is a new object only where the old one does not cover it. */
export function reserve(reservation: Reservation, used: Counts, limits: Limits, nowMs: number): Reservation {
  const maxBlock = maxBlockNow(used, limits);
  if (covers(reservation.stored, used, maxBlock)) return { ...reservation, lastAdmittedAtMs: nowMs };
  const isIdle = nowMs - reservation.lastAdmittedAtMs >= IDLE_FLUSH_MS;
  const writesInBurst = isIdle ? 1 : reservation.writesInBurst + 1;
  const blockSize =
    writesInBurst <= WRITES_BEFORE_RESERVING ? 1 : Math.min(2 * reservation.blockSize, maxBlock);
  return { stored: countMany(used, blockSize - 1), writesInBurst, blockSize, lastAdmittedAtMs: nowMs };
}

/**
 * The minute stands for both windows: it ends no later than its day, and both are counted and reserved alike. More than
 * `maxBlock` in reserve is too much: the limits were lowered since.
 */
function covers(stored: Counts, used: Counts, maxBlock: number): boolean {
  const reserved = stored.minute.used - used.minute.used;
  return stored.minute.startMs === used.minute.startMs && reserved >= 0 && reserved < maxBlock;
}

/** The documented reservation, and at most half of what is left: a crash never exhausts a window. */
function maxBlockNow(used: Counts, limits: Limits): number {
  const left = Math.min(limits.perMinute - used.minute.used, limits.perDay - used.day.used);
  return Math.max(1, Math.min(maxBlockSize(limits), Math.floor(left / 2)));
}

/** Whether the stored counts are the true ones: nothing is reserved. */
export function areSameCounts(a: Counts, b: Counts): boolean {
  return (["minute", "day"] as const).every(
    (name) => a[name].startMs === b[name].startMs && a[name].used === b[name].used,
  );
}

/** How many requests one write covers at most. A crash costs a key at most one less. */
export function maxBlockSize({ perMinute }: Limits): number {
  return perMinute < MIN_LIMIT_TO_RESERVE ? 1 : Math.floor(perMinute * MAX_RESERVED_SHARE_OF_MINUTE);
}
