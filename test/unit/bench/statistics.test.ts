/** The benchmark's medians, spreads and ratios. */
import { describe, it } from "vitest";
import { ratiosOf, rotated, spreadOf } from "../../bench/statistics.ts";

describe("spreadOf", () => {
  it("gives the median, the least and the greatest of an odd count", ({ expect }) => {
    expect(spreadOf([10, 2, 30])).toEqual({ median: 10, min: 2, max: 30 });
  });

  it("gives the mean of the two middle values of an even count", ({ expect }) => {
    expect(spreadOf([4, 1, 3, 100])).toEqual({ median: 3.5, min: 1, max: 100 });
  });

  it("gives one value as its own median", ({ expect }) => {
    expect(spreadOf([7])).toEqual({ median: 7, min: 7, max: 7 });
  });

  it("throws without values", ({ expect }) => {
    expect(() => spreadOf([])).toThrow("no values");
  });
});

describe("ratiosOf", () => {
  it("divides by the base of the same round", ({ expect }) => {
    expect(ratiosOf([2, 6, 20], [1, 2, 5])).toEqual({ median: 3, min: 2, max: 4 });
  });
});

describe("rotated", () => {
  it("begins each round at another item and keeps all of them", ({ expect }) => {
    const items = ["a", "b", "c"];
    expect([0, 1, 2, 3].map((round) => rotated(items, round).join(""))).toEqual(["abc", "bca", "cab", "abc"]);
  });
});
