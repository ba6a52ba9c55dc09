/** The sentences that say why a key's requests were refused, and what helps. */
import { describe, it } from "vitest";
import { whyRefused } from "../../../../src/worker/admin/keys/why-refused.ts";

const PLANS = [
  { id: "free" as const, requestsPerMinute: 60, requestsPerDay: 1_000 },
  { id: "pro" as const, requestsPerMinute: 300, requestsPerDay: 10_000 },
  { id: "business" as const, requestsPerMinute: 1_000, requestsPerDay: 100_000 },
  { id: "enterprise" as const, requestsPerMinute: null, requestsPerDay: null },
];

const keyOf = (
  plan: "free" | "business",
  own: { requestsPerMinute?: number; requestsPerDay?: number } = {},
) => {
  const [ofPlan] = PLANS.filter(({ id }) => id === plan);
  const { requestsPerMinute = null, requestsPerDay = null } = own;
  return {
    ...{ plan, requestsPerMinute, requestsPerDay },
    limits: {
      requestsPerMinute: requestsPerMinute ?? ofPlan?.requestsPerMinute ?? 0,
      requestsPerDay: requestsPerDay ?? ofPlan?.requestsPerDay ?? 0,
    },
  };
};

/** `hourOf("21T15", 80, { 42: { minute: 12 } })` */
const hourOf = (hour: string, admitted: number, minutes: Record<number, Record<string, number>> = {}) => ({
  start: `2026-11-${hour}:00:00Z`,
  admitted,
  refusedMinutes: Object.entries(minutes).map(([minute, by]) => ({
    at: `2026-11-${hour}:${minute.padStart(2, "0")}:00Z`,
    by,
  })),
});

const why = (hours: ReturnType<typeof hourOf>[], key = keyOf("free")) => whyRefused(hours, 7, key, PLANS);
const DAYS = ["15", "16", "17", "18", "19", "20"];

describe("the sentence of a limit", () => {
  it("is none without a refusal", ({ expect }) => {
    expect(why([hourOf("21T15", 500), hourOf("21T16", 0)])).toEqual([]);
  });

  it("of a minute that one job fills each day: how often, and that spreading helps", ({ expect }) => {
    const hours = DAYS.map((day) => hourOf(`${day}T15`, 80, { 42: { minute: 12 } }));
    const [says = "", ...others] = why(hours);
    expect(others).toEqual([]);
    for (const part of [
      "per minute, now 60,",
      "6 of the last 7 days",
      "72 requests",
      "12 in",
      "92",
      "3,600",
      "no larger limit",
    ])
      expect(says).toContain(part);
  });

  it("of minutes that are full all hour names the least plan that is large enough", ({ expect }) => {
    const minutes = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [i, { minute: 30 }]));
    expect(why([hourOf("20T09", 3_600, minutes), hourOf("20T10", 5)])).toEqual([
      expect.stringMatching(/1 of the last 7 days.*5,400.*plan Pro, with 300 a minute/),
    ]);
  });

  it("of a day names the earliest time, and what the busiest day asked for", ({ expect }) => {
    const hours = [
      hourOf("19T17", 1_000, { 30: { day: 10 }, 31: { day: 20 } }),
      hourOf("20T09", 400),
      hourOf("20T14", 600, { 20: { day: 300 } }),
      hourOf("20T23", 0, { 59: { day: 40 } }),
    ];
    expect(why(hours)).toEqual([
      expect.stringMatching(
        /per day, now 1,000,.*2 of the last 7 days, at 14:20 UTC.*370 requests.*1,340.*plan Pro/,
      ),
    ]);
    expect(why(hours, keyOf("free", { requestsPerDay: 2_000 }))).toEqual([
      expect.stringMatching(/limit of now is enough/),
    ]);
  });

  it("comes beside those of other limits and of bans", ({ expect }) => {
    const hours = [
      hourOf("20T09", 60, { 5: { minute: 3, ban: 4 }, 6: { ban: 5 } }),
      hourOf("20T10", 9, { 0: { day: 1 } }),
    ];
    expect(why(hours)).toEqual([
      expect.stringMatching(/per minute/),
      expect.stringMatching(/per day.* 1 request was/),
      expect.stringMatching(/Bans refused 9 requests/),
    ]);
  });
});

describe("what helps", () => {
  const full = [hourOf("20T09", 59_000, { 1: { minute: 8_000 } })];
  const dayOf = (admitted: number) => [hourOf("20T09", admitted, { 1: { day: 5_000 } })];

  it("is no larger plan for a key of the largest, nor for a key with a limit of its own", ({ expect }) => {
    expect(why(full, keyOf("business"))[0]).toMatch(/What helps: a limit of its own of 1,200 a minute/);
    expect(why(full, keyOf("free", { requestsPerMinute: 500 }))[0]).toMatch(
      /a limit of its own of 1,200 a minute/,
    );
    expect(why(dayOf(100_000), keyOf("business"))[0]).toMatch(/a limit of its own of 110,000 a day/);
  });

  it("is no plan that lowers the other limit", ({ expect }) => {
    const key = keyOf("free", { requestsPerMinute: 500 });
    expect(why(dayOf(1_000), key)[0]).toContain("plan Business, with 100,000 a day");
  });

  it("is several keys beyond what a key can have", ({ expect }) => {
    expect(why([hourOf("20T09", 1_700_000, { 1: { minute: 200_000 } })], keyOf("business"))[0]).toMatch(
      /several keys.*30,000 a minute/,
    );
  });
});
