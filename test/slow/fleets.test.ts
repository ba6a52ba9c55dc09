/** The ban rule against fleets that obey Retry-After and clients that do not. docs/promises.md has the same tables. */
import { describe, it } from "vitest";
import { strikesPerBan } from "../../src/worker/limiter/core/ban.ts";
import type { Limits } from "../../src/worker/limiter/core/quota.ts";
import { readText } from "../support/sources.ts";
import { runFleet, secondsToBan, secondsToBanInUsedMinute } from "../unit/limiter/fleets.ts";

const ENDLESS_DAY = 1_000_000_000;

const PLANS: readonly { plan: string; limits: Limits }[] = [
  { plan: "Free", limits: { perMinute: 60, perDay: ENDLESS_DAY } },
  { plan: "Pro", limits: { perMinute: 300, perDay: ENDLESS_DAY } },
  { plan: "Business", limits: { perMinute: 1_000, perDay: ENDLESS_DAY } },
];

const POLL_GAPS_MS = [50, 200, 500];

describe("a fleet whose workers each wait for Retry-After", () => {
  const fleets = PLANS.flatMap(({ plan, limits }) =>
    [2, 5, 10, 20, strikesPerBan(limits)].flatMap((workers) =>
      [1.2, 2, 6].map((demand) => ({ plan, limits, workers, demand })),
    ),
  );

  it.for(fleets)(
    "of $workers on $plan with $demand times the demand is never banned in an hour",
    (row, { expect }) => {
      const { limits, workers, demand } = row;
      const meanGapMs = (workers * 60_000) / (limits.perMinute * demand);
      for (const isJittered of [true, false]) {
        const { isBanned, refused } = runFleet(limits, { workers, meanGapMs, isJittered }, workers);
        expect(isBanned).toBe(false);
        expect(refused).toBeGreaterThan(0);
      }
    },
  );

  it.for(PLANS)(
    "is banned on $plan with twice as many workers, so that the tests above can fail",
    (row, { expect }) => {
      const workers = 2 * strikesPerBan(row.limits) + 2;
      const meanGapMs = (workers * 60_000) / (row.limits.perMinute * 6);
      expect(runFleet(row.limits, { workers, meanGapMs, isJittered: true }, 1).isBanned).toBe(true);
    },
  );
});

describe("a client that polls through its 429s", () => {
  const rows = (secondsOf: (limits: Limits, gapMs: number) => number | undefined, perDay: number) =>
    PLANS.map(({ plan, limits }) => {
      const cells = POLL_GAPS_MS.map((gapMs) => secondsOf({ ...limits, perDay }, gapMs) ?? "never");
      return `| ${[plan, strikesPerBan(limits), ...cells].join(" | ")} |`;
    });

  it("is banned as docs/promises.md says, in a minute that others have used up and past a used-up day", ({
    expect,
  }) => {
    const documented = readText("docs/promises.md")
      .split("\n")
      .filter((line) => /^\| (Free|Pro|Business) \| \d+ \|/.test(line));
    expect(documented).toEqual([...rows(secondsToBanInUsedMinute, ENDLESS_DAY), ...rows(secondsToBan, 1)]);
  });
});
