/** When a change holds. */

/** With the key's limiter told, on the next request; otherwise once the isolates' copies have run out. */
export type Holds = "immediately" | "within 60 seconds";

export function holds(limiterHeard: boolean): Holds {
  return limiterHeard ? "immediately" : "within 60 seconds";
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
