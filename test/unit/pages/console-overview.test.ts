/** What the overview of the console loads of past days, and of today's keys. */
import { afterEach, describe, it, vi } from "vitest";
import { adminClient } from "../../../src/pages/console/admin-client.ts";
import type { DayFigures } from "../../../src/pages/console/api-types.ts";
import { loadUsage } from "../../../src/pages/console/overview/load-usage.ts";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe("the usage of past days", () => {
  it("is loaded once, that of yesterday until its sums have every key", async ({ expect }) => {
    vi.useFakeTimers({ now: Date.parse("2026-11-22T12:00:00Z") });
    let summed = false;
    let days: string[] = [];
    vi.stubGlobal("fetch", async (url: string) => {
      const day = new URLSearchParams(url.split("?")[1]).get("day") ?? "";
      days.push(day);
      const total = { admitted: summed ? 2 : 1, refused: 0, refusedWhileBanned: 0, keyCount: 1, hours: [] };
      return Response.json({ day, keys: [], total, complete: summed || day === "2026-11-22" });
    });
    const past = new Map<string, DayFigures>();
    const refresh = async () => {
      days = [];
      return (await loadUsage(adminClient({ token: "a token", operator: "" }), past)).days.at(-2);
    };
    expect(await refresh()).toMatchObject({ name: "2026-11-21", admitted: 1 });
    expect(days).toHaveLength(30);
    summed = true;
    expect(await refresh()).toMatchObject({ admitted: 2 });
    expect(days).toEqual(["2026-11-22", "2026-11-21"]);
    await refresh();
    expect(days).toEqual(["2026-11-22"]);
  });
});

describe("the keys of today", () => {
  it("have live figures if one of the lists has them", async ({ expect }) => {
    vi.stubGlobal("fetch", async (url: string) => {
      const sort = new URLSearchParams(url.split("?")[1]).get("sort");
      const figures = { admitted: 1, refused: 0, refusedWhileBanned: 0 };
      const key = (keyId: string, liveIn: string | null) => ({
        ...{ keyId, ...figures, live: sort === liveIn, percent: sort === liveIn ? 90 : 1 },
      });
      const keys = [key("a", null), key("b", "percent"), key("c", "none")];
      return Response.json({ day: "2026-11-22", keys, complete: false, total: { ...figures, hours: [] } });
    });
    const { keys } = await loadUsage(adminClient({ token: "a token", operator: "" }), new Map());
    expect(keys.map(({ keyId, percent, live }) => [keyId, percent, live]).sort()).toEqual([
      ["a", 90, true],
      ["b", 90, true],
      ["c", 1, false],
    ]);
  });
});
