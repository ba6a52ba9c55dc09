/** A Durable Object that counts in memory: the lowest cost of a limit that is exact across isolates. */
import { DurableObject } from "cloudflare:workers";
import { currentMinute, limitedApp } from "./app.ts";

export class Limiter extends DurableObject {
  #minute = 0;
  #count = 0;

  count(minute: number): number {
    if (minute !== this.#minute) this.#count = 0;
    this.#minute = minute;
    return ++this.#count;
  }
}

export default limitedApp<Limiter>((limit) => async (c, next) => {
  const count = await c.env.LIMITER.getByName(c.var.key).count(currentMinute());
  return count > limit ? c.json({ error: "rate limit exceeded" }, 429) : await next();
});
