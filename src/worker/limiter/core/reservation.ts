/**
 * Reserving ahead: storage is told of requests before they come, so that a burst of them costs one row. Whoever goes
 * on from storage counts the whole reservation as used: a crash may cost the key what was reserved and not yet
 * served, and can never give it a request (ADR-8).
 *
 * Pure: `nowMs` comes in, new values go out.
 */
import { type Counts, countMany, type Limits } from "./quota.ts";

/** After this long without a request a burst is over, and the exact counts are saved. */
export const IDLE_FLUSH_MS = 1_000;

/** A reservation covers at most this part of a minute's limit. */
export const MAX_RESERVED_SHARE_OF_MINUTE = 0.1;

export type Reservation = {
  /** What storage says was used: never less than the truth. */
  readonly saved: Counts;
  /** How many requests the last write of the burst paid for. */
  readonly blockSize: number;
  readonly lastAdmittedAtMs: number;
};

/** After waking up, what is saved is all that is known of the past. */
export function reservationOf(saved: Counts): Reservation {
  return { saved, blockSize: 0, lastAdmittedAtMs: Number.NEGATIVE_INFINITY };
}

/** Pays for the request just counted in `used`. What is to be saved is new only where the old did not cover it. */
export function reserve(reservation: Reservation, used: Counts, limits: Limits, nowMs: number): Reservation {
  if (covers(reservation.saved, used)) return { ...reservation, lastAdmittedAtMs: nowMs };
  const blockSize = nextBlockSize(reservation, used, limits, nowMs);
  return { saved: countMany(used, blockSize - 1), blockSize, lastAdmittedAtMs: nowMs };
}

/** The minute stands for both windows: it ends no later than its day, and both are counted and reserved alike. */
function covers(saved: Counts, used: Counts): boolean {
  return saved.minute.startMs === used.minute.startMs && saved.minute.used >= used.minute.used;
}

/**
 * How many requests the next write pays for, the one just counted among them: 1 at first, twice as many at each
 * write of a burst, at most a tenth of the minute's limit and half of what is left.
 */
function nextBlockSize(reservation: Reservation, used: Counts, limits: Limits, nowMs: number): number {
  const isQuiet = nowMs - reservation.lastAdmittedAtMs >= IDLE_FLUSH_MS;
  const wanted = isQuiet ? 1 : 2 * reservation.blockSize;
  const left = Math.min(limits.perMinute - used.minute.used, limits.perDay - used.day.used);
  return Math.max(1, Math.min(wanted, maxBlockSize(limits), Math.floor(left / 2)));
}

/** The documented reservation: what a crash may cost a key at most. */
export function maxBlockSize(limits: Limits): number {
  return Math.max(1, Math.floor(limits.perMinute * MAX_RESERVED_SHARE_OF_MINUTE));
}
