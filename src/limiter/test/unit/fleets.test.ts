/**
 * Which clients of one key are banned: fleets that wait as told, retry policies of well-known libraries,
 * loops without a retry, and pollers. In virtual time, against `decide`.
 */
import { describe, it } from "vitest";
import { DEEP } from "../../../../test/support/deep.ts";
import { seededRandom } from "../../../../test/support/random.ts";
import { type Counters, decide, NOTHING_COUNTED } from "../../core/decide.ts";
import { headersOf } from "../../core/headers.ts";
import { type Limit, perDay, perHour, perMinute, type RequestLimit } from "../../core/windows.ts";
import { counted, KEY } from "./platform.ts";

const TEN = Date.UTC(2026, 10, 21, 10);
const FREE = [perMinute(60), perDay(1_000)];
const LATENCY_MS = 20;
/** A client that gets no answer sends again within this time. */
const PATIENCE_MS = 2_000;

/** The pause after a refusal; null to give the request up. `attempt` counts from 1. */
type Retry = (attempt: number, retryAfterMs: number) => number | null;

type Fleet = {
  readonly limits: readonly Limit[];
  /** Each sends one request at a time. */
  readonly clients: number;
  /** How many requests the clients have together, without the repeated ones. */
  readonly requests: number;
  readonly retry: Retry;
  readonly startSecond?: number;
  /** A client pauses so long after each request that is done or given up. */
  readonly gapMs?: number;
  readonly isJittered?: boolean;
  /** The object starts again after each window's first refusal. Every other life's clock is off by this. */
  readonly skewMs?: number;
  /** Each client loses the first refusal in each window. */
  readonly losesAnswers?: boolean;
  readonly runMs?: number;
};

/** `firstRefusalMs` and `bannedMs` are times from the start; undefined if that never came. */
function run(fleet: Fleet) {
  const { limits, clients, requests, retry, startSecond = 0, gapMs = 0, isJittered, skewMs = 0 } = fleet;
  const random = seededRandom(clients + skewMs);
  const startMs = TEN + startSecond * 1000;
  const all = Array.from({ length: Math.min(clients, requests) }, () => ({
    nextMs: startMs + (isJittered ? random() * gapMs : 0),
    attempt: 1,
    lostIn: 0,
  }));
  const gap = () => 2 * LATENCY_MS + (isJittered ? gapMs * (0.5 + random()) : gapMs);
  let counters: Counters = NOTHING_COUNTED;
  let [begun, refusals, lives, restartedIn] = [all.length, 0, 0, 0];
  let firstRefusalMs: number | undefined;
  for (;;) {
    const client = all.reduce((a, b) => (b.nextMs < a.nextMs ? b : a));
    const { nextMs } = client;
    if (nextMs - startMs >= (fleet.runMs ?? 600_000))
      return { refusals, firstRefusalMs, bannedMs: undefined };
    const decision = decide(
      counters,
      { limits, bans: {} },
      KEY,
      {},
      Math.ceil(nextMs) + (lives % 2) * skewMs,
    );
    counters = decision.counters;
    const verdict = counted(decision.verdict);
    if (verdict.kind === "banned") return { refusals, firstRefusalMs, bannedMs: nextMs - startMs };
    let pauseMs: number | null = null;
    if (verdict.kind === "limited") {
      refusals++;
      firstRefusalMs ??= nextMs - startMs;
      const { endsAtMs } = verdict.window;
      if (restartedIn !== endsAtMs) lives++;
      restartedIn = endsAtMs;
      const isLost = fleet.losesAnswers && client.lostIn !== endsAtMs;
      pauseMs = isLost
        ? PATIENCE_MS * random()
        : retry(client.attempt, Number(headersOf(verdict)["Retry-After"]) * 1000);
      client.lostIn = endsAtMs;
    }
    if (pauseMs !== null) {
      client.nextMs += 2 * LATENCY_MS + pauseMs;
      client.attempt++;
    } else {
      // A client without a further request is at rest.
      client.nextMs = begun++ < requests ? nextMs + gap() : Number.POSITIVE_INFINITY;
      client.attempt = 1;
    }
  }
}

const waits: Retry = (_attempt, retryAfterMs) => retryAfterMs;

describe("a fleet that waits as told", () => {
  const SKEWS_MS = [0, 20, -20, 100, -100, 250, -250, 900, -900];

  it.for<readonly [...RequestLimit[]]>([
    FREE,
    [perMinute(300), perDay(100_000)],
    ...(DEEP ? [[perMinute(1_000)] as const] : []),
    [perMinute(5)],
    [{ name: "ten", requests: 20, seconds: 10 }, perMinute(100), perHour(300)],
  ])("of 19 is never banned, nor ten that lose an answer in each window: %j", (limits, { expect }) => {
    const { seconds, requests } = limits.reduce((a, b) => (b.seconds < a.seconds ? b : a));
    let refusals = 0;
    for (const [clients, losesAnswers] of [
      [2, true],
      [10, true],
      [19, false],
    ] as const)
      for (const demand of [1.2, 6])
        for (const skewMs of SKEWS_MS)
          for (const isJittered of [true, false]) {
            const gapMs = (clients * Number(seconds) * 1000) / (requests * demand);
            const own = { limits, clients, losesAnswers, skewMs, isJittered, gapMs };
            const outcome = run({ ...own, requests: 1e6, retry: waits, runMs: 150_000 });
            expect([own, outcome.bannedMs]).toEqual([own, undefined]);
            refusals += outcome.refusals;
          }
    expect(refusals).toBeGreaterThan(500);
  });
});

const STARTS = [0, 3, 10, 25, 40, 55];

/** In how many of the starts the client is banned. */
function bansOf(fleet: Omit<Fleet, "limits" | "startSecond">): number {
  return STARTS.filter((startSecond) => run({ ...fleet, limits: FREE, startSecond }).bannedMs !== undefined)
    .length;
}

describe("90 requests of a Free key", () => {
  const RETRIES: Readonly<Record<string, Retry>> = {
    "as told": waits,
    "1, 2, 4 s and so on, as p-retry": (attempt) => (attempt <= 10 ? 1_000 * 2 ** (attempt - 1) : null),
    "as told, at most 30 s, as undici": (attempt, retryAfterMs) =>
      attempt <= 5 ? Math.min(retryAfterMs, 30_000) : null,
    "three times after 1 s, as fetch-retry": (attempt) => (attempt <= 3 ? 1_000 : null),
    "five times at once, as superagent": (attempt) => (attempt <= 5 ? 0 : null),
    "after 1, 4 and 9 s": (attempt) => (attempt <= 3 ? 1_000 * attempt ** 2 : null),
    never: () => null,
  };

  it.for(Object.keys(RETRIES))("lead to no ban, retried %s", (name, { expect }) => {
    const retry = RETRIES[name] ?? waits;
    const bans = [90, 10, 1].map((clients) => bansOf({ clients, requests: 90, retry }));
    // One by one, three tries a second apart are a client that polls once a second.
    expect(bans).toEqual([0, 0, name.includes("three times") ? 4 : 0]);
  });

  it.for([70, 150, 225, 500, 700])("in a loop of %i ms lead to no ban", (everyMs, { expect }) => {
    const gapMs = everyMs - 2 * LATENCY_MS;
    expect(bansOf({ clients: 1, requests: 90, retry: () => null, gapMs })).toBe(0);
  });
});

describe("a client that polls a Free key through its refusals", () => {
  // docs/promises.md has these figures.
  it.for([
    [0.05, 3, 24],
    [0.2, 12, 33],
    [0.5, 30, 51],
  ] as const)(
    "every %f s is refused after %i s and banned after %i s",
    ([seconds, refused, banned], { expect }) => {
      const gapMs = seconds * 1000 - 2 * LATENCY_MS;
      const poller = { limits: FREE, clients: 1, requests: 1e6, retry: () => null, gapMs };
      const { firstRefusalMs, bannedMs } = run(poller);
      expect([firstRefusalMs, bannedMs]).toEqual([refused * 1000, banned * 1000]);
    },
  );

  it("once a second is banned when its day is used up", ({ expect }) => {
    const limits = [perDay(1)];
    const { bannedMs } = run({ limits, clients: 1, requests: 1e6, retry: () => null, gapMs: 960 });
    expect(bannedMs).toBe(22_000);
  });
});
