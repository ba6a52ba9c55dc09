/** Reads that share queries: when a query starts, what it reads, and what a query that fails or hangs does to the others. */
import fc from "fast-check";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { BatchedReads, type BatchRules } from "../../src/worker/batched-reads.ts";
import { TimeoutError } from "../../src/worker/with-timeout.ts";

const RULES: BatchRules = { maxQueries: 2, maxKeysPerQuery: 3, maxSlotMs: 1_000, timeoutMs: 3_000 };

type Query = {
  readonly keys: readonly string[];
  readonly startedAtMs: number;
  endedAtMs?: number;
  readonly answer: (values: Readonly<Record<string, string>>) => void;
  readonly fail: (error: Error) => void;
};

/** Reads whose queries the test settles. */
function start(rules: BatchRules = RULES) {
  const reads = new BatchedReads<string>(rules);
  const queries: Query[] = [];
  const kept: Promise<unknown>[] = [];
  const query = (keys: readonly string[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<Map<string, string>>();
    const started: Query = {
      keys,
      startedAtMs: Date.now(),
      answer: (values) => {
        started.endedAtMs = Date.now();
        resolve(new Map(Object.entries(values)));
      },
      fail: (error) => {
        started.endedAtMs = Date.now();
        reject(error);
      },
    };
    queries.push(started);
    return promise;
  };
  const read = (key: string) => reads.read(key, query, (promise) => void kept.push(promise));
  return { read, queries, kept, keysOf: () => queries.map(({ keys }) => keys.join("")) };
}

/** The longest time between two looks of a read that waits. */
const LOOK_MS = 250;
const settle = () => vi.advanceTimersByTimeAsync(LOOK_MS);

/** The result, with the time that it takes until the reads have looked. */
async function soon<T>(result: Promise<T>): Promise<T> {
  const [value] = await Promise.all([result, settle()]);
  return value;
}

beforeEach(() => void vi.useFakeTimers({ now: 1_790_000_000_000 }));
afterEach(() => void vi.useRealTimers());

describe("batched reads", () => {
  it("start a query at once while a slot is free, and share the next one otherwise", async ({ expect }) => {
    const { read, queries, keysOf } = start();
    const results = ["a", "b", "c", "d"].map(read);
    expect(keysOf()).toEqual(["a", "b"]);
    queries[1]?.answer({ b: "B" });
    await settle();
    expect(keysOf()).toEqual(["a", "b", "cd"]);
    queries[0]?.answer({});
    queries[2]?.answer({ c: "C", d: "D" });
    expect(await soon(Promise.all(results))).toEqual([undefined, "B", "C", "D"]);
  });

  it("read the first keys that wait, each once, up to the maximum of a query", async ({ expect }) => {
    const { read, queries, keysOf } = start();
    const results = ["a", "b", "c", "c", "d", "e"].map(read);
    queries[0]?.answer({});
    await settle();
    queries[1]?.answer({});
    await settle();
    expect(keysOf()).toEqual(["a", "b", "cd", "e"]);
    for (const query of queries) query.answer({ c: "C" });
    expect(await soon(Promise.all(results))).toEqual([undefined, undefined, "C", "C", undefined, undefined]);
  });

  it("fail with their own query only, and the others go on", async ({ expect }) => {
    const { read, queries, keysOf } = start();
    const results = Promise.allSettled(["a", "b", "c", "d"].map(read));
    queries[0]?.fail(new Error("outage"));
    await settle();
    queries[2]?.answer({ c: "C" });
    queries[1]?.answer({ b: "B" });
    expect((await soon(results)).map(({ status }) => status)).toEqual([
      "rejected",
      "fulfilled",
      "fulfilled",
      "fulfilled",
    ]);
    expect(keysOf()).toEqual(["a", "b", "cd"]);
  });

  it("go on after a second beside a query that hangs, and time out with it", async ({ expect }) => {
    const { read, queries, keysOf } = start({ ...RULES, maxQueries: 1 });
    const hanging = read("a").catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(500);
    const other = read("b");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(keysOf()).toEqual(["a", "b"]);
    queries[1]?.answer({ b: "B" });
    expect(await other).toBe("B");
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await hanging).toBeInstanceOf(TimeoutError);
  });

  it("time out if no query has begun in their time", async ({ expect }) => {
    const { read, keysOf } = start({ ...RULES, maxQueries: 1 });
    const results = Promise.allSettled([..."abcdefgh"].map(read));
    await vi.advanceTimersByTimeAsync(RULES.timeoutMs);
    expect(keysOf()).toEqual(["a", "bcd", "efg"]);
    await vi.advanceTimersByTimeAsync(RULES.timeoutMs);
    const errors = (await results).map((result) =>
      result.status === "rejected" ? result.reason : undefined,
    );
    expect(errors).toEqual(Array(8).fill(expect.any(TimeoutError)));
  });

  it("are forgotten after their time, although no request of theirs runs any more", async ({ expect }) => {
    const { read, queries, keysOf } = start();
    for (const key of ["a", "b", "c", "d"]) read(key).catch(() => {});
    // The runtime cancels the timers of a cancelled request.
    vi.clearAllTimers();
    vi.setSystemTime(Date.now() + RULES.timeoutMs - 1);
    vi.setSystemTime(Date.now() + 1);
    const result = read("e");
    expect(keysOf()).toEqual(["a", "b", "e"]);
    queries[2]?.answer({ e: "E" });
    expect(await result).toBe("E");
  });

  it("of cancelled requests are read for the others by a request that comes later", async ({ expect }) => {
    const { read, queries, keysOf } = start();
    for (const key of ["a", "b", "c"]) read(key).catch(() => {});
    vi.clearAllTimers();
    vi.setSystemTime(Date.now() + RULES.maxSlotMs);
    const result = read("d");
    expect(keysOf()).toEqual(["a", "b", "cd"]);
    queries[2]?.answer({ d: "D" });
    expect(await result).toBe("D");
  });

  it("keep each query alive beyond the request that started it", async ({ expect }) => {
    const { read, queries, kept } = start();
    const result = read("a");
    expect(kept).toHaveLength(1);
    queries[0]?.fail(new Error("outage"));
    await expect(result).rejects.toThrow("outage");
    await expect(kept[0]).resolves.toBeUndefined();
  });
});

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("read" as const), key: fc.constantFrom(..."abcdefgh") }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("answer" as const), which: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fail" as const), which: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("write" as const), key: fc.constantFrom(..."abcd") }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(1_500) }) },
);

describe("any sequence of reads, answers, failures and pauses", () => {
  it("answers each read once and in time, as a query of its own would, with a bounded number of queries", async ({
    expect,
  }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { read, queries } = start();
        /** The database, where the keys e to h do not exist. */
        const store: Record<string, string> = { a: "0", b: "0", c: "0", d: "0" };
        const outcomes: Promise<void>[] = [];
        const pending = new Set<{ readonly key: string; readonly queriesBefore: number }>();
        const waiting = () =>
          [...pending].filter(
            ({ key, queriesBefore }) => !queries.slice(queriesBefore).some(({ keys }) => keys.includes(key)),
          );
        const askAndCheck = async (key: string) => {
          const entry = { key, queriesBefore: queries.length };
          pending.add(entry);
          const [askedAtMs, least] = [Date.now(), Number(store[key] ?? -1)];
          const outcome = await read(key).catch((error: unknown) => error);
          pending.delete(entry);
          expect(Date.now() - askedAtMs).toBeLessThanOrEqual(2 * RULES.timeoutMs + LOOK_MS);
          if (outcome instanceof Error) return expect(outcome.message).toMatch(/^outage$|^no /);
          if (least < 0) expect(outcome).toBeUndefined();
          else expect(Number(outcome), "the value of before the read").toBeGreaterThanOrEqual(least);
        };
        /** A query reads as early as it can: when it starts. */
        const valuesAtStart = new Map<Query, Record<string, string>>();
        const noteStarts = () => {
          for (const query of queries) if (!valuesAtStart.has(query)) valuesAtStart.set(query, { ...store });
        };
        const open = () => queries.filter(({ endedAtMs }) => endedAtMs === undefined);
        const answerAll = () => {
          for (const query of open()) query.answer(valuesAtStart.get(query) ?? {});
        };
        for (const next of steps) {
          if (next.do === "read") outcomes.push(askAndCheck(next.key));
          else if (next.do === "write") store[next.key] = String(Number(store[next.key]) + 1);
          else if (next.do === "wait") await vi.advanceTimersByTimeAsync(next.ms);
          else {
            const query = open()[next.which];
            if (next.do === "answer") query?.answer(valuesAtStart.get(query) ?? {});
            else query?.fail(new Error("outage"));
          }
          noteStarts();
          await settle();
          noteStarts();
          const holders = open().filter(({ startedAtMs }) => Date.now() - startedAtMs < RULES.maxSlotMs);
          expect(holders.length).toBeLessThanOrEqual(RULES.maxQueries);
          if (waiting().length > 0) expect(open().length).toBeGreaterThanOrEqual(RULES.maxQueries);
        }
        for (let i = 0; i < 60 && pending.size > 0; i++) {
          answerAll();
          await settle();
          noteStarts();
        }
        await Promise.all(outcomes);
        for (const { keys } of queries) {
          expect(keys.length).toBeGreaterThan(0);
          expect(keys.length).toBeLessThanOrEqual(RULES.maxKeysPerQuery);
          expect(new Set(keys).size).toBe(keys.length);
        }
      }),
      { numRuns: 300 },
    );
  });
});
