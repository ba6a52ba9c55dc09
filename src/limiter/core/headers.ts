/**
 * The headers of a verdict: the `X-RateLimit` triple, `RateLimit` and `RateLimit-Policy` of the IETF draft
 * (draft-ietf-httpapi-ratelimit-headers), and `Retry-After`.
 *
 * Pure. Waits are rounded up and at least 1, so that a client that waits for them is admitted.
 */
import type { Admitted, Banned, Limited } from "./decide.ts";
import { exhaustedWindow, type Quota, smallestWindow, type WindowView } from "./windows.ts";

/** All are sent by default. */
export type HeaderOptions = {
  readonly xRateLimit?: boolean;
  readonly rateLimit?: boolean;
  readonly retryAfter?: boolean;
};

/** A longer wait overflows the timers of JavaScript, which then end at once. `X-RateLimit-Reset` names the real end. */
const MAX_RETRY_AFTER_SECONDS = 86_400;

type Shown = { readonly limit: number; readonly remaining: number; readonly endsAtMs: number };

export function headersOf(
  verdict: Admitted | Limited | Banned,
  { xRateLimit = true, rateLimit = true, retryAfter = true }: HeaderOptions = {},
): Readonly<Record<string, string>> {
  const { quota, nowMs } = verdict;
  const shown = shownBy(verdict);
  const resetSeconds = Math.ceil(shown.endsAtMs / 1000);
  const waitSeconds = secondsUntil(resetSeconds * 1000, nowMs);
  const item = ({ name, remaining, endsAtMs }: WindowView) =>
    verdict.kind === "banned"
      ? `"${name}";r=0;t=${waitSeconds}`
      : `"${name}";r=${remaining};t=${secondsUntil(endsAtMs, nowMs)}`;
  return {
    ...(xRateLimit && {
      "X-RateLimit-Limit": String(shown.limit),
      "X-RateLimit-Remaining": String(shown.remaining),
      "X-RateLimit-Reset": String(resetSeconds),
    }),
    ...(rateLimit && {
      "RateLimit-Policy": quota
        .map(({ name, limit, seconds }) => `"${name}";q=${limit};w=${seconds}`)
        .join(", "),
      RateLimit: quota.map(item).join(", "),
    }),
    ...(retryAfter &&
      verdict.kind !== "admitted" && {
        "Retry-After": String(Math.min(waitSeconds, MAX_RETRY_AFTER_SECONDS)),
      }),
  };
}

/** The window with the least remaining, or what refuses the request. */
function shownBy(verdict: Admitted | Limited | Banned): Shown {
  switch (verdict.kind) {
    case "admitted":
      return scarcest(verdict.quota);
    case "limited":
      return verdict.window;
    case "banned": {
      // A ban may end before an exhausted window does. The wait is the longer one.
      const exhausted = exhaustedWindow(verdict.quota, 1);
      if (exhausted && exhausted.endsAtMs > verdict.ban.endsAtMs) return exhausted;
      return { limit: smallestWindow(verdict.quota).limit, remaining: 0, endsAtMs: verdict.ban.endsAtMs };
    }
  }
}

/** On a tie the longer window, which binds longer. */
function scarcest(quota: Quota): Shown {
  return quota.reduce((a, b) => {
    const difference = a.remaining - b.remaining || b.seconds - a.seconds;
    return difference > 0 ? b : a;
  });
}

function secondsUntil(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs - nowMs) / 1000));
}
