/**
 * The headers of a verdict: the `X-RateLimit` triple, `RateLimit` and `RateLimit-Policy` of the IETF draft
 * (draft-ietf-httpapi-ratelimit-headers-11), and `Retry-After`.
 *
 * Pure. A wait is rounded up to whole seconds and is at least 1, so that a client that waits is admitted.
 */
import type { Counted } from "./decide.ts";
import {
  costsOf,
  exhaustedWindow,
  lengthMsOf,
  type Quota,
  smallestWindow,
  type WindowView,
} from "./windows.ts";

/**
 * Each group of headers is sent unless its member is false.
 *
 * @example
 * const headers: HeaderOptions = { xRateLimit: false };
 */
export type HeaderOptions = {
  readonly xRateLimit?: boolean | undefined;
  readonly rateLimit?: boolean | undefined;
  readonly retryAfter?: boolean | undefined;
};

/** JavaScript's timers overflow at 2 ** 31 ms, and fire at once. `X-RateLimit-Reset` names the real end. */
const MAX_RETRY_AFTER_SECONDS = 2_147_483;

type ShownWindow = { readonly limit: number; readonly remaining: number; readonly endsAtMs: number };

/** Returns the headers by name. There is no `Retry-After` if the request can never be admitted. */
export function headersOf(
  verdict: Counted,
  { xRateLimit = true, rateLimit = true, retryAfter = true }: HeaderOptions = {},
): Readonly<Record<string, string>> {
  const { quota, nowMs } = verdict;
  const shown = shownBy(verdict);
  const resetSeconds = Math.ceil(shown.endsAtMs / 1000);
  const waitSeconds = secondsUntil(resetSeconds * 1000, nowMs);
  const policyOf = (window: WindowView) => {
    // An object of an older version names none.
    const { name, limit, unit = "requests" } = window;
    const quotaUnit = unit === "requests" ? "" : `;qu="${unit}"`;
    return `"${name}";q=${limit}${quotaUnit};w=${lengthMsOf(window) / 1000}`;
  };
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
      "RateLimit-Policy": quota.map(policyOf).join(", "),
      RateLimit: quota.map(item).join(", "),
    }),
    ...(retryAfter &&
      (verdict.kind === "limited" || verdict.kind === "banned") &&
      verdict.retryAfterMs !== null && {
        "Retry-After": String(Math.min(waitSeconds, MAX_RETRY_AFTER_SECONDS)),
      }),
  };
}

/** Whether `verdict` leaves fewer requests. A client needs to know the scarcer of a route's two limits. */
export function isScarcer(verdict: Counted, other: Counted): boolean {
  return shownBy(verdict).remaining < shownBy(other).remaining;
}

/**
 * Returns the window or ban that refuses the request. Of an admitted request, returns the scarcest window that
 * counts in the first limit's unit: clients take the triple's numbers for numbers of one unit.
 */
function shownBy(verdict: Counted): ShownWindow {
  const { quota } = verdict;
  const ofFirstUnit = quota.filter(({ unit }) => unit === quota[0]?.unit);
  switch (verdict.kind) {
    case "limited":
      // During a deploy an object of another version may answer, and its verdict may have no window.
      return verdict.window ?? scarcest(ofFirstUnit);
    case "banned": {
      // A ban may end before an exhausted window does. The client has to wait for the later end.
      const exhausted = exhaustedWindow(quota, costsOf(verdict.cost));
      if (exhausted && exhausted.endsAtMs > verdict.ban.endsAtMs) return exhausted;
      const { limit = 0 } = smallestWindow(ofFirstUnit) ?? {};
      return { limit, remaining: 0, endsAtMs: verdict.ban.endsAtMs };
    }
    default:
      return scarcest(ofFirstUnit);
  }
}

/** Returns the window with the fewest requests left. On a tie the longer window binds for longer. */
function scarcest(quota: Quota): ShownWindow {
  return quota.reduce((a, b) => {
    const difference = a.remaining - b.remaining || lengthMsOf(b) - lengthMsOf(a);
    return difference > 0 ? b : a;
  });
}

function secondsUntil(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs - nowMs) / 1000));
}
