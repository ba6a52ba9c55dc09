/** The rate-limit headers: tables of verdicts, and two parsers from other projects. */
import fc from "fast-check";
import { parseRateLimit } from "ratelimit-header-parser";
import { parseList } from "structured-headers";
import { describe, it } from "vitest";
import type { Ban } from "../../../src/worker/limiter/core/ban.ts";
import type { Verdict } from "../../../src/worker/limiter/core/decide.ts";
import { exhaustedWindow, type QuotaView, viewOf } from "../../../src/worker/limiter/core/quota.ts";
import {
  type Decided,
  headersWithoutQuota,
  rateLimitHeaders,
} from "../../../src/worker/limiter/core/rate-limit-headers.ts";
import { limits, startMs } from "./arbitraries.ts";
import { SimulatedLimiter } from "./simulated-limiter.ts";

/** 10:00:20.500 UTC. */
const NOW = Date.UTC(2026, 10, 21, 10, 0, 20, 500);
const MINUTE_START = Date.UTC(2026, 10, 21, 10);
const MINUTE_END = MINUTE_START / 1000 + 60;
const DAY_START = Date.UTC(2026, 10, 21);
const DAY_END = DAY_START / 1000 + 86_400;

/** A Free key's quota after that many requests. */
function free(usedInMinute: number, usedInDay: number): QuotaView {
  const counts = {
    minute: { startMs: MINUTE_START, used: usedInMinute },
    day: { startMs: DAY_START, used: usedInDay },
  };
  return viewOf(counts, { perMinute: 60, perDay: 1000 });
}

function limited(quota: QuotaView, nowMs = NOW): Verdict & { kind: "limited" } {
  const exhausted = exhaustedWindow(quota);
  if (!exhausted) throw new Error("nothing is used up");
  return { kind: "limited", exhausted, quota, nowMs };
}

function banned(quota: QuotaView, endsAtMs: number): Verdict & { kind: "banned" } {
  const ban: Ban = { id: "b", cause: "strikes", reason: null, strikes: 20, startedAtMs: NOW, endsAtMs };
  return { kind: "banned", ban, quota, nowMs: NOW };
}

describe("the triple", () => {
  it.for<{
    of: string;
    verdict: Decided;
    limit: number;
    remaining: number;
    reset: number;
    retryAfter?: number;
  }>([
    {
      of: "the first request",
      verdict: { kind: "admitted", quota: free(1, 1), nowMs: NOW },
      limit: 60,
      remaining: 59,
      reset: MINUTE_END,
    },
    {
      of: "a request with less left of the day",
      verdict: { kind: "admitted", quota: free(1, 990), nowMs: NOW },
      limit: 1000,
      remaining: 10,
      reset: DAY_END,
    },
    {
      of: "a request with as much left of both",
      verdict: { kind: "admitted", quota: free(50, 990), nowMs: NOW },
      limit: 1000,
      remaining: 10,
      reset: DAY_END,
    },
    {
      of: "a refusal by the minute",
      verdict: limited(free(60, 60)),
      limit: 60,
      remaining: 0,
      reset: MINUTE_END,
      retryAfter: 40,
    },
    {
      of: "a refusal by the day",
      verdict: limited(free(3, 1000)),
      limit: 1000,
      remaining: 0,
      reset: DAY_END,
      retryAfter: 50_380,
    },
    {
      of: "a refusal by both",
      verdict: limited(free(60, 1000)),
      limit: 1000,
      remaining: 0,
      reset: DAY_END,
      retryAfter: 50_380,
    },
    {
      of: "a refusal after the limit was lowered",
      verdict: limited(free(75, 75)),
      limit: 60,
      remaining: 0,
      reset: MINUTE_END,
      retryAfter: 40,
    },
    {
      of: "a refusal in the minute's last millisecond",
      verdict: limited(free(60, 60), MINUTE_END * 1000 - 1),
      limit: 60,
      remaining: 0,
      reset: MINUTE_END,
      retryAfter: 1,
    },
    {
      of: "a refusal whose minute has just ended",
      verdict: limited(free(60, 60), MINUTE_END * 1000),
      limit: 60,
      remaining: 0,
      reset: MINUTE_END,
      retryAfter: 1,
    },
    {
      of: "a ban",
      verdict: banned(free(60, 60), NOW + 299_500),
      limit: 60,
      remaining: 0,
      reset: NOW / 1000 + 299.5,
      retryAfter: 300,
    },
    {
      of: "a ban that ends before the minute it used up",
      verdict: banned(free(60, 60), NOW + 9_500),
      limit: 60,
      remaining: 0,
      reset: MINUTE_END,
      retryAfter: 40,
    },
    {
      of: "a ban that ends before the day it used up",
      verdict: banned(free(1, 1000), NOW + 299_500),
      limit: 1000,
      remaining: 0,
      reset: DAY_END,
      retryAfter: 50_380,
    },
    {
      of: "a ban that ends with the day it used up",
      verdict: banned(free(1, 1000), DAY_END * 1000),
      limit: 60,
      remaining: 0,
      reset: DAY_END,
      retryAfter: 50_380,
    },
  ])("of $of shows $limit, $remaining and $reset", (row, { expect }) => {
    const headers = rateLimitHeaders(row.verdict);
    expect(headers["X-RateLimit-Limit"]).toBe(String(row.limit));
    expect(headers["X-RateLimit-Remaining"]).toBe(String(row.remaining));
    expect(headers["X-RateLimit-Reset"]).toBe(String(row.reset));
    expect(headers["Retry-After"]).toBe(row.retryAfter === undefined ? undefined : String(row.retryAfter));
  });

  it("without a valid key is 0, 0 and the end of the current minute", ({ expect }) => {
    const expected = (reset: number) => ({
      "X-RateLimit-Limit": "0",
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Reset": String(reset),
    });
    expect(headersWithoutQuota(NOW)).toEqual(expected(MINUTE_END));
    expect(headersWithoutQuota(MINUTE_START)).toEqual(expected(MINUTE_END));
    expect(headersWithoutQuota(MINUTE_START - 1)).toEqual(expected(MINUTE_START / 1000));
  });
});

describe("the IETF draft's pair", () => {
  it.for<{ of: string; verdict: Decided; rateLimit: string }>([
    {
      of: "an admitted request",
      verdict: { kind: "admitted", quota: free(48, 569), nowMs: NOW },
      rateLimit: '"minute";r=12;t=40, "day";r=431;t=50380',
    },
    {
      of: "a refused request",
      verdict: limited(free(60, 569)),
      rateLimit: '"minute";r=0;t=40, "day";r=431;t=50380',
    },
    {
      of: "a banned request",
      verdict: banned(free(60, 569), NOW + 299_500),
      rateLimit: '"minute";r=0;t=300, "day";r=0;t=300',
    },
  ])("of $of names both windows", ({ verdict, rateLimit }, { expect }) => {
    expect(rateLimitHeaders(verdict)["RateLimit-Policy"]).toBe('"minute";q=60;w=60, "day";q=1000;w=86400');
    expect(rateLimitHeaders(verdict).RateLimit).toBe(rateLimit);
  });
});

describe("every verdict's headers", () => {
  const verdicts = fc
    .tuple(limits, startMs, fc.array(fc.nat(20_000), { minLength: 1, maxLength: 150 }))
    .map(([limits, atMs, gapsMs]) => {
      const limiter = new SimulatedLimiter();
      let nowMs = atMs;
      const made = gapsMs.map((gapMs) => {
        nowMs += gapMs % 3 === 0 ? gapMs : gapMs % 500;
        return limiter.request(limits, nowMs);
      });
      return { limits, made };
    });

  it("are whole numbers in the right unit: Reset in Unix seconds ahead, Retry-After in seconds", ({
    expect,
  }) => {
    fc.assert(
      fc.property(verdicts, ({ limits, made }) => {
        for (const verdict of made) {
          const headers = rateLimitHeaders(verdict);
          const { "Retry-After": retryAfter, ...others } = headers;
          for (const name of ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]) {
            expect(others[name]).toMatch(/^(0|[1-9]\d*)$/);
          }
          expect([limits.perMinute, limits.perDay]).toContain(Number(headers["X-RateLimit-Limit"]));
          const resetMs = Number(headers["X-RateLimit-Reset"]) * 1000;
          expect(resetMs).toBeGreaterThan(verdict.nowMs);
          expect(resetMs - verdict.nowMs).toBeLessThanOrEqual(86_401_000);
          if (verdict.kind === "admitted") expect(retryAfter).toBeUndefined();
          else expect(Number(retryAfter)).toBe(Math.ceil((resetMs - verdict.nowMs) / 1000));
        }
      }),
      { numRuns: 50 },
    );
  });

  it("are parsed correctly by ratelimit-header-parser", ({ expect }) => {
    fc.assert(
      fc.property(verdicts, ({ made }) => {
        for (const verdict of made) {
          // This parser takes any `RateLimit` for the draft of 2022, so it gets the triple alone.
          const { RateLimit: _draft, ...triple } = rateLimitHeaders(verdict);
          const parsed = parseRateLimit(new Headers(triple));
          expect(parsed?.limit).toBe(Number(triple["X-RateLimit-Limit"]));
          expect(parsed?.remaining).toBe(Number(triple["X-RateLimit-Remaining"]));
          expect(parsed?.reset?.getTime()).toBe(Number(triple["X-RateLimit-Reset"]) * 1000);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("are structured fields whose integers are the quota", ({ expect }) => {
    fc.assert(
      fc.property(verdicts, ({ limits, made }) => {
        for (const verdict of made) {
          const headers = rateLimitHeaders(verdict);
          const policy = parseList(headers["RateLimit-Policy"] ?? "");
          expect(policy.map(([name, parameters]) => [name, Object.fromEntries(parameters)])).toEqual([
            ["minute", { q: limits.perMinute, w: 60 }],
            ["day", { q: limits.perDay, w: 86_400 }],
          ]);
          const [minute, day] = parseList(headers.RateLimit ?? "").map(([, parameters]) => ({
            r: Number(parameters.get("r")),
            t: Number(parameters.get("t")),
          }));
          const isBanned = verdict.kind === "banned";
          expect(minute?.r).toBe(isBanned ? 0 : verdict.quota.minute.remaining);
          expect(day?.r).toBe(isBanned ? 0 : verdict.quota.day.remaining);
          for (const window of [minute, day]) {
            expect(window?.t).toBeGreaterThanOrEqual(1);
            if (isBanned) expect(window?.t).toBe(Number(headers["Retry-After"]));
          }
        }
      }),
      { numRuns: 50 },
    );
  });
});
