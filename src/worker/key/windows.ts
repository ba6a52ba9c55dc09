/** The windows of limiters as people and the admin API see them. */
import type { WindowView } from "hono-durable-limiter";
import { nowSeconds, rfc3339 } from "../text/time.ts";

/** The names of the windows of a customer, which stand beside those of its keys in headers and usage. */
export const CUSTOMER_WINDOWS = { minute: "customer-minute", day: "customer-day" } as const;

/** `per day`, `per day of all keys together` */
export function windowInWords(name: string): string {
  const window = Object.entries(CUSTOMER_WINDOWS).find(([, each]) => each === name);
  return window ? `per ${window[0]} of all keys together` : `per ${name}`;
}

/** A window of a limiter as the admin API shows it. */
export function liveWindowOf({ limit, used, remaining, endsAtMs }: WindowView) {
  return { limit, used, remaining, resetsAt: rfc3339(endsAtMs / 1000) };
}

/** Of a limiter that was never asked. */
export function unusedWindow(limit: number, seconds: number) {
  const resetsAt = rfc3339((Math.floor(nowSeconds() / seconds) + 1) * seconds);
  return { limit, used: 0, remaining: limit, resetsAt };
}
