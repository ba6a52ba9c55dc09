/** One call of a Durable Object that counts in memory: the lowest cost of a limit that is exact across isolates. */
import { DurableObject } from "cloudflare:workers";
import type { BenchBindings } from "../worker/bindings.ts";
import type { RivalLimit } from "./names.ts";
import { currentMinute, type Limiter } from "./rival.ts";

export class MemoryCounter extends DurableObject<BenchBindings> {
  #minute = 0;
  #count = 0;

  count(minute: number): number {
    if (minute !== this.#minute) this.#count = 0;
    this.#minute = minute;
    return ++this.#count;
  }
}

export const memoryObject =
  (limit: RivalLimit): Limiter =>
  async (c, next) => {
    const count = await c.env.MEMORY_COUNTER.getByName(c.var.key).count(currentMinute());
    return count > limit ? c.json({ error: "rate limit exceeded" }, 429) : await next();
  };
