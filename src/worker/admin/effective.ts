/** When a change takes effect. */

/** Immediately if the key's limiter was notified; otherwise once the cached key records have expired. */
export type Effective = "immediately" | "within 60 seconds";

export function effective(isLimiterNotified: boolean): Effective {
  return isLimiterNotified ? "immediately" : "within 60 seconds";
}
