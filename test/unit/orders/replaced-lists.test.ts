/** Lists that later ones replaced: the oldest are abandoned, so that what their readers hold together is bounded. */
import { afterEach, describe, it, vi } from "vitest";
import type { Chunk } from "../../../src/worker/orders/order-list-snapshot.ts";
import { MAX_REPLACED_BYTES, ReplacedLists } from "../../../src/worker/orders/replaced-lists.ts";
import { SharedList } from "../../../src/worker/orders/shared-list.ts";
import { stubWeakRef } from "./stub-weak-ref.ts";

const HALF = MAX_REPLACED_BYTES / 2;

function chunk(byteLength: number): Chunk {
  // The bytes themselves are not used.
  return { lastId: 1n, orderCount: 1, bytes: { byteLength } as Uint8Array };
}

function listOf(...chunks: Chunk[]): SharedList {
  return new SharedList({ number: 1, token: "a" }, chunks);
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe("replaced lists", () => {
  it("are abandoned from the oldest on when they hold more bytes than the bound", ({ expect }) => {
    const replaced = new ReplacedLists();
    const lists = Array.from({ length: 5 }, () => listOf(chunk(HALF)));
    for (const list of lists) replaced.add(list, null);
    expect(lists.map(({ state }) => state)).toEqual([
      "abandoned",
      "abandoned",
      "abandoned",
      "complete",
      "complete",
    ]);
  });

  it("count the chunks that the next list does not share, also those that earlier ones hold", ({
    expect,
  }) => {
    const replaced = new ReplacedLists();
    const [a, b, c] = [chunk(HALF), chunk(HALF), chunk(1)];
    const first = listOf(a, b);
    const second = listOf(a, c);
    const third = listOf(a);
    replaced.add(first, second); // b
    replaced.add(second, third); // c
    expect([first.state, second.state]).toEqual(["complete", "complete"]);
    replaced.add(third, null); // a, which all three hold
    expect([first.state, second.state, third.state]).toEqual(["abandoned", "complete", "complete"]);
  });

  it("include one that is larger than the bound by itself", ({ expect }) => {
    const replaced = new ReplacedLists();
    const list = listOf(chunk(MAX_REPLACED_BYTES + 1));
    replaced.add(list, null);
    expect(list.state).toBe("abandoned");
    const next = listOf(chunk(MAX_REPLACED_BYTES));
    replaced.add(next, null);
    expect(next.state).toBe("complete");
  });

  it("that were collected count no more, except for chunks that an earlier one may hold", ({ expect }) => {
    const collected = stubWeakRef();
    const replaced = new ReplacedLists();
    const alone = listOf(chunk(MAX_REPLACED_BYTES));
    replaced.add(alone, null);
    collected.add(alone);
    const a = chunk(HALF);
    const [first, second] = [listOf(a), listOf(a)];
    replaced.add(first, second);
    replaced.add(second, null);
    collected.add(second);
    const third = listOf(chunk(HALF));
    replaced.add(third, null);
    expect([first.state, third.state]).toEqual(["complete", "complete"]);
    const fourth = listOf(chunk(1));
    replaced.add(fourth, null);
    expect([first.state, third.state, fourth.state]).toEqual(["abandoned", "complete", "complete"]);
  });
});
