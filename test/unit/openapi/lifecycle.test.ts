/** The lifecycle table. */
import { describe, it } from "vitest";
import { deprecationHeaders, hasSunset, lifecyclesOf } from "../../../src/openapi/lifecycle.ts";

describe("the lifecycle table", () => {
  it("deprecates the pets operation and marks it experimental, and no other operation", ({ expect }) => {
    expect(lifecyclesOf({ petsSunsetDate: "2030-12-05" })).toEqual({
      listOrders: {},
      cancelOrder: {},
      getPet: {
        stability: "experimental",
        deprecation: { deprecatedDate: "2026-11-21", sunsetDate: "2030-12-05" },
      },
    });
  });

  it("has a Deprecation and a Sunset header, both with the first second of the day", ({ expect }) => {
    expect(deprecationHeaders({ deprecatedDate: "2026-11-21", sunsetDate: "2028-02-29" })).toEqual({
      Deprecation: `@${Date.UTC(2026, 10, 21) / 1000}`,
      Sunset: "Tue, 29 Feb 2028 00:00:00 GMT",
    });
  });

  it("has a sunset at the start of the day", ({ expect }) => {
    const deprecation = { deprecatedDate: "2026-11-21", sunsetDate: "2030-12-05" };
    expect(hasSunset(deprecation, Date.UTC(2030, 11, 5) - 1)).toBe(false);
    expect(hasSunset(deprecation, Date.UTC(2030, 11, 5))).toBe(true);
  });
});
