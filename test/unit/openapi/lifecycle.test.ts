/** The lifecycle table, and the settings that it depends on. */
import { describe, it } from "vitest";
import { deprecationHeaders, hasSunset, isDate, lifecyclesOf } from "../../../src/openapi/lifecycle.ts";
import { type Bindings, settingsOf } from "../../../src/worker/context.ts";

// The settings are read from vars alone: no binding is touched.
const settingsWith = (vars: Partial<Bindings>) => settingsOf(vars as Bindings);

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

  it("accepts only dates that exist", ({ expect }) => {
    expect(["2030-12-05", "2028-02-29"].filter(isDate)).toHaveLength(2);
    expect(
      ["", "2027-02-29", "2030-13-01", "2030-12-5", "5 December 2030", "20301205"].filter(isDate),
    ).toEqual([]);
  });
});

describe("the setting PETS_SUNSET_DATE", () => {
  it("is 5 December 2030 by default", ({ expect }) => {
    expect(settingsWith({}).petsSunsetDate).toBe("2030-12-05");
  });

  for (const date of ["2030-02-30", "soon", "", "2026-11-20"]) {
    it(`refuses ${JSON.stringify(date)}`, ({ expect }) => {
      expect(() => settingsWith({ PETS_SUNSET_DATE: date })).toThrow("PETS_SUNSET_DATE");
    });
  }
});

describe("the setting of the contact", () => {
  it("is an e-mail address, also with rare characters, or an https address", ({ expect }) => {
    for (const contact of [
      "help@example.com",
      "o'brien+r&d@example.com",
      "hilfe@xn--mller-kva.example",
      "https://help.example.com",
      "https://help.example.com/keys?from=docs#a%20b",
    ])
      expect(settingsWith({ SUPPORT_CONTACT: contact }).supportContact).toBe(contact);
  });

  it("is refused if a link to it would lead elsewhere", ({ expect }) => {
    for (const contact of [
      "help@example.com?subject=a",
      "a@b@c.example",
      "mailto:a@b.example",
      "a\u202e@b.example",
    ])
      expect(() => settingsWith({ SUPPORT_CONTACT: contact }), contact).toThrow("SUPPORT_CONTACT");
  });

  // Tools that check formats refuse an OpenAPI document with such a contact.
  it("is refused if OpenAPI does not allow it", ({ expect }) => {
    for (const contact of [
      "hilfe@müller.example",
      "a@localhost",
      "a..b@example.com",
      ".a@example.com",
      "a@example..com",
      "a[b]@example.com",
      "https://müller.example/",
      "https://help.example.com/a|b",
      "https://help.example.com/%zz",
      "https://help.example.com/#a#b",
    ])
      expect(() => settingsWith({ SUPPORT_CONTACT: contact }), contact).toThrow("SUPPORT_CONTACT");
  });
});

describe("the settings of the base URLs", () => {
  it("are absent by default", ({ expect }) => {
    const { productionBaseUrl, stagingBaseUrl } = settingsWith({ PRODUCTION_BASE_URL: "" });
    expect([productionBaseUrl, stagingBaseUrl]).toEqual([undefined, undefined]);
  });

  it("accept https URLs that end in /v1", ({ expect }) => {
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
    "https://v1",
    "https://api.example.com/v1?",
    "https://api.example.com/v1#",
    "https://{host}/v1",
    "https://API.example.com/v1",
    "https://api.example.com:443/v1",
    " https://api.example.com/v1",
    "https://user@api.example.com/v1",
  ]) {
    it(`refuses ${url}`, ({ expect }) => {
      expect(() => settingsWith({ PRODUCTION_BASE_URL: url })).toThrow("PRODUCTION_BASE_URL");
    });
  }
});
