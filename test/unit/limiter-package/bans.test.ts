/** The ban rule by example: what is a strike, how long bans are, and what a crash leaves of a window. */
import { describe, it } from "vitest";
import { type Counters, decide, NOTHING_COUNTED, type Policy } from "../../../src/limiter/core/decide.ts";
import { perDay, perMinute } from "../../../src/limiter/core/windows.ts";
import { counted, KEY } from "./platform.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
const DAY_MS = 86_400_000;

/** A key that asks at the times that the test names. */
function keyWith(policy: Policy) {
  let counters: Counters = NOTHING_COUNTED;
  const ask = (atMs: number, sentAtMs = atMs, present = policy) => {
    const decision = decide(counters, present, KEY, { sentAtMs }, atMs);
    counters = decision.counters;
    return counted(decision.verdict);
  };
  /** Asks through a minute until it is banned. The ban's length in seconds; undefined without a ban. */
  const pollUntilBanned = (fromMs: number) => {
    for (let atMs = fromMs; atMs < fromMs + 60_000; atMs += 100) {
      const verdict = ask(atMs);
      if (verdict.kind === "banned") return Math.floor((verdict.ban.endsAtMs - atMs) / 1000);
    }
    return undefined;
  };
  return { ask, pollUntilBanned, banEnd: () => counters.penalty.lastBan?.endsAtMs ?? 0 };
}

/** The kinds of 25 requests at one moment, after one that used up the minute and one that was refused at noon. */
function kindsAt(atMs: number, sentAtMs = atMs): Set<string> {
  const { ask } = keyWith({ limits: [perMinute(1)], bans: {} });
  ask(NOON);
  ask(NOON);
  return new Set(Array.from({ length: 25 }, () => ask(atMs, sentAtMs).kind));
}

describe("a refusal", () => {
  it("is a strike, and 20 of them are a ban", ({ expect }) => {
    expect(kindsAt(NOON + 1_000)).toEqual(new Set(["limited", "banned"]));
    expect(kindsAt(NOON + 59_000)).toEqual(new Set(["limited", "banned"]));
  });

  it.for([
    ["sent within a second of the first refusal", NOON + 999, NOON + 999],
    ["sent within a second of the first refusal, and late", NOON + 5_000, NOON + 999],
    ["within a second, from a Worker whose clock is ahead", NOON + 500, NOON + 5_000],
    ["in the last second of its window", NOON + 59_001, NOON + 59_001],
  ] as const)("is none: %s", ([, atMs, sentAtMs], { expect }) => {
    expect(kindsAt(atMs, sentAtMs)).toEqual(new Set(["limited"]));
  });

  it.for([
    [9, "banned"],
    [10, "limited"],
  ] as const)(
    "is forgotten after the nine minutes that follow its own: %i",
    ([minutes, kind], { expect }) => {
      const { ask } = keyWith({ limits: [perDay(1)], bans: {} });
      for (const afterMs of [0, 0, ...Array(19).fill(2_000)]) ask(NOON + afterMs);
      expect(ask(NOON + minutes * 60_000).kind).toBe(kind);
    },
  );

  it("is none without a rule", ({ expect }) => {
    const { pollUntilBanned } = keyWith({ limits: [perDay(1)] });
    expect(pollUntilBanned(NOON)).toBeUndefined();
  });
});

describe("a ban", () => {
  it("doubles while the next begins within 24 hours, up to 24 hours, and then starts again", ({ expect }) => {
    const { pollUntilBanned, banEnd } = keyWith({ limits: [perDay(1)], bans: {} });
    const lengths = [pollUntilBanned(NOON)];
    for (let i = 0; i < 9; i++) lengths.push(pollUntilBanned(banEnd() + 60_000));
    expect(lengths).toEqual([300, 600, 1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 76_800, 86_400]);
    expect(pollUntilBanned(banEnd() + 2 * DAY_MS)).toBe(300);
  });

  it("that is pardoned ends, and the next one is not doubled", ({ expect }) => {
    const policy = { limits: [perDay(1)], bans: {}, pardonedBan: `ban_${KEY}_${NOON + 3_000}` };
    const { ask, pollUntilBanned } = keyWith(policy);
    expect(pollUntilBanned(NOON)).toBe(300);
    expect(ask(NOON + 3_200).kind).toBe("limited");
    expect(pollUntilBanned(NOON + 4_000)).toBe(300);
  });

  it("ends at its millisecond", ({ expect }) => {
    const { ask, pollUntilBanned, banEnd } = keyWith({ limits: [perMinute(1)], bans: {} });
    pollUntilBanned(NOON);
    expect([ask(banEnd() - 1).kind, ask(banEnd()).kind]).toEqual(["banned", "admitted"]);
  });

  it("that was pardoned does not come back when the policy names it no more", ({ expect }) => {
    const policy = { limits: [perMinute(1)], bans: {} };
    const { ask, pollUntilBanned } = keyWith(policy);
    pollUntilBanned(NOON);
    const pardoning = { ...policy, pardonedBan: `ban_${KEY}_${NOON + 3_000}` };
    const [first, second] = [NOON + 60_000, NOON + 120_000];
    expect([ask(first, first, pardoning).kind, ask(second).kind]).toEqual(["admitted", "admitted"]);
  });
});
