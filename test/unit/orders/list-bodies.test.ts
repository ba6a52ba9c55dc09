/** The bounds of the bodies that an isolate sends: in number, of one key, in time, and in bytes. */
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import {
  ListBodies,
  MAX_BODIES,
  MAX_BODIES_PER_KEY,
  MAX_BODY_MS,
  MAX_MS_BEFORE_START,
} from "../../../src/worker/client/orders/list-bodies.ts";
import type { Chunk } from "../../../src/worker/client/orders/list-sql.ts";

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const encoder = new TextEncoder();
const chunk = (low: string, orders: string): Chunk => ({ low, bytes: encoder.encode(orders) });
const TWO = [chunk("-9", ',{"id":1}'), chunk("2", ',{"id":2}')];
const megabytes = (count: number): Chunk => ({ low: "-9", bytes: new Uint8Array(count * 2 ** 20) });

const readNothing = async (): Promise<readonly Chunk[]> => [];

function bodyOf(bodies: ListBodies, keyId: string, chunks: readonly Chunk[] = TWO, readMore = readNothing) {
  const body = bodies.open(chunks, keyId, "req_1", readMore);
  if (!(body instanceof ReadableStream)) throw new Error("the list has one chunk");
  return body.getReader();
}

async function textOf(reader: { read(): Promise<{ value?: Uint8Array | undefined }> }): Promise<string> {
  const parts: Uint8Array[] = [];
  for (let part = await reader.read(); part.value; part = await reader.read()) parts.push(part.value);
  return Buffer.concat(parts).toString();
}

const REFUSAL = { code: "service_unavailable" };

describe("the bodies of lists", () => {
  it("are one JSON array each, from the chunks that they share", async ({ expect }) => {
    const bodies = new ListBodies(() => []);
    const reader = bodyOf(bodies, "a", [chunk("-9", ""), ...TWO]);
    await reader.read();
    const { value } = await reader.read();
    expect(value?.buffer).toBe(TWO[0]?.bytes?.buffer);
    expect(await textOf(bodyOf(bodies, "a"))).toBe('[{"id":1},{"id":2}]');
    const unread: Chunk = { low: "2", bytes: null };
    const readMore = async () => [chunk("2", ',{"id":2}'), chunk("3", ',{"id":3}')];
    const stream = bodies.open([chunk("-9", ',{"id":1}'), unread], "a", "req_1", readMore);
    expect(await new Response(stream).text()).toBe('[{"id":1},{"id":2},{"id":3}]');
  });

  it("of one chunk share one buffer and take no place", async ({ expect }) => {
    const bodies = new ListBodies(() => []);
    const small = [chunk("-9", ',{"id":1}')];
    const sent = Array.from({ length: MAX_BODIES + 1 }, () => bodies.open(small, "a", "req_1", readNothing));
    expect(new Set(sent).size).toBe(1);
    expect(await new Response(sent[0]).text()).toBe('[{"id":1}]');
    expect(await new Response(bodies.open([chunk("-9", "")], "a", "req_1", readNothing)).text()).toBe("[]");
  });

  it("have places in all and for each key, and others get a 503 until one ends", async ({ expect }) => {
    const bodies = new ListBodies(() => []);
    const ofKey = (key: number) => Array.from({ length: MAX_BODIES_PER_KEY }, () => bodyOf(bodies, `${key}`));
    const [first = [], second = []] = [ofKey(1), ofKey(2)];
    expect(() => bodyOf(bodies, "1")).toThrow(expect.objectContaining(REFUSAL));
    for (let key = 3; key <= MAX_BODIES / MAX_BODIES_PER_KEY; key++) ofKey(key);
    expect(() => bodyOf(bodies, "other")).toThrow(expect.objectContaining(REFUSAL));
    await textOf(first[0] ?? bodyOf(bodies, "1"));
    bodyOf(bodies, "other");
    expect(() => bodyOf(bodies, "other")).toThrow(expect.objectContaining(REFUSAL));
    await second[0]?.cancel();
    bodyOf(bodies, "other");
  });

  it("end after 5 minutes, and after 10 seconds if nobody reads them", async ({ expect }) => {
    const bodies = new ListBodies(() => []);
    const held = Array.from({ length: MAX_BODIES_PER_KEY }, () => bodyOf(bodies, "a"));
    const [read, ...others] = held;
    await read?.read();
    vi.advanceTimersByTime(MAX_MS_BEFORE_START);
    for (const _ of others) bodyOf(bodies, "a");
    expect(() => bodyOf(bodies, "a")).toThrow(expect.objectContaining(REFUSAL));
    vi.advanceTimersByTime(MAX_BODY_MS - MAX_MS_BEFORE_START);
    await expect(read?.read()).rejects.toThrow("too slow");
    bodyOf(bodies, "a");
  });

  it("end, the oldest first, when they hold more than two lists of the largest size", async ({ expect }) => {
    const bodies = new ListBodies(() => []);
    const lists = [32, 32, 32].map((size) => [megabytes(size), megabytes(0)]);
    const readers = lists.map((chunks) => [bodyOf(bodies, "a", chunks), bodyOf(bodies, "b", chunks)]);
    for (const oldest of readers[0] ?? []) await expect(textOf(oldest)).rejects.toThrow("too slow");
    for (const [reader] of readers.slice(1)) expect((await reader?.read())?.done).toBe(false);
  });

  it("share the bound with the list that is kept, and its chunks count once", async ({ expect }) => {
    const kept = [megabytes(32), megabytes(0)];
    const bodies = new ListBodies(() => kept);
    const [older, same] = [[megabytes(32), megabytes(0)], kept].map((chunks) => bodyOf(bodies, "a", chunks));
    expect((await older?.read())?.done).toBe(false);
    bodyOf(bodies, "a", [megabytes(1), megabytes(0)]);
    if (older) await expect(textOf(older)).rejects.toThrow("too slow");
    expect((await same?.read())?.done).toBe(false);
  });

  it("send nothing more once they have ended, although D1 was being read for them", async ({ expect }) => {
    const bodies = new ListBodies(() => []);
    const readMore = async () => {
      for (let i = 0; i < 3; i++) bodyOf(bodies, "b", [megabytes(32), megabytes(0)]);
      return TWO;
    };
    const reader = bodyOf(bodies, "a", [{ low: "2", bytes: null }], readMore);
    expect((await reader.read()).done).toBe(false);
    await expect(reader.read()).rejects.toThrow("too slow");
  });
});
