/** Floods of guessed keys: the real rate-limiting binding limits them per address, before D1 and the limiters. */
import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE } from "../../../src/worker/auth/ip-rate-limit-rules.ts";
import { mintKey } from "../../../src/worker/auth/key-format.ts";
import { createKey } from "../../support/factories.ts";
import { captureLog, countOf, LIST, pause, startApp, watchDatabase } from "../../support/worker.ts";

beforeEach(() => void captureLog());
afterEach(() => vi.restoreAllMocks());

function guess(): string {
  return mintKey((count) => crypto.getRandomValues(new Uint8Array(count)));
}

/** The binding uses the real clock, and this flood takes a second or two. */
async function untilTheMinuteHas(seconds: number): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < seconds * 1000) await pause(leftMs + 50);
}

describe("a flood of unknown keys from one address", () => {
  it("is a 429 above the per-IP limit, with exact headers and without a D1 query", async ({ expect }) => {
    await untilTheMinuteHas(12);
    const d1 = watchDatabase();
    const app = startApp({ DB: d1.DB });
    const send = (key: string, address: string) =>
      app(LIST, { key, headers: { "CF-Connecting-IP": address } });
    const objectsBefore = (await listDurableObjectIds(env.KEY_LIMITER)).length;
    const flood: Response[] = [];
    for (let i = 0; i < MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE + 50; i++)
      flood.push(await send(guess(), "192.0.2.1"));
    expect(countOf(flood.map(({ status }) => status))).toEqual({
      401: MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE,
      429: 50,
    });
    expect(d1.queries()).toHaveLength(MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE);

    const refused = flood.at(-1);
    const nowSeconds = Date.now() / 1000;
    expect(await refused?.json()).toMatchObject({ code: "rate_limit_exceeded", status: 429 });
    expect(refused?.headers.get("X-RateLimit-Limit")).toBe(String(MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE));
    expect(refused?.headers.get("X-RateLimit-Remaining")).toBe("0");
    expect(refused?.headers.get("Retry-After")).toBe("60");
    expect(Number(refused?.headers.get("X-RateLimit-Reset")) - nowSeconds).toBeLessThanOrEqual(61);
    expect(Number(refused?.headers.get("X-RateLimit-Reset")) - nowSeconds).toBeGreaterThan(50);

    // A malformed key is never counted, another address has its own count, and no limiter was created.
    expect((await send("nonsense", "192.0.2.1")).status).toBe(401);
    expect((await send(guess(), "198.51.100.1")).status).toBe(401);
    expect(await listDurableObjectIds(env.KEY_LIMITER)).toHaveLength(objectsBefore);
  }, 60_000);
});

describe("a key that this isolate knows", () => {
  it("is not refused by the per-IP limit", async ({ expect }) => {
    const { key } = await createKey();
    const app = startApp();
    const send = (success: boolean) =>
      app(LIST, { key, bindings: { UNKNOWN_KEY_IP_RATE_LIMIT: { limit: async () => ({ success }) } } });
    expect((await send(true)).status).toBe(200);
    expect((await send(false)).status).toBe(200);
  });
});
