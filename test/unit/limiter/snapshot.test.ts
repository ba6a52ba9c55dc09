/** What an operator sees of a limiter, by the limiter's state and the key's record. */
import { describe, it } from "vitest";
import { NO_OVERRIDE } from "../../../src/worker/limiter/core/ban.ts";
import { type LimiterState, NEW_LIMITER } from "../../../src/worker/limiter/core/limiter-state.ts";
import { viewOf } from "../../../src/worker/limiter/core/quota.ts";
import { snapshotOf } from "../../../src/worker/limiter/core/snapshot.ts";
import { operatorBan } from "./scenario.ts";
import { KEY_ID, SimulatedLimiter } from "./simulated-limiter.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 86_400 * SECOND;
const LIMITS = { perMinute: 1, perDay: 100 };
const POLICY = { ...NO_OVERRIDE, limits: LIMITS };
/** 10:00:00 UTC. */
const T0 = Date.UTC(2026, 10, 21, 10);
const TODAY = { day: "2026-11-21", admitted: 1, refusedWhileBanned: 0 };

/** A key with that many strikes, the last one at T0 + 1 s. */
function struck(strikes: number): LimiterState {
  const limiter = new SimulatedLimiter();
  for (const atMs of [T0, T0]) limiter.request(LIMITS, atMs);
  for (let i = 0; i < strikes; i++) limiter.request(LIMITS, T0 + SECOND);
  return limiter.state;
}

describe("a snapshot", () => {
  it("of a new limiter is empty", ({ expect }) => {
    expect(snapshotOf(NEW_LIMITER, POLICY, T0)).toEqual({
      quota: viewOf(
        { minute: { startMs: T0, used: 0 }, day: { startMs: Date.UTC(2026, 10, 21), used: 0 } },
        LIMITS,
      ),
      ban: null,
      strikeBan: null,
      endedBans: [],
      strikes: 0,
      lastStrikeBanId: null,
      days: [],
    });
  });

  it("has the quota, the strikes and today's usage", ({ expect }) => {
    expect(snapshotOf(struck(19), POLICY, T0 + SECOND)).toMatchObject({
      quota: { minute: { used: 1, remaining: 0 }, day: { used: 1, remaining: 99 } },
      ban: null,
      strikes: 19,
      days: [{ ...TODAY, refused: 20 }],
    });
  });

  it("has the ban for strikes while it is live, and its id afterwards", ({ expect }) => {
    const id = `ban_${KEY_ID}_${T0 + SECOND}`;
    const ban = {
      id,
      cause: "strikes",
      reason: null,
      strikes: 20,
      startedAtMs: T0 + SECOND,
      endsAtMs: T0 + SECOND + 5 * MINUTE,
    };
    const live = snapshotOf(struck(20), POLICY, T0 + 2 * SECOND);
    expect(live).toMatchObject({ strikes: 0, lastStrikeBanId: id });
    expect(live.ban).toEqual(ban);
    expect(live).toMatchObject({ strikeBan: ban, endedBans: [] });
    const over = { ban: null, strikeBan: null, lastStrikeBanId: id };
    expect(snapshotOf(struck(20), POLICY, ban.endsAtMs)).toMatchObject({ ...over, endedBans: [ban] });
    const lifted = { ...POLICY, liftedBanId: id };
    expect(snapshotOf(struck(20), lifted, T0 + 2 * SECOND)).toMatchObject(over);
  });

  it("has an operator ban beside the ban for strikes", ({ expect }) => {
    const ban = operatorBan(T0, 60 * MINUTE);
    const snapshot = snapshotOf(struck(20), { ...POLICY, operatorBan: ban }, T0 + 2 * SECOND);
    expect(snapshot).toMatchObject({ ban, strikeBan: { cause: "strikes" } });
  });

  it("has the days that are over before today", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    for (const atMs of [T0, T0 + DAY, T0 + 2 * DAY]) limiter.request(LIMITS, atMs);
    const days = (nowMs: number) => snapshotOf(limiter.state, POLICY, nowMs).days.map(({ day }) => day);
    expect(days(T0 + 2 * DAY)).toEqual(["2026-11-21", "2026-11-22", "2026-11-23"]);
    expect(days(T0 + 3 * DAY)).toEqual(["2026-11-21", "2026-11-22", "2026-11-23"]);
    expect(limiter.state.finishedDays).toHaveLength(2);
  });
});
