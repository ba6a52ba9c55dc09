/**
 * Two fixed windows, aligned to the UTC minute and the UTC day, and what has been used of each (ADR-7).
 *
 * Pure: `nowMs` is a parameter, and new values are returned.
 */

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** The highest limits that the admin API accepts: what one object serves, some 500 requests a second, for a whole day. */
export const MAX_REQUESTS_PER_MINUTE = 30_000;
export const MAX_REQUESTS_PER_DAY = MAX_REQUESTS_PER_MINUTE * 1_440;

export type Limits = { readonly perMinute: number; readonly perDay: number };

export type WindowName = "minute" | "day";

export type WindowCount = { readonly startMs: number; readonly used: number };

export type Counts = { readonly minute: WindowCount; readonly day: WindowCount };

export const NOTHING_COUNTED: Counts = { minute: { startMs: 0, used: 0 }, day: { startMs: 0, used: 0 } };

/** The counts of the windows that `nowMs` is in. A clock that ran backwards stays in the newest window it was in. */
export function roll(counts: Counts, nowMs: number): Counts {
  return { minute: rollWindow(counts.minute, MINUTE_MS, nowMs), day: rollWindow(counts.day, DAY_MS, nowMs) };
}

function rollWindow(count: WindowCount, lengthMs: number, nowMs: number): WindowCount {
  const startMs = windowStartMs(nowMs, lengthMs);
  return startMs > count.startMs ? { startMs, used: 0 } : count;
}

/** The start of the UTC minute or day that `atMs` is in. */
export function windowStartMs(atMs: number, lengthMs: number): number {
  return Math.floor(atMs / lengthMs) * lengthMs;
}

/** One more request, in both windows. */
export function countOne(counts: Counts): Counts {
  return countMany(counts, 1);
}

export function countMany(counts: Counts, requests: number): Counts {
  return {
    minute: { ...counts.minute, used: counts.minute.used + requests },
    day: { ...counts.day, used: counts.day.used + requests },
  };
}

/** A window as a client sees it. `remaining` is never negative, although a lowered limit may be below what was used. */
export type WindowView = {
  readonly name: WindowName;
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly endsAtMs: number;
};

export type QuotaView = { readonly minute: WindowView; readonly day: WindowView };

export function viewOf(counts: Counts, limits: Limits): QuotaView {
  return {
    minute: view("minute", counts.minute, limits.perMinute, MINUTE_MS),
    day: view("day", counts.day, limits.perDay, DAY_MS),
  };
}

function view(name: WindowName, count: WindowCount, limit: number, lengthMs: number): WindowView {
  const { startMs, used } = count;
  return { name, limit, used, remaining: Math.max(0, limit - used), endsAtMs: startMs + lengthMs };
}

/** The exhausted window that ends last: until then no request is admitted. Undefined if neither is exhausted. */
export function exhaustedWindow(quota: QuotaView): WindowView | undefined {
  if (quota.day.remaining === 0) return quota.day;
  return quota.minute.remaining === 0 ? quota.minute : undefined;
}
