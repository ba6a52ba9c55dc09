/** A window of a limiter as the admin API shows it. */
import type { WindowView } from "hono-durable-limiter";
import { nowSeconds, rfc3339 } from "../text/time.ts";

export function liveWindowOf({ limit, used, remaining, endsAtMs }: WindowView) {
  return { limit, used, remaining, resetsAt: rfc3339(endsAtMs / 1000) };
}

/** Of a limiter that was never asked. */
export function unusedWindow(limit: number, seconds: number) {
  const resetsAt = rfc3339((Math.floor(nowSeconds() / seconds) + 1) * seconds);
  return { limit, used: 0, remaining: limit, resetsAt };
}
