/** The limiters that ours is compared with, by id. Shared by the bench Worker and the bench itself. */
export const RIVALS = {
  "memory-object": "memory-only object",
  "write-through-object": "write-through object",
  "cloudflare-binding": "Cloudflare's binding",
  "hono-rate-limiter": "hono-rate-limiter on the binding",
  "d1-lookup": "D1 look-up and counter",
  "rate-limiter-flexible": "rate-limiter-flexible, in memory",
} as const;

export type RivalId = keyof typeof RIVALS;

export const RIVAL_IDS = Object.keys(RIVALS) as RivalId[]; // the object above has no other keys

/** Limits per minute that each rival is set up with: one that a test can reach, and one that no run reaches. */
export const REACHED_LIMIT = 60;
export const UNREACHED_LIMIT = 100_000_000;

export type RivalLimit = typeof REACHED_LIMIT | typeof UNREACHED_LIMIT;

export function rivalPath(id: RivalId, limit: RivalLimit): string {
  return `/bench/${limit}/${id}/orders`;
}

/** The list as most projects write it. */
export const DRIZZLE_ROWS_PATH = "/bench/drizzle-rows";

/** A rival's key record in D1, for those that look it up there. */
export const RIVAL_KEYS_TABLE = `create table if not exists rival_keys (
  hash text primary key not null, requests_per_minute integer not null,
  minute integer not null default 0, requests integer not null default 0
) strict, without rowid`;
