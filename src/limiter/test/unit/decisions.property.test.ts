/** The real object decides as the naive model does, whatever the policy, the arrivals and the clock are. */

import fc from "fast-check";
import { afterEach, beforeEach, describe, type ExpectStatic, it, vi } from "vitest";
import { runs } from "../../../../test/support/deep.ts";
import { headersOf, type LimiterCall, type Policy, RateLimiter } from "../../index.ts";
import { NaiveLimiter } from "./naive-limiter.ts";
import { type Counted, counted, Platform } from "./platform.ts";
import {
  bans,
  block,
  change,
  type Event,
  earlier,
  eventsOf,
  just,
  later,
  limits,
  moveClock,
  NOON,
  requests,
  settledRequests,
  sizesOf,
  variation,
  varied,
  withBlock,
} from "./scenario.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The policy is the test's. */
class PolicyLimiter extends RateLimiter {
  static policy: Policy;
  override async loadPolicy() {
    return PolicyLimiter.policy;
  }
}

async function requestAll(object: RateLimiter, calls: readonly LimiterCall[]): Promise<Counted[]> {
  await object.forget();
  return (await object.admitAll(calls)).map(counted);
}

function checkHeaders(expect: ExpectStatic, verdict: Counted): void {
  const headers = headersOf(verdict);
  const reset = Number(headers["X-RateLimit-Reset"]) * 1000;
  expect(Number(headers["X-RateLimit-Remaining"])).toBeGreaterThanOrEqual(0);
  expect(reset).toBeGreaterThan(verdict.nowMs);
  if (verdict.kind === "admitted" || verdict.kind === "too_costly")
    expect(headers).not.toHaveProperty("Retry-After");
  else
    expect(Number(headers["Retry-After"])).toBe(
      Math.min(2_147_483, Math.ceil((reset - verdict.nowMs) / 1000)),
    );
}

describe("any history of requests", () => {
  const events = eventsOf(
    [8, requests(70)],
    [2, settledRequests(20)],
    [3, later],
    [1, earlier],
    [1, change(limits)],
    [2, variation],
    [1, block],
    [1, just("pardon")],
    [1, just("idle")],
  );

  it("is decided as by the naive model, with true headers", async ({ expect }) => {
    const property = fc.asyncProperty(
      limits,
      bans,
      events,
      fc.nat(86_400_000),
      async (first, rule, all, ofDay) => {
        vi.setSystemTime(NOON + ofDay);
        const platform = new Platform(PolicyLimiter);
        const naive = new NaiveLimiter();
        let policy: Policy = { limits: first, bans: rule };
        for (const event of all as Event[]) {
          PolicyLimiter.policy = policy;
          if (event.do === "clock") moveClock(event.byMs);
          if (event.do === "limits") policy = { ...policy, limits: event.limits };
          if (event.do === "vary") policy = { ...policy, limits: varied(first, event) };
          if (event.do === "block") policy = withBlock(policy, event.lengthMs);
          if (event.do === "pardon") policy = { ...policy, pardonedBan: naive.ban?.id };
          if (event.do === "idle") {
            // After the idle flush an eviction loses nothing.
            await vi.advanceTimersByTimeAsync(2_100);
            platform.crash();
          }
          if (event.do !== "requests") continue;
          const settled: [settleId: string, cost: number][] = [];
          const { cost } = event;
          const sharing = sizesOf(event).map((size, i) =>
            Array.from({ length: size }, (_, j) => ({
              cost,
              settleId: event.settled === null ? undefined : `${Date.now()} ${i} ${j}`,
            })),
          );
          for (const calls of sharing) {
            const now = Date.now();
            const verdicts = await requestAll(platform.object, calls);
            for (const [i, call] of calls.entries()) {
              const { settleId } = call;
              const verdict = counted(verdicts[i]);
              const kind = naive.request(policy, { ...call, now });
              if (settleId !== undefined) settled.push([settleId, event.settled ?? 0]);
              expect(verdict.kind).toBe(kind);
              if (verdict.kind === "limited")
                expect(verdict.strikes?.count).toBe(policy.bans && naive.strikes(now));
              for (const limit of policy.limits) {
                const { used, remaining, endsAtMs } =
                  verdict.quota.find(({ name }) => name === limit.name) ?? {};
                expect([limit.name, used]).toEqual([limit.name, naive.used(limit, now)]);
                expect(remaining).toBe(Math.max(0, limit.requests - (used ?? 0)));
                expect(endsAtMs).toBeGreaterThan(now);
              }
              if (verdict.kind === "banned")
                expect(verdict.ban.endsAtMs).toBe(
                  Math.max(
                    naive.ban && naive.ban.end > now ? naive.ban.end : 0,
                    policy.blocked && policy.blocked.endsAtMs > now ? policy.blocked.endsAtMs : 0,
                  ),
                );
              checkHeaders(expect, verdict);
            }
            moveClock(event.gapMs);
          }
          // The second time, settling changes nothing.
          for (const [settleId, cost] of settled) {
            naive.settle(settleId, cost);
            await platform.object.settle(settleId, cost);
            await platform.object.settle(settleId, cost + 1);
          }
        }
      },
    );
    await fc.assert(property, { numRuns: runs(60) });
  });
});
