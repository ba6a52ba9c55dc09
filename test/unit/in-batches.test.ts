/** The maximum number of calls that run at the same time. */
import { describe, it } from "vitest";
import { inBatches } from "../../src/worker/in-batches.ts";

describe("inBatches", () => {
  it("calls once per item, at most a batch at a time, and keeps the order", async ({ expect }) => {
    let running = 0;
    let mostRunning = 0;
    const items = Array.from({ length: 45 }, (_, i) => i);
    const results = await inBatches(items, 20, async (item) => {
      mostRunning = Math.max(mostRunning, ++running);
      await new Promise((resolve) => setTimeout(resolve, item % 3));
      running--;
      return item * 2;
    });
    expect(results).toEqual(items.map((item) => item * 2));
    expect(mostRunning).toBe(20);
  });

  it("makes no call if there are no items", async ({ expect }) => {
    expect(await inBatches([], 20, () => Promise.reject(new Error("called")))).toEqual([]);
  });

  it("starts no further batch once a call has failed", async ({ expect }) => {
    const called: number[] = [];
    const failing = inBatches([1, 2, 3, 4], 2, async (item) => {
      called.push(item);
      if (item === 2) throw new Error("broken");
    });
    await expect(failing).rejects.toThrow("broken");
    expect(called).toEqual([1, 2]);
  });
});
