/** What the overview of the console loads of past days. */
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
