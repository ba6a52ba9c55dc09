/** What the overview of the console loads of past days, and of today's keys. */
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { adminClient } from "../../../src/pages/console/admin-client.ts";
import type { DayFigures } from "../../../src/pages/console/api-types.ts";
import { loadUsage } from "../../../src/pages/console/overview/load-usage.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-11-22T00:30:00Z") });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe("the overview", () => {
  it("loads past days once, yesterday until all its hours are reported", async ({ expect }) => {
    let asOf = "2026-11-21T23:00:00Z";
    let days: string[] = [];
    vi.stubGlobal("fetch", async (url: string) => {
      const day = new URLSearchParams(url.split("?")[1]).get("day") ?? "";
      days.push(day);
      const total = { admitted: days.length, refused: 0, refusedWhileBanned: 0, keyCount: 1, hours: [] };
      return Response.json({
        day,
        keys: [],
        total,
        asOf: day < "2026-11-21" ? "2026-11-21T00:00:00Z" : asOf,
      });
    });
    const past = new Map<string, DayFigures>();
    const refresh = async () => {
      days = [];
      return (await loadUsage(adminClient({ token: "a token", operator: "" }), past)).days.at(-2);
    };
    expect(await refresh()).toMatchObject({ name: "2026-11-21", admitted: 31 });
    expect(new Set(days).size).toBe(30);
    asOf = "2026-11-22T00:00:00Z";
    expect(await refresh()).toMatchObject({ admitted: 3 });
    expect(days).toEqual(["2026-11-22", "2026-11-22", "2026-11-21"]);
    await refresh();
    expect(days).toEqual(["2026-11-22", "2026-11-22"]);
  });

  it("shows the keys nearest to their limit, and those that a limit refused", async ({ expect }) => {
    vi.stubGlobal("fetch", async (url: string) => {
      const sort = new URLSearchParams(url.split("?")[1]).get("sort");
      const key = { keyId: sort, admitted: 1, refused: 1 };
      const unused = { keyId: "unused", admitted: 0, refused: 0 };
      return Response.json({ day: "2026-11-22", asOf: "", keys: [key, unused], total: { hours: [] } });
    });
    const { nearest, refused } = await loadUsage(adminClient({ token: "a token", operator: "" }), new Map());
    expect([nearest, refused].map((keys) => keys.map(({ keyId }) => keyId))).toEqual([
      ["percent"],
      ["refused"],
    ]);
  });
});
