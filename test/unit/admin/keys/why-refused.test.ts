/** The sentences that say why a key's requests were refused, and what helps. */
import { describe, it } from "vitest";
import { whyRefused } from "../../../../src/worker/admin/keys/why-refused.ts";

const FREE = { requestsPerMinute: 60, requestsPerDay: 1_000 };

/** `hourOf("21T15", 80, { 42: { minute: 12 } })` */
const hourOf = (hour: string, admitted: number, minutes: Record<number, Record<string, number>> = {}) => ({
  start: `2026-11-${hour}:00:00Z`,
  admitted,
  refusedMinutes: Object.entries(minutes).map(([minute, by]) => ({
    at: `2026-11-${hour}:${minute.padStart(2, "0")}:00Z`,
    by,
  })),
});

const why = (hours: ReturnType<typeof hourOf>[], limits = FREE) => whyRefused(hours, 7, limits);
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

  it("of minutes that are full all hour names the limit that is large enough", ({ expect }) => {
    const minutes = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [i, { minute: 30 }]));
    expect(why([hourOf("20T09", 3_600, minutes), hourOf("20T10", 5)])).toEqual([
      expect.stringMatching(/1 of the last 7 days.*5,400.*a limit of 90 a minute/),
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
        /per day, now 1,000,.*2 of the last 7 days, at 14:20 UTC.*370 requests.*1,340.*a limit of 1,400 a day/,
      ),
    ]);
    expect(why(hours, { ...FREE, requestsPerDay: 2_000 })).toEqual([
      expect.stringMatching(/limit of now is enough/),
    ]);
  });
});

it("several keys help beyond what a key can have", ({ expect }) => {
  expect(why([hourOf("20T09", 1_700_000, { 1: { minute: 200_000 } })])[0]).toMatch(
    /several keys.*30,000 a minute/,
  );
});
