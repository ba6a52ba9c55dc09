/** The ban rule by example: what is a strike, and how long bans are. */
import { describe, it } from "vitest";
import { type BanRule, checkBans } from "../../core/bans.ts";
import { type Counters, decide, NOTHING_COUNTED, type Policy } from "../../core/decide.ts";
import { perDay, perMinute } from "../../core/windows.ts";
import { counted, KEY } from "./platform.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
const DAY_MS = 86_400_000;
const MINUTELY: Policy = { limits: [perMinute(1)], bans: {} };
const DAILY: Policy = { limits: [perDay(1)], bans: {} };

/** A key that asks at the times that the test names. */
function keyWith(policy: Policy) {
  let counters: Counters = NOTHING_COUNTED;
  const ask = (atMs: number, present = policy) => {
    const decision = decide(counters, present, KEY, {}, atMs);
    counters = decision.counters;
    return counted(decision.verdict);
  };
  /** Asks every half second of a minute, until it is banned. Undefined without a ban. */
  const pollUntilBanned = (fromMs: number, present = policy) => {
    for (let atMs = fromMs; atMs < fromMs + 60_000; atMs += 500) {
      const verdict = ask(atMs, present);
      if (verdict.kind === "banned")
        return { ...verdict.ban, seconds: Math.floor((verdict.ban.endsAtMs - atMs) / 1000) };
    }
    return undefined;
  };
  return { ask, pollUntilBanned };
}

/** The strikes that each refusal shows, or the kind of another verdict. The first refusal is at noon. */
function shownAfter(policy: Policy, ...afterMs: readonly number[]) {
  const { ask } = keyWith(policy);
  ask(NOON);
  ask(NOON);
  return afterMs.map((ms) => {
    const verdict = ask(NOON + ms);
    return verdict.kind === "limited" ? verdict.strikes?.count : verdict.kind;
  });
}

describe("a strike", () => {
  it.for<[promise: string, policy: Policy, afterMs: number[], shown: unknown[]]>([
    ["does not come in the first two seconds", MINUTELY, [0, 1_999, 2_000], [0, 0, 1]],
    ["can come until a second before the window's end", MINUTELY, [58_000, 59_000], [1, 2]],
    ["does not come in the window's last second", MINUTELY, [58_000, 59_001], [1, 1]],
    ["is a second, however many requests it refuses", MINUTELY, [2_000, 2_000, 2_999, 3_000], [1, 1, 1, 2]],
    ["does not come while the clock runs backwards", MINUTELY, [5_000, 3_000, 5_999, 6_000], [1, 1, 1, 2]],
    ["is forgotten after 600 seconds", DAILY, [2_000, 3_000, 601_999, 602_000], [1, 2, 3, 3]],
    ["is forgotten at the window's end", MINUTELY, [2_000, 60_000, 60_001, 62_001], [1, "admitted", 0, 1]],
    ["does not come without a rule", { limits: [perDay(1)] }, [2_000, 3_000], [undefined, undefined]],
  ])("%s", ([, policy, afterMs, shown], { expect }) => {
    expect(shownAfter(policy, ...afterMs)).toEqual(shown);
  });

  it("is one of 20 that ban, and the 20th request is answered as banned", ({ expect }) => {
    const shown = shownAfter(MINUTELY, ...Array.from({ length: 20 }, (_, i) => 2_000 + i * 1_000));
    expect(shown).toEqual([...Array.from({ length: 19 }, (_, i) => i + 1), "banned"]);
    const { ask } = keyWith(MINUTELY);
    ask(NOON);
    expect(ask(NOON)).toMatchObject({ strikes: { count: 0, toBan: 20 } });
  });
});

describe("a ban", () => {
  it("doubles while the next begins within 24 hours, up to 24 hours, and then starts again", ({ expect }) => {
    const { pollUntilBanned } = keyWith(DAILY);
    const seconds: unknown[] = [];
    let nextMs = NOON;
    for (let i = 0; i < 11; i++) {
      const ban = pollUntilBanned(nextMs);
      seconds.push(ban?.seconds);
      nextMs = (ban?.endsAtMs ?? 0) + 60_000;
    }
    expect(seconds).toEqual([300, 600, 1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 76_800, 86_400, 86_400]);
    expect(pollUntilBanned(nextMs + 2 * DAY_MS)?.seconds).toBe(300);
  });

  it("is never shorter than the first one of its rule", ({ expect }) => {
    const { pollUntilBanned } = keyWith(DAILY);
    const endsAtMs = pollUntilBanned(NOON)?.endsAtMs ?? 0;
    const stricter = { ...DAILY, bans: { firstSeconds: 1_000 } };
    expect(pollUntilBanned(endsAtMs + 60_000, stricter)?.seconds).toBe(1_000);
  });

  it("that is pardoned ends, and the next one is not doubled", ({ expect }) => {
    const { ask, pollUntilBanned } = keyWith(DAILY);
    const pardoning = { ...DAILY, pardonedBan: pollUntilBanned(NOON)?.id ?? undefined };
    expect(ask(NOON + 30_000, pardoning).kind).toBe("limited");
    expect(pollUntilBanned(NOON + 31_000, pardoning)?.seconds).toBe(300);
  });

  it("ends at its millisecond", ({ expect }) => {
    const { ask, pollUntilBanned } = keyWith(MINUTELY);
    const endsAtMs = pollUntilBanned(NOON)?.endsAtMs ?? 0;
    expect([ask(endsAtMs - 1).kind, ask(endsAtMs).kind]).toEqual(["banned", "admitted"]);
  });

  it("leaves no strikes behind", ({ expect }) => {
    const { ask, pollUntilBanned } = keyWith(DAILY);
    const endsAtMs = pollUntilBanned(NOON)?.endsAtMs ?? 0;
    expect(ask(endsAtMs)).toMatchObject({ kind: "limited", strikes: { count: 0 } });
  });

  it("that was pardoned does not come back when the policy names it no more", ({ expect }) => {
    const { ask, pollUntilBanned } = keyWith(MINUTELY);
    const pardoning = { ...MINUTELY, pardonedBan: pollUntilBanned(NOON)?.id ?? undefined };
    expect([ask(NOON + 60_000, pardoning).kind, ask(NOON + 120_000).kind]).toEqual(["admitted", "admitted"]);
  });
});

describe("a rule", () => {
  it.for<[rule: BanRule, problem: string]>([
    [{ strikes: 0 }, "strikes must be a whole number from 1 to 600"],
    [{ strikes: 1.5 }, "strikes must be a whole number from 1 to 600"],
    [{ strikes: 601 }, "strikes must be a whole number from 1 to 600"],
    [{ firstSeconds: 0.5 }, "firstSeconds must be a whole number from 1 to 86400"],
    [{ firstSeconds: 86_401 }, "firstSeconds must be a whole number from 1 to 86400"],
  ])("of %j is refused", ([rule, problem], { expect }) => {
    expect(() => checkBans(rule)).toThrow(problem);
  });
});
