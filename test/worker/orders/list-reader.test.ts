/** Readers of a list that was abandoned: they go on with queries of their own, as of their revision, or fail. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { openDatabase } from "../../../src/worker/db/database.ts";
import { type Revision, readPage, readRevision } from "../../../src/worker/db/order-list-repository.ts";
import { MAX_READERS_OF_WHOLE_CHUNKS, OpenReaders } from "../../../src/worker/orders/open-readers.ts";
import { streamArray } from "../../../src/worker/orders/order-list-body.ts";
import {
  ListReader,
  MAX_COPY_BYTES,
  type Readers,
  type ReadPage,
  readChunks,
} from "../../../src/worker/orders/order-list-reader.ts";
import { toChunks } from "../../../src/worker/orders/order-list-snapshot.ts";
import {
  MAX_OWN_PAGES,
  MAX_OWN_PAGES_PER_KEY,
  MAX_PAGE_IDLE_MS,
  OwnPages,
} from "../../../src/worker/orders/own-pages.ts";
import { SharedList } from "../../../src/worker/orders/shared-list.ts";
import { TimeoutError } from "../../../src/worker/with-timeout.ts";
import { countCosts } from "../../support/count-costs.ts";
import { createKey, insertOrders } from "../../support/factories.ts";
import { captureLog, LIST, startApp } from "../../support/worker.ts";

let log: ReturnType<typeof captureLog>;
beforeEach(async () => {
  log = captureLog();
  await env.DB.prepare("delete from orders").run();
});
afterEach(() => {
  log.restore();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function jsonNow(): Promise<string> {
  const { results } = await env.DB.prepare("select json from order_json order by id").all<{ json: string }>();
  return results.map(({ json }) => json).join(",");
}

async function insertMany(fromId: number, count: number): Promise<void> {
  await env.DB.prepare(
    `with recursive n(i) as (select ?1 union all select i + 1 from n where i + 1 < ?1 + ?2)
     insert into orders (id, quantity) select i, 1 from n`,
  )
    .bind(fromId, count)
    .run();
}

/** The list of what is stored, as it is cached. */
async function listNow() {
  const before = await jsonNow();
  const revision = await readRevision(openDatabase(env.DB));
  return { before, revision, list: new SharedList(revision, toChunks(before)) };
}

async function readSome(reader: ListReader): Promise<Uint8Array> {
  const bytes = await reader.next();
  if (!bytes) throw new Error("the list has ended");
  return bytes;
}

/** A reader that has the first chunk of a cached list of 2,500 orders. */
async function readFirstChunk() {
  await insertMany(1, 2_500);
  const listed = await listNow();
  const reader = readerOf(listed.list, listed.revision);
  return { ...listed, reader, first: await readSome(reader) };
}

function readerOf(list: SharedList | null, revision: Revision, readers = noReaders()): ListReader {
  const read: ReadPage = (fromId, limit) => readChunks(env, undefined, revision, fromId, limit);
  return new ListReader(readers, list, read, { keyId: "key_1", requestId: "req_1" });
}

function noReaders(): Readers {
  return { open: new OpenReaders(), pages: new OwnPages() };
}

async function textOf(first: Uint8Array, rest: ListReader): Promise<string> {
  const parts = [first];
  for (let bytes = await rest.next(); bytes; bytes = await rest.next()) parts.push(bytes);
  return new Blob(parts).text();
}

describe("a reader of a list that was abandoned", () => {
  it("gets the rest as it was at the revision, whatever changed since", async ({ expect }) => {
    const { before, list, reader, first } = await readFirstChunk();
    list.abandon();
    await env.DB.prepare("update orders set quantity = 7 where id % 3 = 0").run();
    await env.DB.prepare("delete from orders where id > 500 and id % 5 = 0").run();
    await env.DB.prepare("insert into orders (id, quantity) values (5000, 1), (-1, 1)").run();
    expect(await textOf(first, reader)).toBe(before);
  });

  it("gets the rest after more changes than a page has orders, of which most are deletions", async ({
    expect,
  }) => {
    const { before, list, reader, first } = await readFirstChunk();
    list.abandon();
    await env.DB.prepare("update orders set id = id + 10000 where id > 900 and id <= 1300").run();
    await env.DB.prepare("update orders set quantity = 7").run();
    await env.DB.prepare("delete from orders where id % 10 > 0 and id < 10000").run();
    await insertMany(20_000, 2_000);
    expect(await textOf(first, reader)).toBe(before);
  });

  it("reads each change once for each query", async ({ expect }) => {
    await insertMany(1, 10_000);
    const revision = await readRevision(openDatabase(env.DB));
    await env.DB.prepare("update orders set quantity = 7").run();
    const costs = countCosts();
    await readPage(openDatabase(costs.DB), revision, 1n, 1_000);
    expect(costs.rowsRead()).toBeGreaterThan(10_000);
    expect(costs.rowsRead()).toBeLessThan(20_000);
  });

  it("gets the rest while the feed has all that changed since, even without the row of the revision", async ({
    expect,
  }) => {
    const { before, revision, list, reader, first } = await readFirstChunk();
    list.abandon();
    await env.DB.prepare("delete from orders where id = 2000").run();
    await env.DB.prepare("delete from order_changes where revision <= ?").bind(revision.number).run();
    expect(await textOf(first, reader)).toBe(before);
  });

  it("fails when the feed has lost what changed since", async ({ expect }) => {
    const { revision, list, reader, first } = await readFirstChunk();
    list.abandon();
    await env.DB.prepare("delete from orders where id = 2000 or id = 2001").run();
    await env.DB.prepare("delete from order_changes where revision <= ?")
      .bind(revision.number + 1)
      .run();
    await expect(textOf(first, reader)).rejects.toThrow("the change feed does not reach back");
    expect(log.text()).toContain("order_list_stream_failed");
  });

  it("fails when the database was restored to a time before the revision, and changed again", async ({
    expect,
  }) => {
    const { revision, list, reader, first } = await readFirstChunk();
    list.abandon();
    await env.DB.prepare("update order_changes set token = 'restored' where revision = ?")
      .bind(revision.number)
      .run();
    await expect(textOf(first, reader)).rejects.toThrow("the change feed does not reach back");
  });
});

describe("a reader among many", () => {
  async function crowded() {
    const readers = noReaders();
    const others = Array.from({ length: MAX_READERS_OF_WHOLE_CHUNKS + 1 }, () => ({}));
    for (const other of others) readers.open.add(other);
    await insertMany(1, 2_500);
    return { readers, others, ...(await listNow()) };
  }

  it("is sent small copies, so that no chunk stays in memory for it", async ({ expect }) => {
    const { readers, before, revision, list } = await crowded();
    const reader = readerOf(list, revision, readers);
    const parts: Uint8Array[] = [];
    for (let bytes = await reader.next(); bytes; bytes = await reader.next()) parts.push(bytes);
    expect(await new Blob(parts).text()).toBe(before);
    for (const { buffer } of parts) expect(buffer.byteLength).toBeLessThanOrEqual(MAX_COPY_BYTES);
  });

  it("gets the rest from the middle of a chunk", async ({ expect }) => {
    const { readers, before, revision, list } = await crowded();
    const reader = readerOf(list, revision, readers);
    const first = await readSome(reader);
    expect(first.byteLength).toBe(MAX_COPY_BYTES);
    list.abandon();
    await env.DB.prepare("update orders set quantity = 7 where id % 3 = 0").run();
    expect(await textOf(first, reader)).toBe(before);
  });

  it("gets the rest if the page ends before what it was sent", async ({ expect }) => {
    const { readers, before, revision, list } = await crowded();
    const reader = readerOf(list, revision, readers);
    const first = await readSome(reader);
    list.abandon();
    await env.DB.prepare("update orders set quantity = 7").run();
    // The page ends with the 2,000th order of today, which has the id 500.
    await insertMany(-1_500, 1_500);
    expect(before.indexOf('{"id":501,')).toBeLessThan(MAX_COPY_BYTES);
    expect(await textOf(first, reader)).toBe(before);
  });

  it("reads a page again that was dropped for others while its client stalled", async ({ expect }) => {
    const { readers, before, revision } = await crowded();
    const reader = readerOf(null, revision, readers);
    const parts: Uint8Array[] = [];
    for (let bytes = await reader.next(); bytes; bytes = await reader.next()) {
      parts.push(bytes);
      const laterMs = Date.now() + MAX_PAGE_IDLE_MS;
      const others = Array.from({ length: MAX_OWN_PAGES }, (_, i) =>
        readers.pages.take(`key_${i % 2}`, laterMs),
      );
      for (const page of others) page?.drop();
      await env.DB.prepare("update orders set quantity = quantity + 1 where id = 700").run();
    }
    expect(await new Blob(parts).text()).toBe(before);
    expect(parts.length).toBeGreaterThan(3);
  });
});

describe("a reader that finds no place for a page", () => {
  const ONE_ORDER = toChunks('{"id":1}');

  /** Those of the reader's key. Timers are faked and the clock is not: by it, pages that are not read from give up their places. */
  function takeAllPlaces({ pages }: Readers): void {
    for (let i = 0; i < MAX_OWN_PAGES_PER_KEY; i++) pages.take("key_1", Date.now());
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  }

  function startReader(readers: Readers): ListReader {
    const read: ReadPage = async () => ({ chunks: ONE_ORDER, nextId: 2n });
    return new ListReader(readers, null, read, { keyId: "key_1", requestId: "req_1" });
  }

  /** What the reader has failed with a millisecond before this time, and at it. */
  async function failuresAround(reader: ListReader, afterMs: number): Promise<unknown[]> {
    let failure: unknown;
    reader.next().catch((thrown: unknown) => {
      failure = thrown;
    });
    await vi.advanceTimersByTimeAsync(afterMs - 1);
    const before = failure;
    await vi.advanceTimersByTimeAsync(1);
    return [before, failure];
  }

  const refusal = {
    code: "service_unavailable",
    message: "Too many lists are being read. Please try again.",
  };

  it("is refused after 10 seconds if it is the first page", async ({ expect }) => {
    const readers = noReaders();
    takeAllPlaces(readers);
    const failures = await failuresAround(startReader(readers), 10_000);
    expect(failures).toEqual([undefined, expect.objectContaining(refusal)]);
  });

  it("breaks off after a minute if it is a later page", async ({ expect }) => {
    const readers = noReaders();
    const reader = startReader(readers);
    await readSome(reader);
    takeAllPlaces(readers);
    const failures = await failuresAround(reader, 60_000);
    expect(failures).toEqual([undefined, expect.objectContaining(refusal)]);
  });
});

describe("readers whose clients hung up before they read", () => {
  it("do not count: the others are sent whole chunks", async ({ expect }) => {
    const { list, revision } = await readFirstChunk();
    const readers = noReaders();
    const bodyOf = () => streamArray(readerOf(list, revision, readers)).getReader();
    const held = Array.from({ length: MAX_READERS_OF_WHOLE_CHUNKS + 10 }, bodyOf);
    const lengthOfChunk = async () => {
      const body = bodyOf();
      await body.read(); // the bracket
      const chunk = await body.read();
      await body.cancel();
      return chunk.value?.byteLength;
    };
    expect(await lengthOfChunk()).toBeGreaterThan(MAX_COPY_BYTES);
    for (const body of held) await body.read();
    expect(await lengthOfChunk()).toBeLessThanOrEqual(MAX_COPY_BYTES);
  });
});

describe("a page that is not read in 10 seconds", () => {
  it("fails its reader, and gives its place back", async ({ expect }) => {
    const readers = noReaders();
    const schedule = globalThis.setTimeout;
    const atOnce = (call: () => void) => schedule(call, 0);
    // With the two parameters that the Worker uses.
    vi.spyOn(globalThis, "setTimeout").mockImplementation(atOnce as typeof setTimeout);
    const request = { keyId: "key_1", requestId: "req_1" };
    for (let i = 0; i <= MAX_OWN_PAGES_PER_KEY; i++) {
      const reader = new ListReader(readers, null, () => new Promise(() => {}), request);
      await expect(reader.next()).rejects.toThrow(TimeoutError);
    }
  });
});

describe("a HEAD request", () => {
  it("ends its reader, which would keep what it has read", async ({ expect }) => {
    const { key } = await createKey();
    await insertMany(1, 2_500);
    const close = vi.spyOn(ListReader.prototype, "close");
    expect((await startApp()(LIST, { key, method: "HEAD" })).status).toBe(200);
    expect(close).toHaveBeenCalledOnce();
  });
});

describe("the last order with the largest id", () => {
  it("is sent once, also if the list is abandoned after it", async ({ expect }) => {
    await env.DB.prepare("insert into orders (id) values (1), (9223372036854775807)").run();
    const { before, revision, list } = await listNow();
    const reader = readerOf(list, revision);
    const first = await readSome(reader);
    list.abandon();
    expect(await textOf(first, reader)).toBe(before);
  });
});

describe("a reading that never ends, as the runtime cancelled its request", () => {
  it("delays the list that joined it, and no later one", async ({ expect }) => {
    const schedule = globalThis.setTimeout;
    // Polls of a reading that has made no progress for 0.3 seconds.
    const lookSooner = (call: () => void, ms = 0) => schedule(call, ms >= 100 && ms <= 250 ? 5 : ms);
    // With the two parameters that the Worker uses.
    vi.spyOn(globalThis, "setTimeout").mockImplementation(lookSooner as typeof setTimeout);
    const { key } = await createKey({ perMinute: 9_000, perDay: 9_000 });
    await insertOrders({ id: "1" }, { id: "2" });
    const never = () => new Promise<never>(() => {});
    const hung = { bind: () => hung, all: never, raw: never, run: never, first: never };
    let pages = 0;
    const prepare = (sql: string) =>
      sql.includes("from listed") && pages++ === 0 ? hung : env.DB.prepare(sql);
    // The app uses these two members.
    const DB = { prepare, batch: env.DB.batch.bind(env.DB) } as unknown as D1Database;
    const app = startApp({ DB });
    expect(await (await app(LIST, { key })).text()).toBe('[{"id":1},{"id":2}]');
    for (let i = 0; i < 3; i++) expect((await app(LIST, { key })).status).toBe(200);
    expect(pages).toBe(3); // the hung one, that reader's own, and one for the cache
  });
});
