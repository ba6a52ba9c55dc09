/** Requests that share one load: its value, its failure and its timeout. */
import { afterEach, describe, it, vi } from "vitest";
import { SingleFlight } from "../../src/worker/platform/single-flight.ts";
import { TimeoutError } from "../../src/worker/platform/with-timeout.ts";

const ignore = () => {};

/** A load that the test settles. */
function pendingLoad() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { load: vi.fn(() => promise), resolve, reject };
}

afterEach(() => void vi.useRealTimers());

describe("single-flight", () => {
  it("loads once for all concurrent calls", async ({ expect }) => {
    const flights = new SingleFlight<string>(1_000);
    const { load, resolve } = pendingLoad();
    const shared = [1, 2, 3].map(() => flights.run(load, ignore));
    resolve("value");
    expect(await Promise.all(shared)).toEqual(["value", "value", "value"]);
    expect(load).toHaveBeenCalledOnce();
  });

  it("starts a new load after the clock was set back, since the age of the last one is not known", async ({
    expect,
  }) => {
    vi.useFakeTimers({ now: 60_000 });
    const flights = new SingleFlight<string>(1_000);
    const { load, resolve } = pendingLoad();
    const first = flights.run(load, ignore);
    vi.setSystemTime(0);
    const second = flights.run(load, ignore);
    resolve("value");
    expect(await Promise.all([first, second])).toEqual(["value", "value"]);
    expect(load).toHaveBeenCalledTimes(2);
  });

  it("starts a new load after the last one has ended", async ({ expect }) => {
    const flights = new SingleFlight<string>(1_000);
    const load = vi.fn(async () => "value");
    await flights.run(load, ignore);
    await flights.run(load, ignore);
    expect(load).toHaveBeenCalledTimes(2);
  });

  it("makes those that joined a load that began before them share one more, also if it is done when they look", async ({
    expect,
  }) => {
    vi.useFakeTimers();
    const flights = new SingleFlight<number>(1_000);
    let count = 0;
    const load = vi.fn(async () => {
      const value = ++count;
      if (value === 1) await new Promise((resolve) => setTimeout(resolve, 90));
      return value;
    });
    const run = (isEnough?: (value: number) => boolean) => flights.runAfterCall(load, ignore, isEnough);
    const results = [run()];
    // They look at different times, and the second load ends at once.
    for (let i = 0; i < 20; i++) {
      await vi.advanceTimersByTimeAsync(1);
      results.push(run());
    }
    results.push(run((value) => value === 1));
    await vi.advanceTimersByTimeAsync(200);
    expect(await Promise.all(results)).toEqual([1, ...Array(20).fill(2), 1]);
    expect(load).toHaveBeenCalledTimes(2);
  });

  it("begins up to four loads beside each other, apart, and one at a time while they are slow", async ({
    expect,
  }) => {
    vi.useFakeTimers();
    const flights = new SingleFlight<number>(10_000, 4);
    let [loadMs, begun, inFlight] = [80, 0, 0];
    let began: { readonly atMs: number; readonly inFlight: number }[] = [];
    const load = async () => {
      const number = ++begun;
      began.push({ atMs: Date.now(), inFlight: ++inFlight });
      await new Promise((resolve) => setTimeout(resolve, loadMs));
      inFlight--;
      return number;
    };
    /** Calls every 5 ms. No call gets a load that began before the call. */
    const callFor = async (ms: number) => {
      const calls: Promise<void>[] = [];
      began = [];
      for (let i = 0; i < ms / 5; i++) {
        const before = begun;
        const waitsFromMs = Date.now();
        calls.push(
          flights.runAfterCall(load, ignore).then((number) => {
            expect(number).toBeGreaterThan(before);
            expect(Date.now() - waitsFromMs).toBeLessThan(loadMs * 3);
          }),
        );
        await vi.advanceTimersByTimeAsync(5);
      }
      await vi.advanceTimersByTimeAsync(3 * loadMs);
      await Promise.all(calls);
      return Math.max(...began.map((each) => each.inFlight));
    };
    expect(await callFor(5)).toBe(1); // nobody knows yet how long a load takes
    expect(await callFor(800)).toBe(4);
    const pauses = began.slice(1).map(({ atMs }, i) => atMs - (began[i]?.atMs ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(20);
    loadMs = 400;
    await callFor(800);
    expect(await callFor(1_600)).toBe(1);
    loadMs = 80;
    await callFor(800);
    expect(await callFor(800)).toBe(4);
  });

  it("shares a failure, and starts a new load after it", async ({ expect }) => {
    const flights = new SingleFlight<string>(1_000);
    const { load, reject } = pendingLoad();
    const shared = [1, 2, 3].map(() => flights.run(load, ignore));
    reject(new Error("outage"));
    for (const result of await Promise.allSettled(shared)) {
      expect(result).toMatchObject({ status: "rejected", reason: { message: "outage" } });
    }
    expect(await flights.run(async () => "value", ignore)).toBe("value");
    expect(load).toHaveBeenCalledOnce();
  });

  it("drops a load that never settles, once, for all waiting calls", async ({ expect }) => {
    const flights = new SingleFlight<string>(50);
    const never = vi.fn(() => new Promise<string>(ignore));
    const shared = [1, 2, 3].map(() => flights.run(never, ignore));
    for (const result of await Promise.allSettled(shared)) {
      expect(result).toMatchObject({ status: "rejected", reason: expect.any(TimeoutError) });
    }
    expect(await flights.run(async () => "value", ignore)).toBe("value");
    expect(never).toHaveBeenCalledOnce();
  });

  it("does not join a load past its time whose requests are all gone", async ({ expect }) => {
    vi.useFakeTimers();
    try {
      const flights = new SingleFlight<string>(1_000);
      void flights.run(() => new Promise<string>(ignore), ignore);
      vi.clearAllTimers(); // the runtime has cancelled the request, its timers and its load
      vi.setSystemTime(Date.now() + 60_000);
      const next = flights.run(async () => "value", ignore);
      await Promise.all([expect(next).resolves.toBe("value"), vi.advanceTimersByTimeAsync(10)]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("passes the load to waitUntil, also if it fails", async ({ expect }) => {
    const flights = new SingleFlight<string>(1_000);
    const kept: Promise<unknown>[] = [];
    const failing = flights.run(
      () => Promise.reject(new Error("outage")),
      (load) => kept.push(load),
    );
    await expect(failing).rejects.toThrow("outage");
    expect(kept).toHaveLength(1);
    await expect(kept[0]).resolves.toBeUndefined();
  });
});
