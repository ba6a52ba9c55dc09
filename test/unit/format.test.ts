/** Numbers and times as the console shows them. */
import { describe, it } from "vitest";
import { formatDay, formatDuration, formatPercent, formatTime } from "../../src/worker/text/format.ts";

describe("numbers", () => {
  it("are percents, never 0 % of something, and 100 % only of all", ({ expect }) => {
    const parts = [0, 0.5, 12, 334, 996, 1_000, 1_500];
    expect(parts.map((part) => formatPercent(part, 1_000))).toEqual([
      "0 %",
      "< 0.1 %",
      "1.2 %",
      "33 %",
      "99 %",
      "100 %",
      "150 %",
    ]);
    expect(formatPercent(0, 0)).toBe("–");
  });
});

describe("times", () => {
  it("are in UTC, which they say", ({ expect }) => {
    expect(formatTime("2026-11-21T23:58:47-01:00")).toBe("22 Nov 2026, 00:58 UTC");
    expect(formatDay("2026-11-01T00:00:00Z")).toBe("1 Nov 2026");
  });

  it("are durations in their two largest units, rounded up", ({ expect }) => {
    const durations = [-5, 0.2, 45, 60, 245, 3_600, 11_520, 86_400, 187_200].map(formatDuration);
    expect(durations).toEqual([
      "0 s",
      "1 s",
      "45 s",
      "1 min",
      "4 min 05 s",
      "1 h",
      "3 h 12 min",
      "1 d",
      "2 d 4 h",
    ]);
  });
});
