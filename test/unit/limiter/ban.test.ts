/** The ban rule, number by number, through the decision that applies it. */
import fc from "fast-check";
import { describe, it } from "vitest";
import {
  banByHand,
  lift,
  liveBan,
  NO_PENALTY,
  type PenaltyState,
  refuse,
} from "../../../src/worker/limiter/core/ban.ts";
import { rateLimitHeaders } from "../../../src/worker/limiter/core/rate-limit-headers.ts";
import { limits, startMs } from "./arbitraries.ts";
import { KEY_ID, SimulatedLimiter } from "./simulated-limiter.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const FREE = { perMinute: 60, perDay: 1000 };
/** 10:00:00 UTC. */
const T0 = Date.UTC(2026, 10, 21, 10);

/** Uses up the minute that `nowMs` is in, then polls on until banned. Returns the moment of the ban. */
function pollUntilBanned(limiter: SimulatedLimiter, nowMs: number): number {
  for (let atMs = nowMs; atMs < nowMs + MINUTE; atMs += 100) {
    if (limiter.request({ ...FREE, perDay: 100_000 }, atMs).kind === "banned") return atMs;
  }
  throw new Error("no ban within a minute of polling");
}

/** PenaltyState after `count` refusals by the same window at those moments. */
function refusedAt(...momentsMs: number[]): PenaltyState {
  const windowEndsAtMs = T0 + 24 * HOUR;
  return momentsMs.reduce((penalty, atMs) => refuse(penalty, KEY_ID, windowEndsAtMs, atMs), NO_PENALTY);
}

const times = (count: number, from: number, step: number) =>
  Array.from({ length: count }, (_, i) => from + i * step);

describe("what is a strike", () => {
  it.for([
    { refused: "once", atMs: [0], strikes: 0 },
    { refused: "again 999 ms later", atMs: [0, 999], strikes: 0 },
    { refused: "again 1,000 ms later", atMs: [0, 1000], strikes: 1 },
    { refused: "1,000 times within the first second", atMs: times(1000, 0, 0.999), strikes: 0 },
    { refused: "19 times after the first second", atMs: [0, ...times(19, 1000, 0)], strikes: 19 },
    { refused: "with a clock that ran backwards", atMs: [5000, 0, 100], strikes: 0 },
  ])("a key refused $refused has $strikes strikes", ({ atMs, strikes }, { expect }) => {
    const penalty = refusedAt(...atMs.map((ms) => T0 + ms));
    expect(penalty.strikesAtMs).toHaveLength(strikes);
    expect(penalty.ban).toBeNull();
  });

  it("each window has its own first second", ({ expect }) => {
    const first = refuse(NO_PENALTY, KEY_ID, T0 + MINUTE, T0 + 59_500);
    const second = refuse(first, KEY_ID, T0 + 2 * MINUTE, T0 + MINUTE + 500);
    expect(refuse(second, KEY_ID, T0 + 2 * MINUTE, T0 + MINUTE + 1_499).strikesAtMs).toHaveLength(0);
    expect(refuse(second, KEY_ID, T0 + 2 * MINUTE, T0 + MINUTE + 1_500).strikesAtMs).toHaveLength(1);
  });
});

describe("what makes a ban", () => {
  it("200 requests in flight at once on a Free key ban nobody", ({ expect }) => {
    fc.assert(
      fc.property(startMs, fc.array(fc.nat(999), { minLength: 200, maxLength: 200 }), (atMs, delays) => {
        const limiter = new SimulatedLimiter();
        const second = Math.floor(atMs / 1000) * 1000;
        const kinds = delays
          .toSorted((a, b) => a - b)
          .map((delay) => limiter.request(FREE, second + delay).kind);
        expect(kinds.filter((kind) => kind === "admitted")).toHaveLength(60);
        expect(kinds.filter((kind) => kind === "limited")).toHaveLength(140);
      }),
    );
  });

  it("a client that obeys Retry-After is never banned, however many it sends at once", ({ expect }) => {
    const turn = fc.record({ atOnce: fc.integer({ min: 1, max: 200 }), lateMs: fc.nat(90_000) });
    fc.assert(
      fc.property(limits, startMs, fc.array(turn, { maxLength: 40 }), (limits, atMs, turns) => {
        const limiter = new SimulatedLimiter();
        let nowMs = atMs;
        for (const { atOnce, lateMs } of turns) {
          let waitSeconds = 0;
          for (let i = 0; i < atOnce; i++) {
            const verdict = limiter.request(limits, nowMs);
            expect(verdict.kind).not.toBe("banned");
            waitSeconds = Math.max(waitSeconds, Number(rateLimitHeaders(verdict)["Retry-After"] ?? 0));
          }
          nowMs += waitSeconds * 1000 + lateMs;
        }
      }),
    );
  });

  it.for([100, 1_000, 15_000, 30_000])(
    "polling on every %i ms past a used-up day, the 20th strike bans",
    (gapMs, { expect }) => {
      const limiter = new SimulatedLimiter();
      const limits = { perMinute: 10, perDay: 1 };
      limiter.request(limits, T0);
      limiter.request(limits, T0);
      const firstStrikeAtMs = T0 + Math.max(gapMs, SECOND);
      const kinds = times(20, firstStrikeAtMs, gapMs).map((atMs) => limiter.request(limits, atMs).kind);
      expect(kinds).toEqual([...Array.from({ length: 19 }, () => "limited"), "banned"]);
    },
  );

  it.for([
    { gapMs: 31_578, kinds: ["admitted", "limited", "banned"] },
    { gapMs: 31_579, kinds: ["admitted", "limited"] },
  ])("20 strikes must come within 10 minutes: polling on every $gapMs ms", ({ gapMs, kinds }, { expect }) => {
    const limiter = new SimulatedLimiter();
    const polls = times(1000, T0, gapMs).map((atMs) => limiter.request({ perMinute: 10, perDay: 1 }, atMs));
    expect([...new Set(polls.map(({ kind }) => kind))]).toEqual(kinds);
  });
});

describe("a ban", () => {
  it("ends at the second that the headers name: one millisecond earlier banned, then admitted", ({
    expect,
  }) => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40 * SECOND }), (offsetMs) => {
        const limiter = new SimulatedLimiter();
        const bannedAtMs = pollUntilBanned(limiter, T0 + offsetMs);
        const verdict = limiter.request(FREE, bannedAtMs + 1);
        const resetMs = Number(rateLimitHeaders(verdict)["X-RateLimit-Reset"]) * 1000;
        expect(verdict).toMatchObject({ kind: "banned", ban: { endsAtMs: resetMs } });
        expect(resetMs - bannedAtMs).toBeGreaterThanOrEqual(5 * MINUTE);
        expect(resetMs - bannedAtMs).toBeLessThan(5 * MINUTE + SECOND);
        expect(limiter.wouldAnswer(FREE, resetMs - 1)).toBe("banned");
        expect(limiter.wouldAnswer(FREE, resetMs)).toBe("admitted");
      }),
    );
  });

  it("is not changed by requests during it: no strike, no longer end, nothing counted", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    const bannedAtMs = pollUntilBanned(limiter, T0);
    const { penalty, counts } = limiter.state;
    for (const atMs of times(5_000, bannedAtMs + 1, 50)) limiter.request(FREE, atMs);
    expect(limiter.state.penalty).toEqual(penalty);
    expect(limiter.state.counts.day.used).toBe(counts.day.used);
    expect(limiter.state.refusedWhileBanned).toBe(5_000);
  });

  it("survives a change of UTC day, of limits and an eviction", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    const bannedAtMs = pollUntilBanned(limiter, Date.UTC(2026, 10, 21, 23, 57));
    limiter.request(FREE, bannedAtMs);
    limiter.evict();
    const nextDay = Date.UTC(2026, 10, 22, 0, 0, 1);
    const business = { perMinute: 1000, perDay: 100_000 };
    const verdict = limiter.request(business, nextDay);
    expect(verdict.kind).toBe("banned");
    expect(rateLimitHeaders(verdict)["X-RateLimit-Limit"]).toBe("1000");
    expect(limiter.wouldAnswer(business, bannedAtMs + 5 * MINUTE + SECOND)).toBe("admitted");
  });

  it("leaves the windows as they are: at its end a used-up day still refuses, and the wait has said so", ({
    expect,
  }) => {
    const limiter = new SimulatedLimiter();
    const limits = { perMinute: 10, perDay: 1 };
    for (const atMs of times(30, T0, SECOND)) limiter.request(limits, atMs);
    const verdict = limiter.request(limits, T0 + MINUTE);
    if (verdict.kind !== "banned") throw new Error("30 polls should have banned");
    expect(limiter.wouldAnswer(limits, verdict.ban.endsAtMs)).toBe("limited");
    const midnight = Date.UTC(2026, 10, 22);
    expect(rateLimitHeaders(verdict)).toMatchObject({
      "X-RateLimit-Limit": "1",
      "X-RateLimit-Reset": String(midnight / 1000),
      "Retry-After": String((midnight - T0 - MINUTE) / 1000),
    });
  });

  it("has an id of its own, so that the history can tell two apart", ({ expect }) => {
    const first = banByHand("key_a", MINUTE, "testing", T0);
    expect(
      new Set([first.id, banByHand("key_a", MINUTE, "", T0 + 1).id, banByHand("key_b", MINUTE, "", T0).id])
        .size,
    ).toBe(3);
  });
});

describe("escalation", () => {
  it("doubles from 5 minutes to 24 hours, each ban within 24 hours of the last one's end", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    let nowMs = T0;
    const minutes = times(11, 0, 0).map(() => {
      const bannedAtMs = pollUntilBanned(limiter, nowMs);
      const endsAtMs = limiter.state.penalty.ban?.endsAtMs ?? 0;
      nowMs = endsAtMs + HOUR;
      return Math.floor((endsAtMs - bannedAtMs) / MINUTE);
    });
    expect(minutes).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440]);
  });

  it.for([
    { afterMs: 24 * HOUR - 1, lengthMs: 10 * MINUTE },
    { afterMs: 24 * HOUR, lengthMs: 5 * MINUTE },
  ])("a ban $afterMs ms after the last one's end lasts $lengthMs ms", ({ afterMs, lengthMs }, { expect }) => {
    const first = refusedAt(T0, ...times(20, T0 + SECOND, 0));
    const bannedAgainAtMs = (first.ban?.endsAtMs ?? 0) + afterMs;
    const windowEndsAtMs = bannedAgainAtMs + HOUR;
    let penalty = refuse(first, KEY_ID, windowEndsAtMs, bannedAgainAtMs - SECOND);
    for (let i = 0; i < 20; i++) penalty = refuse(penalty, KEY_ID, windowEndsAtMs, bannedAgainAtMs);
    expect(penalty.ban?.endsAtMs).toBe(Math.ceil((bannedAgainAtMs + lengthMs) / SECOND) * SECOND);
  });

  it("does not count bans by hand", ({ expect }) => {
    const byHand = { ...NO_PENALTY, ban: banByHand(KEY_ID, 3 * HOUR, "asked for", T0) };
    const later = T0 + 4 * HOUR;
    let penalty = refuse(byHand, KEY_ID, later + HOUR, later);
    for (let i = 0; i < 20; i++) penalty = refuse(penalty, KEY_ID, later + HOUR, later + SECOND);
    expect((penalty.ban?.endsAtMs ?? 0) - later - SECOND).toBe(5 * MINUTE);
  });
});

describe("lifting a ban", () => {
  const banned = refusedAt(T0, ...times(20, T0 + SECOND, 0));
  const liftedAtMs = T0 + MINUTE;

  it("ends it at once and wipes the strikes", ({ expect }) => {
    const lifted = lift(banned, false, liftedAtMs);
    expect(liveBan(banned, liftedAtMs)).not.toBeNull();
    expect(liveBan(lifted, liftedAtMs)).toBeNull();
    expect(lifted).toMatchObject({ strikesAtMs: [], firstRefusal: null });
  });

  it.for([
    { forgive: false, lengthMs: 10 * MINUTE },
    { forgive: true, lengthMs: 5 * MINUTE },
  ])("makes the next one last $lengthMs ms when forgive is $forgive", ({ forgive, lengthMs }, { expect }) => {
    let penalty = lift(banned, forgive, liftedAtMs);
    const againAtMs = liftedAtMs + HOUR;
    penalty = refuse(penalty, KEY_ID, againAtMs + HOUR, againAtMs - SECOND);
    for (let i = 0; i < 20; i++) penalty = refuse(penalty, KEY_ID, againAtMs + HOUR, againAtMs);
    expect(penalty.ban?.endsAtMs).toBe(againAtMs + lengthMs);
  });

  it("of a key that is not banned changes nothing that counts", ({ expect }) => {
    expect(lift(NO_PENALTY, false, T0)).toEqual(NO_PENALTY);
  });
});
