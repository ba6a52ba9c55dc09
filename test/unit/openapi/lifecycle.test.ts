/** The lifecycle table, and the settings that it depends on. */
import { describe, it } from "vitest";
import { deprecationHeaders, hasSunset, isDate, lifecyclesOf } from "../../../src/openapi/lifecycle.ts";
import { type Bindings, settingsOf } from "../../../src/worker/context.ts";

// The settings are read from vars alone: no binding is touched.
const settingsWith = (vars: Partial<Bindings>) => settingsOf(vars as Bindings);

describe("the lifecycle table", () => {
  it("deprecates the pets operation and marks it experimental, and leaves the order operations alone", ({
    expect,
  }) => {
    expect(lifecyclesOf({ petsSunsetDate: "2030-12-05" })).toEqual({
      listOrders: {},
      cancelOrder: {},
      getPet: {
        stability: "experimental",
        deprecation: { deprecatedDate: "2026-11-21", sunsetDate: "2030-12-05" },
      },
    });
  });

  it("becomes a structured field's date and an HTTP date, both of the day's first second", ({ expect }) => {
    expect(deprecationHeaders({ deprecatedDate: "2026-11-21", sunsetDate: "2028-02-29" })).toEqual({
      Deprecation: `@${Date.UTC(2026, 10, 21) / 1000}`,
      Sunset: "Tue, 29 Feb 2028 00:00:00 GMT",
    });
  });

  it("has a sunset that begins with the day", ({ expect }) => {
    const deprecation = { deprecatedDate: "2026-11-21", sunsetDate: "2030-12-05" };
    expect(hasSunset(deprecation, Date.UTC(2030, 11, 5) - 1)).toBe(false);
    expect(hasSunset(deprecation, Date.UTC(2030, 11, 5))).toBe(true);
  });

  it("knows a date from what only looks like one", ({ expect }) => {
    expect(["2030-12-05", "2028-02-29"].filter(isDate)).toHaveLength(2);
    expect(
      ["", "2027-02-29", "2030-13-01", "2030-12-5", "5 December 2030", "20301205"].filter(isDate),
    ).toEqual([]);
  });
});

describe("the setting of the sunset", () => {
  it("is 5 December 2030 where none is set", ({ expect }) => {
    expect(settingsWith({}).petsSunsetDate).toBe("2030-12-05");
  });

  for (const date of ["2030-02-30", "soon", "", "2026-11-20"]) {
    it(`may not be ${JSON.stringify(date)}`, ({ expect }) => {
      expect(() => settingsWith({ PETS_SUNSET_DATE: date })).toThrow("PETS_SUNSET_DATE");
    });
  }
});

describe("the settings of the addresses", () => {
  it("are none where none is set", ({ expect }) => {
    const { productionBaseUrl, stagingBaseUrl } = settingsWith({ PRODUCTION_BASE_URL: "" });
    expect([productionBaseUrl, stagingBaseUrl]).toEqual([undefined, undefined]);
  });

  it("are taken as they are when they are https and end in /v1", ({ expect }) => {
    const settings = settingsWith({ STAGING_BASE_URL: "https://staging.example.com/store/v1" });
    expect(settings.stagingBaseUrl).toBe("https://staging.example.com/store/v1");
  });

  for (const url of [
    "http://api.example.com/v1",
    "https://api.example.com",
    "https://api.example.com/v1/",
    "https://api.example.com/v2",
    "https://api.example.com/?/v1",
    "api.example.com/v1",
  ]) {
    it(`may not be ${url}`, ({ expect }) => {
      expect(() => settingsWith({ PRODUCTION_BASE_URL: url })).toThrow("PRODUCTION_BASE_URL");
    });
  }
});
