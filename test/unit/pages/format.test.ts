/** Numbers and times as the pages show them. */
import { describe, it } from "vitest";
import {
  counted,
  formatDay,
  formatDuration,
  formatNumber,
  formatPercent,
  formatRelative,
  formatUtc,
} from "../../../src/pages/shared/format.ts";

describe("numbers", () => {
  it("have thousands separators", ({ expect }) => {
    expect(formatNumber(1_234_567, "en")).toBe("1,234,567");
    expect(formatNumber(1_234_567, "de")).toBe("1.234.567");
  });

  it("come with a noun in singular or plural", ({ expect }) => {
    const [zero, one, two] = [0, 1, 2].map((count) => formatNumber(count));
    expect([counted(0, "key"), counted(1, "key"), counted(2, "key"), counted(2, "entry", "entries")]).toEqual(
      [`${zero} keys`, `${one} key`, `${two} keys`, `${two} entries`],
    );
  });

  it("are whole percents, never 0 % of something, and 100 % only of all", ({ expect }) => {
    expect([
      formatPercent(0, 60),
      formatPercent(1, 1_000),
      formatPercent(1, 3),
      formatPercent(996, 1_000),
      formatPercent(60, 60),
      formatPercent(90, 60),
    ]).toEqual(["0 %", "< 1 %", "33 %", "99 %", "100 %", "150 %"]);
    expect(formatPercent(0, 0)).toBe("–");
  });
});

describe("times", () => {
  it("are shown in UTC where the service counts in UTC", ({ expect }) => {
    expect(formatUtc("2026-11-21T14:58:47Z")).toBe("2026-11-21 14:58:47 UTC");
    expect(formatDay("2026-11-01", "en")).toBe("Nov 1");
  });

  it("are durations in their two largest units, rounded up", ({ expect }) => {
    expect([0, 0.2, 45, 60, 245, 3_600, 11_520, 187_200].map(formatDuration)).toEqual([
      "0 s",
      "1 s",
      "45 s",
      "1 min 00 s",
      "4 min 05 s",
      "1 h 0 min",
      "3 h 12 min",
      "2 d 4 h",
    ]);
    expect(formatDuration(-5)).toBe("0 s");
  });

  it("are relative to now", ({ expect }) => {
    const nowMs = Date.parse("2026-11-21T12:00:00Z");
    expect(formatRelative("2026-11-21T12:04:05Z", nowMs)).toBe("in 4 min 05 s");
    expect(formatRelative("2026-11-21T11:59:15Z", nowMs)).toBe("45 s ago");
  });
});
