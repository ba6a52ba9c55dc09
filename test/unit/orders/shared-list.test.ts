/** The list at one revision that many share: complete, too large, failed, stalled, abandoned when it is complete. */
import { describe, it, vi } from "vitest";
import { type Chunk, MAX_CACHED_LIST_BYTES } from "../../../src/worker/orders/order-list-snapshot.ts";
import { type Chunks, READING_STALLED_AFTER_MS, SharedList } from "../../../src/worker/orders/shared-list.ts";

const REVISION = { number: 1, token: "a" };

function chunk(lastId: number, byteCount = 1): Chunk {
  return { lastId: BigInt(lastId), orderCount: 1, bytes: new Uint8Array(byteCount) };
}

/** Pages that the test hands over one by one. */
function pagesOnDemand() {
  const requests: { fromId: bigint; answer: (page: Chunks) => void; fail: (error: Error) => void }[] = [];
  const read = (fromId: bigint) =>
    new Promise<Chunks>((answer, fail) => {
      requests.push({ fromId, answer, fail });
    });
  const next = async () => {
    await vi.waitFor(() => {
      if (requests.length === 0) throw new Error("no page was requested");
    });
    const request = requests.shift();
    if (!request) throw new Error("no page was requested");
    return request;
  };
  return { read, next };
}

async function readAll(list: SharedList): Promise<{ ids: bigint[]; isAll: boolean }> {
  const ids: bigint[] = [];
  for (let index = 0; ; index++) {
    const chunk = await list.chunkAt(index);
    if (!chunk) return { ids, isAll: list.state === "complete" };
    ids.push(chunk.lastId);
  }
}

describe("a list that is read", () => {
  it("hands its chunks to readers that come before, during and after, and reads each page once", async ({
    expect,
  }) => {
    const build = new SharedList(REVISION);
    const { read, next } = pagesOnDemand();
    const running = build.run(0n, read);
    const early = readAll(build);
    const first = await next();
    expect(first.fromId).toBe(0n);
    first.answer({ chunks: [chunk(10), chunk(20)], nextId: 21n });
    const second = await next();
    expect(second.fromId).toBe(21n);
    const during = readAll(build);
    second.answer({ chunks: [chunk(30)], nextId: null });
    const all = { ids: [10n, 20n, 30n], isAll: true };
    await running;
    expect(build.snapshot).toEqual({ revision: REVISION, chunks: [chunk(10), chunk(20), chunk(30)] });
    expect([await early, await during, await readAll(build)]).toEqual([all, all, all]);
  });

  it("lets the event loop send the first page before it reads the second", async ({ expect }) => {
    const build = new SharedList(REVISION);
    const events: string[] = [];
    setTimeout(() => events.push("event loop"), 0);
    await build.run(0n, async (fromId) => {
      events.push(`page from ${fromId}`);
      return fromId === 0n ? { chunks: [chunk(10)], nextId: 11n } : { chunks: [chunk(20)], nextId: null };
    });
    expect(events).toEqual(["page from 0", "event loop", "page from 11"]);
  });

  it("of an empty list is complete with its first page", async ({ expect }) => {
    const build = new SharedList(REVISION);
    await build.run(0n, async () => ({ chunks: [], nextId: null }));
    expect(build.snapshot?.chunks).toEqual([]);
    expect(await readAll(build)).toEqual({ ids: [], isAll: true });
  });

  it("that becomes too large keeps nothing", async ({ expect }) => {
    const build = new SharedList(REVISION);
    const { read, next } = pagesOnDemand();
    const running = build.run(0n, read);
    const reader = readAll(build);
    (await next()).answer({ chunks: [chunk(10, MAX_CACHED_LIST_BYTES)], nextId: 11n });
    (await next()).answer({ chunks: [chunk(20, 1)], nextId: 11n });
    await running;
    expect(build.state).toBe("too large");
    expect(build.snapshot).toBeUndefined();
    expect(await reader).toEqual({ ids: [10n], isAll: false });
    expect(await readAll(build)).toEqual({ ids: [], isAll: false });
  });

  it("of exactly the largest size is cached", async ({ expect }) => {
    const build = new SharedList(REVISION);
    const page = { chunks: [chunk(10, MAX_CACHED_LIST_BYTES)], nextId: null };
    await build.run(0n, async () => page);
    expect(build.snapshot?.chunks).toHaveLength(1);
  });

  it("that fails sends its readers on by themselves, from where they are", async ({ expect }) => {
    const build = new SharedList(REVISION);
    const { read, next } = pagesOnDemand();
    const running = build.run(0n, read);
    const reader = readAll(build);
    (await next()).answer({ chunks: [chunk(10)], nextId: 11n });
    (await next()).fail(new Error("outage"));
    await expect(running).rejects.toThrow("outage");
    expect(await reader).toEqual({ ids: [10n], isAll: false });
  });

  it("that is abandoned reads no further page", async ({ expect }) => {
    const build = new SharedList(REVISION);
    const { read, next } = pagesOnDemand();
    const running = build.run(0n, read);
    const reader = readAll(build);
    const page = await next();
    build.abandon();
    page.answer({ chunks: [chunk(10)], nextId: 11n });
    await running;
    expect(build.snapshot).toBeUndefined();
    expect(await reader).toEqual({ ids: [], isAll: false });
  });

  it("without progress for 5 seconds is abandoned by its readers", async ({ expect }) => {
    vi.useFakeTimers();
    const build = new SharedList(REVISION);
    void build.run(0n, () => new Promise(() => {}));
    const reader = readAll(build);
    await vi.advanceTimersByTimeAsync(READING_STALLED_AFTER_MS - 1);
    expect(await Promise.race([reader, Promise.resolve("waits")])).toBe("waits");
    await vi.advanceTimersByTimeAsync(1);
    expect(await reader).toEqual({ ids: [], isAll: false });
    vi.useRealTimers();
  });

  it("is waited for until it ends, and abandoned by who waits after 5 seconds without progress", async ({
    expect,
  }) => {
    const complete = new SharedList(REVISION);
    const { read, next } = pagesOnDemand();
    void complete.run(0n, read);
    const end = complete.ended();
    (await next()).answer({ chunks: [chunk(10)], nextId: 11n });
    const last = await next();
    expect(await Promise.race([end, Promise.resolve("waits")])).toBe("waits");
    last.answer({ chunks: [], nextId: null });
    await end;
    expect(complete.state).toBe("complete");
    vi.useFakeTimers();
    const stalled = new SharedList(REVISION);
    void stalled.run(0n, () => new Promise(() => {}));
    const ends = [stalled.ended(), stalled.ended()];
    await vi.advanceTimersByTimeAsync(READING_STALLED_AFTER_MS);
    await Promise.all(ends);
    expect(stalled.state).toBe("abandoned");
    expect(await readAll(stalled)).toEqual({ ids: [], isAll: false });
    vi.useRealTimers();
  });
});

describe("a list that is complete", () => {
  it("sends its readers on by themselves when it is abandoned, and holds no chunk", async ({ expect }) => {
    const list = new SharedList(REVISION, [chunk(10), chunk(20), chunk(30)]);
    expect(await list.chunkAt(0)).toEqual(chunk(10));
    list.abandon();
    expect(await list.chunkAt(1)).toBeUndefined();
    expect(list.snapshot).toBeUndefined();
    expect(await readAll(list)).toEqual({ ids: [], isAll: false });
  });
});
