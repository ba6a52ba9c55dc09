/** Which answers the console shows if several loads of the same data are on their way. */
import { describe, it } from "vitest";
import { orderedLoads } from "../../../src/pages/console/load-order.ts";

describe("a load", () => {
  it("is not shown after a later one, such as the reload after a change", ({ expect }) => {
    const begin = orderedLoads();
    const refresh = begin();
    const reload = begin();
    expect([reload(), refresh()]).toEqual([true, false]);
    expect(begin()()).toBe(true);
  });

  it("is shown before a later one that is slower or was never answered", ({ expect }) => {
    const begin = orderedLoads();
    const [first, second] = [begin(), begin()];
    expect([first(), second()]).toEqual([true, true]);
  });
});
