/** The lifecycle of the deprecated operation. */
import { describe, it } from "vitest";
import { hasSunset, petsHeaders } from "../../../src/worker/text/lifecycle.ts";

describe("the deprecated operation", () => {
  it("has a Deprecation and a Sunset header, both with the first second of the day", ({ expect }) => {
    expect(petsHeaders("2028-02-29")).toEqual({
      Deprecation: `@${Date.UTC(2026, 10, 21) / 1000}`,
      Sunset: "Tue, 29 Feb 2028 00:00:00 GMT",
    });
  });

  it("has a sunset at the start of the day", ({ expect }) => {
    expect(hasSunset("2030-12-05", Date.UTC(2030, 11, 5) - 1)).toBe(false);
    expect(hasSunset("2030-12-05", Date.UTC(2030, 11, 5))).toBe(true);
  });
});
