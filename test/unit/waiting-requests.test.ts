/** The bound on the requests that wait for D1, in all and for each key. */
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { WaitingRequests } from "../../src/worker/waiting-requests.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

/** At most 4 in all and 2 for each key, for 1 s. */
function startWaiting() {
  const waiting = new WaitingRequests({ maxInAll: 4, maxPerKey: 2, maxWaitMs: 1_000 });
  const begin = (key: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const done = waiting.run(key, () => promise);
    // A refusal is looked at later.
    done.catch(() => {});
    return { done, resolve, reject };
  };
  return { waiting, begin };
}

describe("waiting requests", () => {
  it("are refused with 503 beyond the bound of their key, and other keys are not", async ({ expect }) => {
    const { waiting, begin } = startWaiting();
    const [first] = [begin("a"), begin("a")];
    await expect(begin("a").done).rejects.toMatchObject({
      code: "service_unavailable",
      headers: { "Retry-After": "5" },
    });
    begin("b");
    expect(waiting.count()).toBe(3);
    first.resolve("done");
    expect(await first.done).toBe("done");
    begin("a");
    expect(waiting.count()).toBe(3);
  });

  it("are refused with 503 beyond the bound in all, until one of them ends or fails", async ({ expect }) => {
    const { waiting, begin } = startWaiting();
    const [one, two] = [begin("a"), begin("b"), begin("c"), begin("d")];
    await expect(begin("e").done).rejects.toMatchObject({ code: "service_unavailable" });
    one.reject(new Error("broken"));
    await expect(one.done).rejects.toThrow("broken");
    two.resolve("done");
    await two.done;
    expect(waiting.count()).toBe(2);
    begin("e");
    expect(waiting.count()).toBe(3);
  });

  it("do not count if the runtime has cancelled them, once their time is over", async ({ expect }) => {
    const { waiting, begin } = startWaiting();
    begin("a");
    vi.setSystemTime(500);
    const late = begin("a");
    vi.setSystemTime(999);
    expect(waiting.count()).toBe(2);
    vi.setSystemTime(1_000);
    expect(waiting.count()).toBe(1);
    vi.setSystemTime(1_500);
    expect(waiting.count()).toBe(0);
    const [, second] = [begin("a"), begin("a")];
    late.resolve("done");
    await late.done;
    expect(waiting.count()).toBe(2);
    await expect(begin("a").done).rejects.toMatchObject({ code: "service_unavailable" });
    second.resolve("done");
    await second.done;
    expect(waiting.count()).toBe(1);
  });

  it("do not count for longer after the clock was set back", ({ expect }) => {
    const { waiting, begin } = startWaiting();
    vi.setSystemTime(60_000);
    begin("a");
    vi.setSystemTime(0);
    expect(waiting.count()).toBe(0);
  });
});
