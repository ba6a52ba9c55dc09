/** The limit over HTTP: exact under concurrency, and honest headers on every status there is. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, it } from "vitest";
import { maskKey, mintKey } from "../../src/worker/auth/key-format.ts";
import { type Service, startService, untilMinuteHas } from "../support/service.ts";

let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const LIST = "/v1/store/orders";
/** Counts like any other request, and asks D1 nothing. */
const NO_SUCH_PATH = "/v1/no-such-path";

/** Sends `count` requests, 100 in flight at any time. */
async function burst(key: string, count: number): Promise<Response[]> {
  const responses: Response[] = [];
  let left = count;
  const lane = async () => {
    while (left-- > 0) {
      const response = await service.call(key, NO_SUCH_PATH);
      await response.arrayBuffer();
      responses.push(response);
    }
  };
  await Promise.all(Array.from({ length: 100 }, lane));
  return responses;
}

/** Per window, as its end names it: the remaining that each admitted request was told, and the refusals. */
function byWindow(responses: readonly Response[]): Map<string, { admitted: number[]; refused: number }> {
  const windows = new Map<string, { admitted: number[]; refused: number }>();
  for (const { status, headers } of responses) {
    const end = headers.get("X-RateLimit-Reset") ?? "none";
    const window = windows.get(end) ?? { admitted: [], refused: 0 };
    if (status === 429) window.refused++;
    else window.admitted.push(Number(headers.get("X-RateLimit-Remaining")));
    windows.set(end, window);
  }
  return windows;
}

describe("a burst over HTTP", () => {
  // 10 times Pro and Business are 13,000 requests, a minute's worth for this proxy: test/worker sends those in workerd.
  it.for([
    { plan: "free", times: 2, perMinute: 60 },
    { plan: "free", times: 10, perMinute: 60 },
    { plan: "pro", times: 2, perMinute: 300 },
    { plan: "business", times: 2, perMinute: 1_000 },
    { plan: "enterprise", times: 2, perMinute: 47, own: { perMinute: 47, perDay: 5_000 } },
    { plan: "enterprise", times: 10, perMinute: 47, own: { perMinute: 47, perDay: 5_000 } },
  ])("of $times times the limit of $plan admits exactly the limit", async (row, { expect }) => {
    const { key } = await service.createKey({ plan: row.plan, ...row.own });
    // One more, so that some request is refused even if the burst happens to straddle a minute's edge in the middle.
    const responses = await burst(key, row.times * row.perMinute + 1);
    const windows = [...byWindow(responses).values()];
    const full = windows.filter(({ admitted, refused }) => admitted.length > 0 && refused > 0);
    expect(full.length).toBeGreaterThan(0);
    for (const { admitted } of full) {
      expect(admitted.toSorted((a, b) => b - a)).toEqual(countdown(row.perMinute));
    }
    for (const { admitted } of windows) expect(admitted.length).toBeLessThanOrEqual(row.perMinute);
  });

  it("on one key leaves another key's count alone", async ({ expect }) => {
    const busy = await service.createKey({ perMinute: 20 });
    const other = await service.createKey({ perMinute: 20 });
    await untilMinuteHas(5);
    const [, quiet] = await Promise.all([burst(busy.key, 100), burst(other.key, 15)]);
    const remaining = quiet.map(({ headers }) => Number(headers.get("X-RateLimit-Remaining")));
    expect(remaining.toSorted((a, b) => b - a)).toEqual(countdown(20).slice(0, 15));
  });

  it("with both secrets of one key shares one count", async ({ expect }) => {
    const { id, key } = await service.createKey({ perMinute: 30 });
    const second = await addSecret(id);
    await untilMinuteHas(5);
    const responses = (await Promise.all([burst(key, 30), burst(second, 30)])).flat();
    const admitted = responses.filter(({ status }) => status !== 429);
    expect(admitted).toHaveLength(30);
  });
});

function countdown(limit: number): number[] {
  return Array.from({ length: limit }, (_, i) => limit - 1 - i);
}

async function addSecret(keyId: string): Promise<string> {
  const key = mintKey((count) => crypto.getRandomValues(new Uint8Array(count)));
  await service.db
    .prepare("insert into key_secrets (hash, key_id, hint, created_at) values (?, ?, ?, 0)")
    .bind(createHash("sha256").update(key).digest("hex"), keyId, maskKey(key))
    .run();
  return key;
}

type Row = {
  readonly of: string;
  readonly status: number;
  readonly limit: number;
  readonly remaining: number;
  /** What Reset names the end of. */
  readonly until: "minute" | "day" | "ban";
  /** Where it is not the wait until Reset. */
  readonly retryAfter?: number;
  readonly send: () => Promise<Response>;
};

const QUOTA = { limit: 1_000, until: "minute" } as const;
const NO_QUOTA = { limit: 0, remaining: 0, until: "minute" } as const;

/** A fresh key's first request. */
async function first(path: string, init: RequestInit = {}): Promise<Response> {
  return service.call((await service.createKey()).key, path, init);
}

async function insertOrder(id: number, status: string): Promise<string> {
  await service.db.prepare("insert into orders (id, status) values (?, ?)").bind(id, status).run();
  return `${LIST}/${id}`;
}

async function pollUntil(key: string, code: string): Promise<Response> {
  for (let polls = 0; polls < 400; polls++) {
    const response = await service.call(key, NO_SUCH_PATH);
    const body: unknown = await response.clone().json();
    if (typeof body === "object" && body !== null && "code" in body && body.code === code) return response;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no ${code} within 400 polls`);
}

const ROWS: readonly Row[] = [
  { of: "200", status: 200, ...QUOTA, remaining: 999, send: () => first(LIST) },
  { of: "200 to HEAD", status: 200, ...QUOTA, remaining: 999, send: () => first(LIST, { method: "HEAD" }) },
  {
    of: "204",
    status: 204,
    ...QUOTA,
    remaining: 999,
    send: async () => first(await insertOrder(7_001, "pending"), { method: "DELETE" }),
  },
  {
    of: "304",
    status: 304,
    ...QUOTA,
    remaining: 998,
    send: async () => {
      const { key } = await service.createKey();
      const etag = (await service.call(key, LIST)).headers.get("ETag") ?? "";
      return service.call(key, LIST, { headers: { "If-None-Match": etag } });
    },
  },
  { of: "401 without a key", status: 401, ...NO_QUOTA, send: () => service.call(null, LIST) },
  { of: "401 with a wrong key", status: 401, ...NO_QUOTA, send: () => service.call("sok_wrong", LIST) },
  {
    of: "401 to HEAD",
    status: 401,
    ...NO_QUOTA,
    send: () => service.call(null, LIST, { method: "HEAD" }),
  },
  {
    of: "404 for an order",
    status: 404,
    ...QUOTA,
    remaining: 999,
    send: () => first(`${LIST}/7999`, { method: "DELETE" }),
  },
  { of: "404 for a path", status: 404, ...QUOTA, remaining: 999, send: () => first(NO_SUCH_PATH) },
  { of: "404 outside /v1", status: 404, ...NO_QUOTA, send: () => service.call(null, "/elsewhere") },
  { of: "405", status: 405, ...QUOTA, remaining: 999, send: () => first(LIST, { method: "PUT" }) },
  {
    of: "409",
    status: 409,
    ...QUOTA,
    remaining: 999,
    send: async () => first(await insertOrder(7_002, "shipped"), { method: "DELETE" }),
  },
  {
    of: "429 for the minute",
    status: 429,
    limit: 1,
    remaining: 0,
    until: "minute",
    send: async () => {
      const { key } = await service.createKey({ perMinute: 1 });
      await service.call(key, LIST);
      return service.call(key, LIST);
    },
  },
  {
    of: "429 for the day",
    status: 429,
    limit: 1,
    remaining: 0,
    until: "day",
    send: async () => {
      const { key } = await service.createKey({ perDay: 1 });
      await service.call(key, LIST);
      return service.call(key, LIST);
    },
  },
  {
    of: "429 for a ban",
    status: 429,
    limit: 1,
    remaining: 0,
    until: "ban",
    send: async () => {
      const { key } = await service.createKey({ perMinute: 1 });
      return pollUntil(key, "key_banned");
    },
  },
  {
    of: "500",
    status: 500,
    ...QUOTA,
    remaining: 999,
    send: async () => {
      await service.db.prepare("alter table orders rename to orders_away").run();
      try {
        return await first(`${LIST}/7003`, { method: "DELETE" });
      } finally {
        await service.db.prepare("alter table orders_away rename to orders").run();
      }
    },
  },
  {
    of: "503",
    status: 503,
    ...NO_QUOTA,
    retryAfter: 5,
    send: async () => {
      const { id, key } = await service.createKey();
      await service.call(key, LIST);
      await service.limiterSql(id, "alter table limiter_state rename to limiter_state_away");
      return service.call(key, LIST);
    },
  },
];

describe("the triple on every answer", () => {
  it.for(ROWS)("of $of says $limit, $remaining and the end of the $until", async (row, { expect }) => {
    await untilMinuteHas(8);
    const response = await row.send();
    const nowSeconds = Date.now() / 1000;
    expect(response.status).toBe(row.status);
    const [limit, remaining, reset] = ["Limit", "Remaining", "Reset"].map((name) => {
      const value = response.headers.get(`X-RateLimit-${name}`);
      expect(value).toMatch(/^(0|[1-9]\d*)$/);
      return Number(value);
    });
    expect({ limit, remaining }).toEqual({ limit: row.limit, remaining: row.remaining });

    const minuteEnd = Math.ceil(nowSeconds / 60) * 60;
    const dayEnd = Math.ceil(nowSeconds / 86_400) * 86_400;
    const wait = Number(reset) - nowSeconds;
    if (row.until === "minute") expect(reset).toBe(minuteEnd);
    if (row.until === "day") expect(reset).toBe(dayEnd);
    if (row.until === "ban") expect(Math.abs(wait - 300)).toBeLessThan(2);

    const retryAfter = response.headers.get("Retry-After");
    if (row.retryAfter !== undefined) expect(retryAfter).toBe(String(row.retryAfter));
    else if (row.status === 429) expect(Math.abs(Number(retryAfter) - wait)).toBeLessThan(2);
    else expect(retryAfter).toBeNull();

    const hasQuota = row.limit > 0;
    expect(response.headers.has("RateLimit")).toBe(hasQuota);
    expect(response.headers.has("RateLimit-Policy")).toBe(hasQuota);
  });

  it("is right again after a 503, which cost the key nothing", async ({ expect }) => {
    const { id, key } = await service.createKey();
    await untilMinuteHas(8);
    await service.call(key, LIST);
    await service.limiterSql(id, "alter table limiter_state rename to limiter_state_away");
    for (let i = 0; i < 5; i++) expect((await service.call(key, LIST)).status).toBe(503);
    await service.limiterSql(id, "alter table limiter_state_away rename to limiter_state");
    expect((await service.call(key, LIST)).headers.get("X-RateLimit-Remaining")).toBe("998");
  });
});
