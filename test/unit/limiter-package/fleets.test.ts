/**
 * The ban rule against fleets of clients that each wait as told, while the object starts again with another clock between a refusal and the
 * next window, and one answer of each client and window is lost. Half as many clients as strikes make a ban are never banned.
 */
import { describe, it } from "vitest";
import { strikesToBan } from "../../../src/limiter/core/bans.ts";
import { type Counters, decide, NOTHING_COUNTED } from "../../../src/limiter/core/decide.ts";
import { headersOf } from "../../../src/limiter/core/headers.ts";
import { type Limit, perDay, perHour, perMinute, quotaAt } from "../../../src/limiter/core/windows.ts";
import { counted, KEY, seededRandom } from "./platform.ts";

const T0 = Date.UTC(2026, 10, 21, 10);
const RUN_MS = 5 * 60_000;
/** The time between the client, the Worker and the object. */
const LATENCY_MS = 20;
/** A client that gets no answer sends again after this time. */
const PATIENCE_MS = 2_000;

type Fleet = {
  readonly limits: readonly Limit[];
  readonly clients: number;
  /** Demand as a multiple of the smallest limit. */
  readonly demand: number;
  /** Gaps vary by ±50 %, and clients start at random. Otherwise all send at the same moments. */
  readonly isJittered: boolean;
  /** How far the clock of every other life of the object is from the true one. */
  readonly skewMs: number;
  readonly waits: boolean;
};

function runFleet({ limits, clients, demand, isJittered, skewMs, waits }: Fleet, seed: number) {
  const random = seededRandom(seed);
  const policy = { limits, bans: {} };
  const shortest = limits.reduce((a, b) => (b.seconds < a.seconds ? b : a));
  const gapMs = (clients * shortest.seconds * 1000) / (shortest.requests * demand);
  const nextAtMs = Array.from({ length: clients }, () => (isJittered ? T0 + random() * gapMs : T0));
  const lostIn = nextAtMs.map(() => -1);
  let counters: Counters = NOTHING_COUNTED;
  let life = 0;
  let restartedIn = -1;
  let refused = 0;
  for (;;) {
    const atMs = Math.min(...nextAtMs);
    const client = nextAtMs.indexOf(atMs);
    if (atMs >= T0 + RUN_MS) return { isBanned: false, refused };
    const sentAtMs = Math.ceil(atMs + LATENCY_MS);
    const nowMs = sentAtMs + LATENCY_MS + (life % 2) * skewMs;
    const decision = decide(counters, policy, KEY, { sentAtMs }, nowMs);
    counters = decision.counters;
    const verdict = counted(decision.verdict);
    if (verdict.kind === "banned") return { isBanned: true, refused };
    const waitMs = waits ? Number(headersOf(verdict)["Retry-After"] ?? 0) * 1000 : 0;
    const window = verdict.kind === "limited" ? verdict.window.endsAtMs : -1;
    if (verdict.kind === "limited") refused++;
    if (verdict.kind === "limited" && restartedIn !== window) {
      restartedIn = window;
      life++; // Nothing is lost: a decision's counters are what a restart finds at worst.
    }
    const gap = isJittered ? gapMs * (0.5 + random()) : gapMs;
    if (verdict.kind === "limited" && waits && lostIn[client] !== window) {
      lostIn[client] = window;
      nextAtMs[client] = atMs + PATIENCE_MS * random();
    } else nextAtMs[client] = atMs + (waitMs > 0 ? waitMs + 4 * LATENCY_MS : gap);
  }
}

const POLICIES: readonly (readonly Limit[])[] = [
  [perMinute(60), perDay(1_000)],
  [perMinute(300), perDay(100_000)],
  [perMinute(1_000)],
  [{ name: "ten", requests: 20, seconds: 10 }, perMinute(100), perHour(300)],
];
const SKEWS = [0, 20, 50, 100, 250, 900].flatMap((ms) => (ms === 0 ? [0] : [ms, -ms]));

const strikesOf = (limits: readonly Limit[]) => strikesToBan({}, quotaAt([], limits, T0));

describe("a fleet of half as many clients as strikes make a ban", () => {
  it.for(POLICIES)("is never banned while each waits as told: %j", (limits, { expect }) => {
    const half = Math.floor(strikesOf(limits) / 2);
    let refusals = 0;
    for (const skewMs of SKEWS)
      for (const isJittered of [true, false])
        for (const [clients, demand] of [
          [2, 3],
          [half, 1.2],
          [half, 6],
        ] as const) {
          const fleet = { limits, clients, demand, isJittered, skewMs, waits: true };
          const { isBanned, refused } = runFleet(fleet, clients + skewMs);
          expect([fleet, isBanned]).toEqual([fleet, false]);
          refusals += refused;
        }
    expect(refusals).toBeGreaterThan(500);
  });

  it.for(POLICIES)("is banned if the clients go on: %j", (limits, { expect }) => {
    const fleet = { limits, demand: 6, isJittered: true, skewMs: 0, waits: false };
    expect(runFleet({ ...fleet, clients: Math.floor(strikesOf(limits) / 2) }, 1).isBanned).toBe(true);
  });
});
