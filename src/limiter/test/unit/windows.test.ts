/** Limits that are accepted. The proof has the headers of each verdict. */
import { describe, it } from "vitest";
import { checkPolicy, decide, NOTHING_COUNTED } from "../../core/decide.ts";
import { headersOf } from "../../core/headers.ts";
import {
  checkLimits,
  type Limit,
  perDay,
  perHour,
  perMinute,
  perMonth,
  perWeek,
  quotaAt,
} from "../../core/windows.ts";
import { type AdmitOptions, admit, type LimiterNamespace, RateLimiter, settle } from "../../index.ts";
import { counted, KEY, Platform } from "./platform.ts";

const NOON = Date.UTC(2026, 10, 21, 12);

describe("limits", () => {
  it("are one to four windows that divide a day, or are a week or a month", ({ expect }) => {
    for (const seconds of [1, 90, 86_400, 604_800, "month"] as const)
      expect(() => checkLimits([{ name: "any_Name-1", requests: 1, seconds }])).not.toThrow();
    expect(() =>
      checkLimits([perMinute(1), perHour(2), perDay(3), { name: "s", requests: 1, seconds: 1 }]),
    ).not.toThrow();
  });

  const minute = perMinute(60);
  it.for<[wrong: string, limits: Limit[], message: RegExp]>([
    ["none", [], /1 to 4 windows, not 0/],
    ["five", Array(5).fill(minute), /1 to 4 windows, not 5/],
    ["requests of -1", [perMinute(-1)], /requests of "minute"/],
    ["requests of 1.5", [perMinute(1.5)], /requests of "minute"/],
    ["seconds that do not divide a day", [{ ...minute, seconds: 7 }], /seconds of "minute"/],
    ["seconds of more than a day", [{ ...minute, seconds: 172_800 }], /seconds of "minute"/],
    ["a name with a quote", [{ ...minute, name: 'a"b' }], /the name "a\\"b"/],
    ["the same name twice", [minute, { ...minute, name: "Minute", seconds: 90 }], /same name/],
    ["the same length twice", [minute, { ...minute, name: "m" }], /same length/],
    [
      "the same length and unit twice",
      [minute, { name: "m", unit: "requests", amount: 9, seconds: 60 }],
      /length and unit/,
    ],
  ])("must not be %s", ([, limits, message], { expect }) => {
    expect(() => checkLimits(limits)).toThrow(message);
  });
});

describe("windows by the calendar", () => {
  it.for<[limit: Limit, at: string, start: string, end: string]>([
    [perWeek(5), "2026-11-22T23:59:59.999Z", "2026-11-16", "2026-11-23"],
    [perWeek(5), "2026-11-23T00:00:00.000Z", "2026-11-23", "2026-11-30"],
    [perWeek(5), "2027-01-01T12:00:00.000Z", "2026-12-28", "2027-01-04"],
    [perMonth(5), "2028-02-29T23:59:59.999Z", "2028-02-01", "2028-03-01"],
    [perMonth(5), "2027-02-28T23:59:59.999Z", "2027-02-01", "2027-03-01"],
    [perMonth(5), "2026-12-31T23:59:59.999Z", "2026-12-01", "2027-01-01"],
    [perMonth(5), "2027-01-01T00:00:00.000Z", "2027-01-01", "2027-02-01"],
  ])("%j at %s are from %s to %s", ([limit, at, start, end], { expect }) => {
    const [window] = quotaAt([], [limit], Date.parse(at));
    expect([window?.startMs, window?.endsAtMs]).toEqual([Date.parse(start), Date.parse(end)]);
  });
});

describe("two units", () => {
  const tokens = (amount: number) => ({ name: "tokens", unit: "tokens", amount, seconds: 60 });
  const limits = [perMinute(3), tokens(1_000)];

  it("must not cost in a unit that no limit counts", async ({ expect }) => {
    const { object } = new Platform(RateLimiter);
    const cost = { token: 5 };
    await expect(object.admit({ limits, cost })).rejects.toThrow(/no limit counts "token"/);
    await expect(object.admit({ limits: [tokens(5)] })).rejects.toThrow(/no limit counts "requests"/);
  });

  it("are typed: a cost in another unit does not compile", ({ expect }) => {
    const options: AdmitOptions<"tokens">[] = [
      { key: KEY, limits: [perMinute(3), { name: "t", unit: "tokens", amount: 5, seconds: 60 }] },
      { key: KEY, cost: { requests: 1, tokens: 5 } },
      // @ts-expect-error no limit counts "token"
      { key: KEY, cost: { requests: 1, token: 5 } },
      // @ts-expect-error no cost is in bytes
      { key: KEY, limits: [{ name: "t", unit: "bytes", amount: 5, seconds: 60 }] },
    ];
    const calls = (namespace: LimiterNamespace) => [
      admit(namespace, {
        key: KEY,
        limits: [perMinute(3), { name: "t", unit: "tokens", amount: 5, seconds: 60 }],
        // @ts-expect-error the limits count "tokens"
        cost: { requests: 1, token: 5 },
      }),
      // @ts-expect-error the limits count requests
      admit(namespace, { key: KEY, limits: [perMinute(3)], cost: { tokens: 5 } }),
      // @ts-expect-error the units are not named
      settle(namespace, { key: KEY, settleId: "a", cost: { tokens: 5 } }),
      settle<"tokens">(namespace, { key: KEY, settleId: "a", cost: { tokens: 5 } }),
    ];
    expect([options.length, calls.length]).toEqual([4, 1]);
  });
});

describe("limits that follow others", () => {
  const at = Date.parse;
  it.for<[fromMs: number, limits: Limit[]]>([
    [at("2026-11-23"), [perMinute(1), perDay(3), perWeek(9)]],
    [at("2026-12-01"), [perMonth(9), perDay(3)]],
    [at("2026-11-24T05:00Z"), [perHour(2)]],
  ])("may begin at %d with %j", async ([fromMs, limits], { expect }) => {
    expect(() => checkPolicy({ limits, later: { fromMs, limits } })).not.toThrow();
  });

  it.for<[window: string, fromMs: number, limits: Limit[]]>([
    ["week", at("2026-11-24"), [perDay(3), perWeek(9)]],
    ["month", at("2026-11-30"), [perMonth(9)]],
    ["day", at("2026-11-24T01:00Z"), [perHour(2), perDay(3)]],
    ["minute", at("2026-11-24") + 1, [perMinute(2)]],
    ["minute", Number.NaN, [perMinute(2)]],
  ])("must not begin within a %s, as at %d", async ([window, fromMs, limits], { expect }) => {
    expect(() => checkPolicy({ limits, later: { fromMs, limits } })).toThrow(`window "${window}" begins`);
  });
});

describe("headers", () => {
  const limits = [perMinute(3), { name: "t", unit: "t", amount: 2, seconds: 60 }];
  const policy = { limits, blocked: { endsAtMs: NOON + 4_000, reason: null } };
  const { verdict } = decide(NOTHING_COUNTED, policy, KEY, {}, NOON);

  it("of a ban have the limit of the first unit", ({ expect }) => {
    expect(headersOf(counted(verdict))["X-RateLimit-Limit"]).toBe("3");
  });

  it("can each be switched off", ({ expect }) => {
    const names = (options: Parameters<typeof headersOf>[1]) =>
      Object.keys(headersOf(counted(verdict), options));
    expect(names({ xRateLimit: false, retryAfter: false })).toEqual(["RateLimit-Policy", "RateLimit"]);
    expect(names({ rateLimit: false, xRateLimit: false })).toEqual(["Retry-After"]);
  });
});
