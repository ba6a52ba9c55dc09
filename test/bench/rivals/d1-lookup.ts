/**
 * A key record read from D1 and a counter written to D1 for each request, as API templates do. Some write the count that
 * they read plus one; the SQL increment here is the better form, and no count is lost. The check still precedes it.
 */
import type { RivalLimit } from "./names.ts";
import { currentMinute, type Limiter } from "./rival.ts";

type KeyRow = { readonly requests_per_minute: number; readonly minute: number; readonly requests: number };

/** The limit is the key's own, from its row. */
export const d1Lookup =
  (_limit: RivalLimit): Limiter =>
  async (c, next) => {
    const hash = await sha256(c.var.key);
    const select = "select requests_per_minute, minute, requests from rival_keys where hash = ?";
    const row = await c.env.DB.prepare(select).bind(hash).first<KeyRow>();
    if (row === null) return c.json({ error: "unauthorized" }, 401);
    const minute = currentMinute();
    if (row.minute === minute && row.requests >= row.requests_per_minute) {
      return c.json({ error: "rate limit exceeded" }, 429);
    }
    const update = `update rival_keys set requests = iif(minute = ?2, requests + 1, 1), minute = ?2 where hash = ?1`;
    await c.env.DB.prepare(update).bind(hash, minute).run();
    return await next();
  };

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest).toHex();
}
