/** The benchmark's medians, quartiles and ratios. */
import { describe, it } from "vitest";
import { ratiosOf, shuffled, spreadOf } from "../../bench/statistics.ts";

describe("spreadOf", () => {
  it("gives the median and the quartiles, between two values in proportion", ({ expect }) => {
    expect(spreadOf([40, 10, 50, 20, 30])).toEqual({ median: 30, low: 20, high: 40 });
    expect(spreadOf([4, 1, 3, 2])).toEqual({ median: 2.5, low: 1.75, high: 3.25 });
    expect(spreadOf([7])).toEqual({ median: 7, low: 7, high: 7 });
  });

  it("throws without values", ({ expect }) => {
    expect(() => spreadOf([])).toThrow("no values");
  });
});

it("ratiosOf divides by the base of the same round", ({ expect }) => {
  expect(ratiosOf([2, 6, 20], [1, 2, 5])).toEqual({ median: 3, low: 2.5, high: 3.5 });
});

it("shuffled keeps all items", ({ expect }) => {
  expect(shuffled([1, 2, 3]).toSorted()).toEqual([1, 2, 3]);
});
