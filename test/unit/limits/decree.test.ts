import { describe, it } from "vitest";
import { banByHand, CLEAN_CONDUCT, type Conduct, liveBan } from "../../../src/limits/ban.ts";
import { decide, obeyOnce } from "../../../src/limits/decide.ts";
import { type Decree, obey } from "../../../src/limits/decree.ts";
import { NEW_LIMITER } from "../../../src/limits/limiter-state.ts";

const NOW = Date.parse("2030-01-01T12:00:00Z");
const HOUR = 3_600_000;

const ban = (startMs: number) => banByHand("key", HOUR, "testing", startMs);
const banning = (atMs: number): Decree => ({ atMs, ban: ban(atMs), forgive: false });
const lifting = (atMs: number, forgive = false): Decree => ({ atMs, ban: null, forgive });

function bannedForStrikes(startMs: number): Conduct {
  const struck = { ...ban(startMs), cause: "strikes" as const, strikes: 20 };
  return { ...CLEAN_CONDUCT, ban: struck, lastStrikeBan: { lengthMs: HOUR, endedAtMs: struck.endsAtMs } };
}

describe("an operator's decree", () => {
  it("bans a key whose limiter hears of it with the key's record", ({ expect }) => {
    const call = {
      version: 1,
      limits: { perMinute: 60, perDay: 1000 },
      decree: JSON.stringify(banning(NOW)),
    };
    const { verdict, state } = decide(NEW_LIMITER, "key", call, NOW + 1_000);
    expect(verdict).toMatchObject({ kind: "banned", ban: { cause: "operator", reason: "testing" } });
    expect(state.counts.minute.used).toBe(0);
  });

  it("is obeyed once: what came after it stands", ({ expect }) => {
    const banned = obeyOnce(NEW_LIMITER, banning(NOW), NOW);
    const lifted = obeyOnce(banned, lifting(NOW + 1), NOW + 1);
    const again = obeyOnce(lifted, banning(NOW), NOW + 2);
    expect(liveBan(again.conduct, NOW + 2)).toBeNull();
    expect(again).toBe(lifted);
  });

  it("lifts no ban that began after it was issued", ({ expect }) => {
    const conduct = bannedForStrikes(NOW + 5_000);
    expect(obey(conduct, lifting(NOW), NOW + 6_000)).toBe(conduct);
    expect(liveBan(obey(conduct, lifting(NOW + 5_000), NOW + 6_000), NOW + 6_000)).toBeNull();
  });

  it("begins no ban that is over by the time it arrives", ({ expect }) => {
    expect(obey(CLEAN_CONDUCT, banning(NOW), NOW + 2 * HOUR)).toBe(CLEAN_CONDUCT);
  });

  it("keeps the escalation with a lift, and forgets it when it forgives", ({ expect }) => {
    const conduct = bannedForStrikes(NOW);
    expect(obey(conduct, lifting(NOW + 1), NOW + 1).lastStrikeBan).toEqual({
      lengthMs: HOUR,
      endedAtMs: NOW + 1,
    });
    expect(obey(conduct, lifting(NOW + 1, true), NOW + 1).lastStrikeBan).toBeNull();
    expect(obey({ ...conduct, ban: null }, lifting(NOW + 1, true), NOW + 1).lastStrikeBan).toBeNull();
  });
});
