/** The count of the requests that wait for a lookup, in all and for each key. */
import { describe, it } from "vitest";
import { WaitingLookups } from "../../../src/worker/auth/waiting-lookups.ts";

describe("waiting lookups", () => {
  it("count each request, also those that share a load, until it ends", ({ expect }) => {
    const waiting = new WaitingLookups(1_000);
    const ends = ["a", "a", "b"].map((key) => waiting.begin(key, 0));
    expect([waiting.count(0), waiting.countOf("a", 0), waiting.countOf("b", 0)]).toEqual([3, 2, 1]);
    for (const end of ends) end();
    ends[0]?.();
    expect([waiting.count(0), waiting.countOf("a", 0), waiting.countOf("b", 0)]).toEqual([0, 0, 0]);
  });

  it("do not count requests that the runtime has cancelled, once their time is over", ({ expect }) => {
    const waiting = new WaitingLookups(1_000);
    waiting.begin("a", 0);
    const end = waiting.begin("a", 500);
    expect(waiting.count(999)).toBe(2);
    expect([waiting.count(1_000), waiting.countOf("a", 1_000)]).toEqual([1, 1]);
    expect(waiting.countOf("a", 1_500)).toBe(0);
    end();
    expect([waiting.count(1_500), waiting.countOf("a", 1_500)]).toEqual([0, 0]);
  });

  it("do not count for longer after the clock was set back", ({ expect }) => {
    const waiting = new WaitingLookups(1_000);
    waiting.begin("a", 60_000);
    expect(waiting.count(0)).toBe(0);
  });
});
