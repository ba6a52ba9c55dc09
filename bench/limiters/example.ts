/**
 * An example for `npm run bench -- --limiter`: a sliding window that weighs the last minute, as Unkey and
 * Upstash count, in the memory of a Durable Object. The example needs nothing of this folder.
 *
 * The file, TypeScript or JavaScript, exports a Hono app (or any object with `fetch`) as `default`. It is bundled
 * and runs in workerd. `GET /limited` answers 200, and 429 beyond `env.LIMIT` requests a minute for each
 * `Authorization` header: the bench sets `LIMIT` to 60, to 1,000 and to 100,000,000. Without `Authorization`, for
 * `/none` and for `POST /limited`, any answer will do: the column "headers" counts on which answers the limit is.
 *
 * Bindings: `env.DB`, an empty D1 database; `env.LIMITER`, the namespace of the Durable Object class with SQLite
 * storage that the file exports as `Limiter`; `env.RATE_LIMIT`, Cloudflare's rate-limiting binding with `LIMIT`
 * requests a minute.
 */
import { DurableObject } from "cloudflare:workers";
import { Hono } from "hono";

export class Limiter extends DurableObject {
  #minute = 0;
  #previous = 0;
  #current = 0;

  /** How many requests are left, or null if this one is refused. */
  admit(limit: number): number | null {
    const now = Date.now() / 60_000;
    const minute = Math.floor(now);
    if (minute > this.#minute) {
      this.#previous = minute === this.#minute + 1 ? this.#current : 0;
      this.#current = 0;
      this.#minute = minute;
    }
    const used = this.#current + Math.floor(this.#previous * (1 - (now - minute)));
    if (used >= limit) return null;
    this.#current++;
    return limit - used - 1;
  }
}

type Bindings = { LIMIT: string; LIMITER: DurableObjectNamespace<Limiter> };

export default new Hono<{ Bindings: Bindings }>()
  .use(async (c, next) => {
    const key = c.req.header("Authorization");
    if (key === undefined) return c.json({ error: "unauthorized" }, 401);
    const left = await c.env.LIMITER.getByName(key).admit(Number(c.env.LIMIT));
    c.header("X-RateLimit-Limit", c.env.LIMIT);
    c.header("X-RateLimit-Remaining", `${left ?? 0}`);
    c.header("X-RateLimit-Reset", `${(Math.floor(Date.now() / 60_000) + 1) * 60}`);
    return left === null ? c.json({ error: "rate limit exceeded" }, 429) : await next();
  })
  .get("/limited", (c) => c.json({ ok: true }));
