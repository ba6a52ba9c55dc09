/**
 * The headers of a verdict: the `X-RateLimit` triple, the IETF draft's pair and `Retry-After`.
 *
 * Pure. Windows and bans end on whole seconds, so `Reset` is exact. Waits are rounded up and at least 1, so that a
 * client that waits for them is admitted.
 */
import type { Verdict } from "./decide.ts";
import {
  DAY_MS,
  exhaustedWindow,
  MINUTE_MS,
  type QuotaView,
  type WindowView,
  windowStartMs,
} from "./quota.ts";

export type RateLimitHeaders = Readonly<Record<string, string>>;

/** A verdict on a request whose record was not stale. */
export type Decided = Exclude<Verdict, { kind: "stale" }>;

/** For a response to a key: its quota, and the wait if it is refused. */
export function rateLimitHeaders(verdict: Decided): RateLimitHeaders {
  const policy = `"minute";q=${verdict.quota.minute.limit};w=${MINUTE_MS / 1000}, "day";q=${verdict.quota.day.limit};w=${DAY_MS / 1000}`;
  const refusal = refusalOf(verdict);
  if (!refusal) {
    const shown = scarcest(verdict.quota);
    return {
      ...triple(shown.limit, shown.remaining, shown.endsAtMs),
      "RateLimit-Policy": policy,
      RateLimit: `${item(verdict.quota.minute, verdict.nowMs)}, ${item(verdict.quota.day, verdict.nowMs)}`,
    };
  }
  const waitSeconds = secondsUntil(refusal.endsAtMs, verdict.nowMs);
  return {
    ...triple(refusal.limit, 0, refusal.endsAtMs),
    "RateLimit-Policy": policy,
    RateLimit:
      verdict.kind === "banned"
        ? `"minute";r=0;t=${waitSeconds}, "day";r=0;t=${waitSeconds}`
        : `${item(verdict.quota.minute, verdict.nowMs)}, ${item(verdict.quota.day, verdict.nowMs)}`,
    "Retry-After": String(waitSeconds),
  };
}

/** For a response without a valid key: no quota, until the end of the current minute. */
export function headersWithoutQuota(nowMs: number): RateLimitHeaders {
  return triple(0, 0, windowStartMs(nowMs, MINUTE_MS) + MINUTE_MS);
}

/** The limit that refuses a request, and until when; undefined if the request is admitted. */
export function refusalOf(verdict: Decided): { limit: number; endsAtMs: number } | undefined {
  switch (verdict.kind) {
    case "admitted":
      return undefined;
    case "limited":
      return verdict.exhausted;
    case "banned": {
      // A ban may end before an exhausted day does. The wait is the longer one (ADR-11).
      const exhausted = exhaustedWindow(verdict.quota);
      if (exhausted && exhausted.endsAtMs > verdict.ban.endsAtMs) return exhausted;
      return { limit: verdict.quota.minute.limit, endsAtMs: verdict.ban.endsAtMs };
    }
  }
}

/** The window with the least remaining; on a tie the longer, since it binds longer. */
function scarcest(quota: QuotaView): WindowView {
  return quota.minute.remaining < quota.day.remaining ? quota.minute : quota.day;
}

function triple(limit: number, remaining: number, resetMs: number): RateLimitHeaders {
  return {
    "X-RateLimit-Limit": String(limit),
    "X-RateLimit-Remaining": String(remaining),
    "X-RateLimit-Reset": String(resetMs / 1000),
  };
}

function item(window: WindowView, nowMs: number): string {
  return `"${window.name}";r=${window.remaining};t=${secondsUntil(window.endsAtMs, nowMs)}`;
}

function secondsUntil(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs - nowMs) / 1000));
}
