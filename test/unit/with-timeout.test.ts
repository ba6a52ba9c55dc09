/** The timeout of a promise. */
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { withDeadline } from "../../src/worker/platform/with-timeout.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function answerAfter<T>(ms: number, value: T): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(value), ms));
}

describe("withTimeout", () => {
  it("passes on an answer that comes in time, and leaves no timer behind", async ({ expect }) => {
    const answer = withDeadline(answerAfter(99, "yes"), 100);
    await vi.advanceTimersByTimeAsync(99);
    expect(await answer).toBe("yes");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("passes on a rejection, and leaves no timer behind", async ({ expect }) => {
    await expect(withDeadline(Promise.reject(new Error("broken")), 100)).rejects.toThrow("broken");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("rejects when the answer comes too late", async ({ expect }) => {
    const rejected = expect(withDeadline(answerAfter(101, "yes"), 100)).rejects.toThrow(
      "no result within 100 ms",
    );
    await vi.advanceTimersByTimeAsync(100);
    await rejected;
  });
});
