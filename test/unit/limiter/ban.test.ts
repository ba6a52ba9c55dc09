/** The ban rule: every number of it, by the functions of ban.ts and by decisions. */
import fc from "fast-check";
import { describe, it } from "vitest";
import {
  applyOverride,
  countStrikes,
  liveBan,
  liveStrikeBan,
  MAX_OPERATOR_BAN_SECONDS,
  NO_OVERRIDE,
  NO_PENALTY,
  type PenaltyState,
  recordRefusal,
  strikesPerBan,
} from "../../../src/worker/limiter/core/ban.ts";
import { rateLimitHeaders } from "../../../src/worker/limiter/core/rate-limit-headers.ts";
import { limits, startMs } from "./arbitraries.ts";
import { operatorBan } from "./scenario.ts";
import { KEY_ID, SimulatedLimiter } from "./simulated-limiter.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const FREE = { perMinute: 60, perDay: 1000 };
/** 10:00:00 UTC. */
const T0 = Date.UTC(2026, 10, 21, 10);

/** Uses up the minute of `nowMs`, then polls until the key is banned. Returns the time of the ban. */
function pollUntilBanned(limiter: SimulatedLimiter, nowMs: number): number {
  for (let atMs = nowMs; atMs < nowMs + MINUTE; atMs += 100) {
    if (limiter.request({ ...FREE, perDay: 100_000 }, atMs).kind === "banned") return atMs;
  }
  throw new Error("no ban within a minute of polling");
}

function refuse(penalty: PenaltyState, windowEndsAtMs: number, atMs: number, sentAtMs = atMs): PenaltyState {
  const refusal = { windowEndsAtMs, sentAtMs, isRepeat: false, nowMs: atMs };
  return recordRefusal(penalty, KEY_ID, FREE, refusal);
}

/** The penalty state after refusals by one window at those moments. */
function refusedAt(...momentsMs: number[]): PenaltyState {
  return momentsMs.reduce((penalty, atMs) => refuse(penalty, T0 + 24 * HOUR, atMs), NO_PENALTY);
}

const times = (count: number, from: number, step: number) =>
  Array.from({ length: count }, (_, i) => from + i * step);

describe("a strike", () => {
  it.for([
    { refused: "once", atMs: [0], strikes: 0 },
    { refused: "again 999 ms later", atMs: [0, 999], strikes: 0 },
    { refused: "again 1,000 ms later", atMs: [0, 1000], strikes: 1 },
    { refused: "1,000 times within the first second", atMs: times(1000, 0, 0.999), strikes: 0 },
    { refused: "19 times after the first second", atMs: [0, ...times(19, 1000, 0)], strikes: 19 },
    { refused: "with a clock that ran backwards", atMs: [5000, 0, 100], strikes: 0 },
  ])("a key refused $refused has $strikes strikes", ({ atMs, strikes }, { expect }) => {
    const penalty = refusedAt(...atMs.map((ms) => T0 + ms));
    expect(countStrikes(penalty, T0 + 1_000)).toBe(strikes);
    expect(penalty.lastBan).toBeNull();
  });

  it("each window has its own first second", ({ expect }) => {
    const first = refuse(NO_PENALTY, T0 + MINUTE, T0 + 59_500);
    const second = refuse(first, T0 + 2 * MINUTE, T0 + MINUTE + 500);
    const nowMs = T0 + 2 * MINUTE - 1;
    expect(countStrikes(refuse(second, T0 + 2 * MINUTE, T0 + MINUTE + 1_499), nowMs)).toBe(0);
    expect(countStrikes(refuse(second, T0 + 2 * MINUTE, T0 + MINUTE + 1_500), nowMs)).toBe(1);
  });

  it("belongs to its window: the next exhausted window begins without any", ({ expect }) => {
    const withStrikes = refusedAt(T0, ...times(19, T0 + SECOND, 10));
    expect(countStrikes(withStrikes, T0 + 2 * SECOND)).toBe(19);
    const next = refuse(withStrikes, T0 + 25 * HOUR, T0 + 3 * SECOND);
    expect(countStrikes(next, T0 + 3 * SECOND)).toBe(0);
  });

  it("is not counted if the request was sent within a second of the first refusal, however long it queued", ({
    expect,
  }) => {
    const end = T0 + 24 * HOUR;
    let penalty = refuse(NO_PENALTY, end, T0);
    for (const queuedMs of times(1_000, 0, 30)) penalty = refuse(penalty, end, T0 + queuedMs, T0 + 999);
    expect(countStrikes(penalty, T0 + 30 * SECOND)).toBe(0);
    expect(countStrikes(refuse(penalty, end, T0 + 3 * SECOND, T0 + SECOND), T0 + 3 * SECOND)).toBe(1);
  });

  it("is none within the first second, although the Worker's clock is ahead of the object's", ({
    expect,
  }) => {
    const end = T0 + 24 * HOUR;
    let penalty = refuse(NO_PENALTY, end, T0, T0 + 2 * SECOND);
    for (const afterMs of times(100, 0, 9)) {
      penalty = refuse(penalty, end, T0 + afterMs, T0 + afterMs + 2 * SECOND);
    }
    expect(countStrikes(penalty, T0 + SECOND)).toBe(0);
    expect(penalty.lastBan).toBeNull();
  });

  it("is none where the Worker had given up waiting, so that its client has read a 503 and no 429", ({
    expect,
  }) => {
    const end = T0 + 24 * HOUR;
    let penalty = refuse(NO_PENALTY, end, T0);
    // Ten clients that each wait for the 5 seconds of the 503, while the object takes 2.5 seconds to answer.
    for (const sentAtMs of times(120, T0 + SECOND, 500)) {
      penalty = refuse(penalty, end, sentAtMs + 2_500, sentAtMs);
    }
    expect(countStrikes(penalty, T0 + MINUTE)).toBe(0);
    expect(penalty.lastBan).toBeNull();
  });

  it("is none if the Worker asks again because an answer was lost", ({ expect }) => {
    const refused = refusedAt(T0, T0 + SECOND);
    const windowEndsAtMs = T0 + 24 * HOUR;
    const again = { windowEndsAtMs, sentAtMs: T0 + SECOND, isRepeat: true, nowMs: T0 + SECOND };
    expect(recordRefusal(refused, KEY_ID, FREE, again)).toBe(refused);
  });

  it("counts in the current minute and in the next nine", ({ expect }) => {
    const penalty = refusedAt(T0, T0 + SECOND);
    expect(countStrikes(penalty, T0 + 10 * MINUTE - 1)).toBe(1);
    expect(countStrikes(penalty, T0 + 10 * MINUTE)).toBe(0);
    const later = refuse(penalty, T0 + 24 * HOUR, T0 + 10 * MINUTE);
    expect(later.refusedWindow?.strikes).toEqual([{ minuteStartMs: T0 + 10 * MINUTE, count: 1 }]);
  });

  it("is stored in bounded space, however many there are", ({ expect }) => {
    const enterprise = { perMinute: 30_000, perDay: 1 };
    let penalty = NO_PENALTY;
    for (const atMs of times(9_000, T0, 60)) {
      const refusal = { windowEndsAtMs: T0 + 24 * HOUR, sentAtMs: atMs, isRepeat: false, nowMs: atMs };
      penalty = recordRefusal(penalty, KEY_ID, enterprise, refusal);
    }
    expect(countStrikes(penalty, T0 + 9 * MINUTE)).toBeGreaterThan(8_000);
    expect(JSON.stringify(penalty).length).toBeLessThan(1_000);
  });
});

describe("what makes a ban", () => {
  it.for([
    { perMinute: 1, strikes: 20 },
    { perMinute: 60, strikes: 20 },
    { perMinute: 62, strikes: 20 },
    { perMinute: 63, strikes: 21 },
    { perMinute: 300, strikes: 100 },
    { perMinute: 1_000, strikes: 333 },
  ])("of $perMinute a minute: $strikes strikes", ({ perMinute, strikes }, { expect }) => {
    expect(strikesPerBan({ perMinute, perDay: 1 })).toBe(strikes);
    const limiter = new SimulatedLimiter();
    const used = { perMinute, perDay: 1 };
    limiter.request(used, T0);
    limiter.request(used, T0);
    const kinds = times(strikes, T0 + SECOND, 1).map((atMs) => limiter.request(used, atMs).kind);
    expect(kinds).toEqual([...Array.from({ length: strikes - 1 }, () => "limited"), "banned"]);
    expect(limiter.state.penalty.lastBan).toMatchObject({ cause: "strikes", strikes });
  });

  it("200 requests in flight at once on a Free key cause no ban", ({ expect }) => {
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

  it.for([100, 1_000, 15_000, 28_000])(
    "polling every %i ms past a used-up day, the 20th strike bans",
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

  it("polling every 31 s past a used-up day never has 20 strikes in ten minutes", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    const polls = times(1000, T0, 31_580).map((atMs) => limiter.request({ perMinute: 10, perDay: 1 }, atMs));
    expect([...new Set(polls.map(({ kind }) => kind))]).toEqual(["admitted", "limited"]);
  });
});

describe("a ban", () => {
  it("ends at the second in the headers: refused one millisecond before it, admitted at it", ({ expect }) => {
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

  it("is not changed by requests during it: no strikes, the same end, nothing counted", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    const bannedAtMs = pollUntilBanned(limiter, T0);
    const { penalty, counts } = limiter.state;
    for (const atMs of times(5_000, bannedAtMs + 1, 50)) limiter.request(FREE, atMs);
    expect(limiter.state.penalty).toEqual(penalty);
    expect(limiter.state.counts.day.used).toBe(counts.day.used);
    expect(limiter.state.refusedWhileBanned).toBe(5_000);
  });

  it("survives a change of UTC day, of limits and a crash", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    const bannedAtMs = pollUntilBanned(limiter, Date.UTC(2026, 10, 21, 23, 57));
    limiter.request(FREE, bannedAtMs);
    limiter.crash();
    const nextDay = Date.UTC(2026, 10, 22, 0, 0, 1);
    const business = { perMinute: 1000, perDay: 100_000 };
    const verdict = limiter.request(business, nextDay);
    expect(verdict.kind).toBe("banned");
    expect(rateLimitHeaders(verdict)["X-RateLimit-Limit"]).toBe("1000");
    expect(limiter.wouldAnswer(business, bannedAtMs + 5 * MINUTE + SECOND)).toBe("admitted");
  });

  it("does not change the windows: an exhausted day still refuses at its end, and Retry-After covers that", ({
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
});

describe("escalation", () => {
  it("doubles from 5 minutes to 24 hours, for each ban within 24 hours of the end of the last one", ({
    expect,
  }) => {
    const limiter = new SimulatedLimiter();
    let nowMs = T0;
    const minutes = times(11, 0, 0).map(() => {
      const bannedAtMs = pollUntilBanned(limiter, nowMs);
      const endsAtMs = limiter.state.penalty.lastBan?.endsAtMs ?? 0;
      nowMs = endsAtMs + HOUR;
      return Math.floor((endsAtMs - bannedAtMs) / MINUTE);
    });
    expect(minutes).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440]);
    expect(limiter.state.penalty.lastBan?.lengthMs).toBe(24 * HOUR);
  });

  it.for([
    { afterMs: 24 * HOUR - 1, lengthMs: 10 * MINUTE },
    { afterMs: 24 * HOUR, lengthMs: 5 * MINUTE },
  ])("a ban $afterMs ms after the last one's end lasts $lengthMs ms", ({ afterMs, lengthMs }, { expect }) => {
    const first = refusedAt(T0, ...times(20, T0 + SECOND, 0));
    const bannedAgainAtMs = (first.lastBan?.endsAtMs ?? 0) + afterMs;
    const again = banByStrikes(first, bannedAgainAtMs);
    expect(again.lastBan?.endsAtMs).toBe(Math.ceil((bannedAgainAtMs + lengthMs) / SECOND) * SECOND);
  });

  it("does not count operator bans", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    const override = { operatorBan: operatorBan(T0, 3 * HOUR) };
    expect(limiter.request(FREE, T0 + HOUR, override).kind).toBe("banned");
    const bannedAtMs = pollUntilBanned(limiter, T0 + 4 * HOUR);
    const lengthMs = (limiter.state.penalty.lastBan?.endsAtMs ?? 0) - bannedAtMs;
    expect(Math.floor(lengthMs / MINUTE)).toBe(5);
  });
});

/** 20 more refusals, all at that time. */
function banByStrikes(penalty: PenaltyState, atMs: number): PenaltyState {
  const first = refuse(penalty, atMs + HOUR, atMs - SECOND);
  return times(20, atMs, 0).reduce((state, nowMs) => refuse(state, atMs + HOUR, nowMs), first);
}

describe("an override in the key's record", () => {
  const banned = refusedAt(T0, ...times(20, T0 + SECOND, 0));
  const bannedId = banned.lastBan?.id ?? "";
  const liftedAtMs = T0 + MINUTE;
  const lift = { ...NO_OVERRIDE, liftedBanId: bannedId };
  const forgiven = { ...lift, forgivenBanId: bannedId };

  it("has an operator ban of at most 366 days", ({ expect }) => {
    expect(MAX_OPERATOR_BAN_SECONDS).toBe((366 * 24 * HOUR) / SECOND);
  });

  it("with an operator ban refuses until the ban ends, and stores nothing", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    const ban = operatorBan(T0, 90 * SECOND);
    const verdict = limiter.request(FREE, T0, { operatorBan: ban });
    expect(verdict).toMatchObject({ kind: "banned", ban });
    expect(rateLimitHeaders(verdict)).toMatchObject({
      "X-RateLimit-Reset": String(T0 / 1000 + 90),
      "Retry-After": "90",
    });
    expect(limiter.state.penalty).toBe(NO_PENALTY);
    expect(limiter.wouldAnswer(FREE, T0 + 90 * SECOND - 1, { operatorBan: ban })).toBe("banned");
    expect(limiter.wouldAnswer(FREE, T0 + 90 * SECOND, { operatorBan: ban })).toBe("admitted");
    expect(limiter.wouldAnswer(FREE, T0 + 1, { version: 2 })).toBe("admitted");
  });

  it("with an operator ban, during a ban for strikes: the one that ends last counts", ({ expect }) => {
    const strikes = liveStrikeBan(banned, liftedAtMs);
    const short = operatorBan(T0, 2 * MINUTE);
    const long = operatorBan(T0, HOUR);
    expect(liveBan(banned, { ...NO_OVERRIDE, operatorBan: short }, liftedAtMs)).toEqual(strikes);
    expect(liveBan(banned, { ...NO_OVERRIDE, operatorBan: long }, liftedAtMs)).toEqual(long);
    expect(liveBan(banned, { ...NO_OVERRIDE, operatorBan: short }, T0 + 10 * MINUTE)).toBeNull();
  });

  it("ends the ban that it names, and clears the strikes", ({ expect }) => {
    const lifted = applyOverride(banned, lift, liftedAtMs);
    expect(liveStrikeBan(banned, liftedAtMs)).not.toBeNull();
    expect(liveStrikeBan(lifted, liftedAtMs)).toBeNull();
    expect(lifted.refusedWindow).toBeNull();
    expect(applyOverride(lifted, lift, liftedAtMs + 1)).toBe(lifted);
    const endsAtMs = banned.lastBan?.endsAtMs ?? 0;
    expect(applyOverride(banned, lift, endsAtMs)).toBe(banned);
  });

  it("lifts no other ban, whenever it began", ({ expect }) => {
    expect(applyOverride(banned, { ...NO_OVERRIDE, liftedBanId: "ban_of_before" }, liftedAtMs)).toBe(banned);
    const again = banByStrikes(applyOverride(banned, lift, liftedAtMs), liftedAtMs + HOUR);
    expect(applyOverride(again, lift, liftedAtMs + HOUR + 1)).toBe(again);
    expect(liveStrikeBan(again, liftedAtMs + HOUR + 1)).not.toBeNull();
  });

  it.for([
    { what: "lifts", override: lift, lengthMs: 10 * MINUTE },
    { what: "lifts and forgives", override: forgiven, lengthMs: 5 * MINUTE },
  ])("that $what makes the next ban last $lengthMs ms", ({ override, lengthMs }, { expect }) => {
    const againAtMs = liftedAtMs + HOUR;
    const again = banByStrikes(applyOverride(banned, override, liftedAtMs), againAtMs);
    expect(again.lastBan?.endsAtMs).toBe(againAtMs + lengthMs);
  });

  it("forgives a ban that is over, and does not change a live one that it does not lift", ({ expect }) => {
    const forgives = { ...NO_OVERRIDE, forgivenBanId: bannedId };
    const endsAtMs = banned.lastBan?.endsAtMs ?? 0;
    expect(applyOverride(banned, forgives, endsAtMs - 1)).toBe(banned);
    const refusedSince = refuse(banned, T0 + 24 * HOUR, endsAtMs);
    expect(applyOverride(refusedSince, forgives, endsAtMs)).toEqual({ ...refusedSince, lastBan: null });
    expect(applyOverride(banned, forgives, T0 + HOUR).lastBan).toBeNull();
  });

  it("counts 24 hours of escalation from the lift", ({ expect }) => {
    const lifted = applyOverride(banned, lift, liftedAtMs);
    const lengthOf = (state: PenaltyState) => state.lastBan?.lengthMs;
    expect(lengthOf(banByStrikes(lifted, liftedAtMs + 24 * HOUR - 1))).toBe(10 * MINUTE);
    expect(lengthOf(banByStrikes(lifted, liftedAtMs + 24 * HOUR))).toBe(5 * MINUTE);
  });
});
