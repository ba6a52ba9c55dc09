/** The limits over HTTP: exact under concurrent requests. */
import { beforeAll, describe, it } from "vitest";
import { NO_SUCH_PATH, openService, type Service } from "../support/service.ts";

let service: Service;

beforeAll(async () => {
  service = await openService();
});

type Sender = {
  readonly name: string;
  readonly options: { plan?: string; perMinute?: number; perDay?: number };
  readonly perMinute: number;
  readonly requests: number;
};

/**
 * Twice the limit and one more: then a request is refused even if a new minute begins in the middle of the
 * burst. From 300 a minute on, the limiter reserves blocks.
 */
const OVER_LIMIT: readonly Sender[] = [
  { name: "Free", options: { plan: "free" }, perMinute: 60, requests: 121 },
  {
    name: "Enterprise",
    options: { plan: "enterprise", perMinute: 300, perDay: 5_000 },
    perMinute: 300,
    requests: 601,
  },
];
const WITHIN_LIMIT: Sender = { name: "within", options: { perMinute: 20 }, perMinute: 20, requests: 15 };
const TWO_SECRETS = { perMinute: 30, requestsWithEach: 31 };

describe("a burst of several keys at once over HTTP", () => {
  /** By name of the sender. */
  const responses = new Map<string, Response[]>();

  beforeAll(async () => {
    const { id, key: first } = await service.createKey({ perMinute: TWO_SECRETS.perMinute });
    const second = await service.addSecret(id);
    const senders = await Promise.all(
      [...OVER_LIMIT, WITHIN_LIMIT].map(async ({ name, options, requests }) => {
        const { key } = await service.createKey(options);
        return Array.from({ length: requests }, () => ({ name, key }));
      }),
    );
    const sharing = Array.from({ length: TWO_SECRETS.requestsWithEach }, () => [
      { name: "two secrets", key: first },
      { name: "two secrets", key: second },
    ]);
    await sendAll(shuffle([...senders, ...sharing].flat()), responses);
  });

  it.for(OVER_LIMIT)("admits exactly the limit of $name", ({ name, perMinute, requests }, { expect }) => {
    const windows = windowsOf(responses.get(name));
    expect(responses.get(name)).toHaveLength(requests);
    expect(windows.filter(({ refused }) => refused > 0).length).toBeGreaterThan(0);
    for (const window of windows) expect(window.remaining).toEqual(expected(perMinute, window));
  });

  it("does not change the count of a key within its limit", ({ expect }) => {
    const windows = windowsOf(responses.get(WITHIN_LIMIT.name));
    const admitted = windows.reduce((sum, { remaining }) => sum + remaining.length, 0);
    expect(admitted).toBe(WITHIN_LIMIT.requests);
    for (const window of windows) {
      expect(window.remaining).toEqual(expected(WITHIN_LIMIT.perMinute, window));
    }
  });

  it("counts the requests with both secrets of a key together", ({ expect }) => {
    const windows = windowsOf(responses.get("two secrets"));
    expect(windows.filter(({ refused }) => refused > 0).length).toBeGreaterThan(0);
    for (const window of windows) expect(window.remaining).toEqual(expected(TWO_SECRETS.perMinute, window));
  });
});

/** One minute of a key: what remained after each admitted request, highest first, and the refusals. */
type Window = { remaining: number[]; refused: number };

function windowsOf(responses: readonly Response[] = []): Window[] {
  const windows = new Map<string, Window>();
  for (const { status, headers } of responses) {
    const reset = headers.get("X-RateLimit-Reset") ?? "none";
    const window = windows.get(reset) ?? { remaining: [], refused: 0 };
    if (status === 429) window.refused++;
    else window.remaining.push(Number(headers.get("X-RateLimit-Remaining")));
    windows.set(reset, window);
  }
  for (const { remaining } of windows.values()) remaining.sort((a, b) => b - a);
  // During a ban, Reset is the end of the ban: these windows have refusals only.
  return [...windows.values()].filter(({ remaining }) => remaining.length > 0);
}

/** A countdown from the limit, without gaps, which ends at 0 if a request was refused. */
function expected(perMinute: number, { remaining, refused }: Window): number[] {
  const admitted = refused > 0 ? perMinute : Math.min(remaining.length, perMinute);
  return Array.from({ length: admitted }, (_, i) => perMinute - 1 - i);
}

/** Sends all requests, 100 in flight at any time. */
async function sendAll(
  requests: readonly { name: string; key: string }[],
  responses: Map<string, Response[]>,
): Promise<void> {
  const left = [...requests];
  const sendInTurn = async () => {
    for (let next = left.pop(); next; next = left.pop()) {
      const response = await service.call(next.key, NO_SUCH_PATH);
      await response.arrayBuffer();
      responses.set(next.name, [...(responses.get(next.name) ?? []), response]);
    }
  };
  await Promise.all(Array.from({ length: 100 }, sendInTurn));
}

function shuffle<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
