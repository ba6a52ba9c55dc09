/**
 * Turns of callers that wait. Without turns, all of them come back when the window ends, most of them in
 * vain, and again at the end of the next window: n callers and a limit of m make n²/2m calls.
 *
 * A turn is advice. It is in memory only, and the request that comes at its turn is decided as any other.
 *
 * Pure: `nowMs` is a parameter, and new values are returned.
 */
import { isSameKind, lengthMsOf, type Window, type WindowView } from "./windows.ts";

/** The cost of all callers that wait for the windows from `fromMs` on. */
export type Queue = Omit<Window, "startMs"> & { readonly fromMs: number; readonly cost: number };

export const NOBODY_WAITS: Queue = { unit: "", seconds: 1, fromMs: 0, cost: 0 };

/** Returns when the caller's turn comes. If that is after `waitMs`, the caller takes no place in the queue. */
export function takeTurn(
  queue: Queue,
  window: WindowView,
  cost: number,
  waitMs: number,
  nowMs: number,
): { readonly queue: Queue; readonly retryAfterMs: number } {
  const { unit, seconds, limit, endsAtMs: fromMs } = window;
  const lengthMs = lengthMsOf(window);
  // Since the last call, windows have begun, and so many of the queue have had their turn.
  const begun = isSameKind(queue, window) ? Math.round((fromMs - queue.fromMs) / lengthMs) : Infinity;
  const ahead = Math.max(0, queue.cost - begun * limit);
  // A window that has too little left for the caller stays as it is.
  const place = (ahead % limit) + cost > limit ? Math.ceil(ahead / limit) * limit : ahead;
  const retryAfterMs = fromMs - nowMs + Math.floor(place / limit) * lengthMs;
  return {
    queue: { unit, seconds, fromMs, cost: retryAfterMs <= waitMs ? place + cost : ahead },
    retryAfterMs,
  };
}
