import { describe, it } from "vitest";
import { banByHand, liveBan, NO_PENALTY, type PenaltyState } from "../../../src/worker/limiter/core/ban.ts";
import { applyBanOverride, type BanOverride } from "../../../src/worker/limiter/core/ban-override.ts";
import { applyBanOverrideOnce, decide } from "../../../src/worker/limiter/core/decide.ts";
import { NEW_LIMITER } from "../../../src/worker/limiter/core/limiter-state.ts";

const NOW = Date.parse("2030-01-01T12:00:00Z");
const HOUR = 3_600_000;

const ban = (startMs: number) => banByHand("key", HOUR, "testing", startMs);
const banning = (atMs: number): BanOverride => ({ atMs, ban: ban(atMs), forgive: false });
const lifting = (atMs: number, forgive = false): BanOverride => ({ atMs, ban: null, forgive });

function bannedForStrikes(startMs: number): PenaltyState {
  const struck = { ...ban(startMs), cause: "strikes" as const, strikes: 20 };
  return { ...NO_PENALTY, ban: struck, lastStrikeBan: { lengthMs: HOUR, endedAtMs: struck.endsAtMs } };
}

describe("an operator's override", () => {
  it("bans a key whose limiter hears of it with the key's record", ({ expect }) => {
    const call = {
      version: 1,
      limits: { perMinute: 60, perDay: 1000 },
      banOverride: JSON.stringify(banning(NOW)),
    };
    const { verdict, state } = decide(NEW_LIMITER, "key", call, NOW + 1_000);
    expect(verdict).toMatchObject({ kind: "banned", ban: { cause: "operator", reason: "testing" } });
    expect(state.counts.minute.used).toBe(0);
  });

  it("is obeyed once: what came after it stands", ({ expect }) => {
    const banned = applyBanOverrideOnce(NEW_LIMITER, banning(NOW), NOW);
    const lifted = applyBanOverrideOnce(banned, lifting(NOW + 1), NOW + 1);
    const again = applyBanOverrideOnce(lifted, banning(NOW), NOW + 2);
    expect(liveBan(again.penalty, NOW + 2)).toBeNull();
    expect(again).toBe(lifted);
  });

  it("lifts no ban that began after it was issued", ({ expect }) => {
    const penalty = bannedForStrikes(NOW + 5_000);
    expect(applyBanOverride(penalty, lifting(NOW), NOW + 6_000)).toBe(penalty);
    expect(liveBan(applyBanOverride(penalty, lifting(NOW + 5_000), NOW + 6_000), NOW + 6_000)).toBeNull();
  });

  it("begins no ban that is over by the time it arrives", ({ expect }) => {
    expect(applyBanOverride(NO_PENALTY, banning(NOW), NOW + 2 * HOUR)).toBe(NO_PENALTY);
  });

  it("keeps the escalation with a lift, and forgets it when it forgives", ({ expect }) => {
    const penalty = bannedForStrikes(NOW);
    expect(applyBanOverride(penalty, lifting(NOW + 1), NOW + 1).lastStrikeBan).toEqual({
      lengthMs: HOUR,
      endedAtMs: NOW + 1,
    });
    expect(applyBanOverride(penalty, lifting(NOW + 1, true), NOW + 1).lastStrikeBan).toBeNull();
    expect(
      applyBanOverride({ ...penalty, ban: null }, lifting(NOW + 1, true), NOW + 1).lastStrikeBan,
    ).toBeNull();
  });
});
