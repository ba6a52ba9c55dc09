/** When a change takes effect. */

/** With the key's limiter told, on the next request; otherwise once the isolates' copies have run out. */
export type Effective = "immediately" | "within 60 seconds";

export function effective(limiterHeard: boolean): Effective {
  return limiterHeard ? "immediately" : "within 60 seconds";
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
