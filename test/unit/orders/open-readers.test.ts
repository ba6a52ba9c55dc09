/** How many readers there are: too many to be sent whole chunks, which stay in memory for clients that stall. */
import { afterEach, describe, it, vi } from "vitest";
import { MAX_READERS_OF_WHOLE_CHUNKS, OpenReaders } from "../../../src/worker/orders/open-readers.ts";
import { stubWeakRef } from "./stub-weak-ref.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

describe("the open readers", () => {
  it("are many beyond the bound, until one ends", ({ expect }) => {
    const readers = new OpenReaders();
    const held = Array.from({ length: MAX_READERS_OF_WHOLE_CHUNKS }, () => ({}));
    const ends = held.map((reader) => readers.add(reader));
    expect(readers.areMany).toBe(false);
    const endLast = readers.add(readers);
    expect(readers.areMany).toBe(true);
    endLast();
    endLast();
    expect(readers.areMany).toBe(false);
    readers.add(readers);
    expect(readers.areMany).toBe(true);
    ends[0]?.();
    expect(readers.areMany).toBe(false);
  });

  it("count no more when they were collected", ({ expect }) => {
    const collected = stubWeakRef();
    const readers = new OpenReaders();
    const cancelled = Array.from({ length: MAX_READERS_OF_WHOLE_CHUNKS + 1 }, () => ({}));
    for (const reader of cancelled) readers.add(reader);
    expect(readers.areMany).toBe(true);
    for (const reader of cancelled.slice(1)) collected.add(reader);
    readers.add({});
    expect(readers.areMany).toBe(false);
  });
});
