/** One call of a Durable Object that counts in memory: the least that a limit exact across isolates can cost. */
import { DurableObject } from "cloudflare:workers";
import { Hono } from "hono";
import type { BenchBindings } from "../worker/bindings.ts";

export class MemoryCounter extends DurableObject<BenchBindings> {
  #count = 0;

  count(): number {
    return ++this.#count;
  }
}

export const memoryObject = new Hono<{ Bindings: BenchBindings }>().get("/bench/memory-object", async (c) =>
  c.json({ count: await c.env.MEMORY_COUNTER.getByName("one").count() }),
);
