/** Which answers the console shows if several loads of the same data are on their way. */
import { describe, it } from "vitest";
import { orderedLoads } from "../../../src/pages/console/load-order.ts";

const [ANSWERED, FAILED] = [false, true];

describe("a load", () => {
  it("is not shown after a later one, such as the reload after a change", ({ expect }) => {
    const begin = orderedLoads();
    const refresh = begin();
    const reload = begin();
    expect([reload(ANSWERED), refresh(ANSWERED)]).toEqual([true, false]);
    expect(begin()(ANSWERED)).toBe(true);
  });

  it("is shown before a later one that is slower or was never answered", ({ expect }) => {
    const begin = orderedLoads();
    const [first, second] = [begin(), begin()];
    expect([first(ANSWERED), second(ANSWERED)]).toEqual([true, true]);
  });

  it("is shown after a later one that failed, and its failure is not shown after a later answer", ({
    expect,
  }) => {
    const begin = orderedLoads();
    const [first, second, third] = [begin(), begin(), begin()];
    expect([third(FAILED), second(ANSWERED), first(FAILED)]).toEqual([true, true, false]);
  });
});
