/** The ban rule by example: what is a strike, and how long bans are. */
import { describe, it } from "vitest";
import { type Counters, decide, NOTHING_COUNTED, type Policy } from "../../core/decide.ts";
import { perDay } from "../../core/windows.ts";
import { counted, KEY } from "./platform.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
const DAY_MS = 86_400_000;
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
});
