/** Floods of guessed keys: fenced per address by the native binding, and past the fence they reach nothing. */
import { createExecutionContext, listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { createApp } from "../../../src/worker/app.ts";
import { MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE } from "../../../src/worker/auth/ip-rate-limit-rules.ts";
import { mintKey } from "../../../src/worker/auth/key-format.ts";
import { createKey } from "../../support/factories.ts";
import { countingD1, countOf, pause, withoutLog } from "../limiter/limiter-support.ts";

beforeEach(withoutLog);
afterEach(() => vi.restoreAllMocks());

function guess(): string {
  return mintKey((count) => crypto.getRandomValues(new Uint8Array(count)));
}

/** The binding's windows are those of the real clock, and a flood here takes a second or two. */
async function untilTheMinuteHas(seconds: number): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < seconds * 1000) await pause(leftMs + 50);
}

describe("a flood of unknown keys from one address", () => {
  it("is a 429 past the fence, with headers that hold, and no longer reaches D1", async ({ expect }) => {
    await untilTheMinuteHas(12);
    const app = createApp();
    const d1 = countingD1();
    const send = (key: string, address: string) => {
      const headers = { Authorization: `Bearer ${key}`, "CF-Connecting-IP": address };
      const request = new Request("https://api.example/v1/store/orders", { headers });
      return app.fetch(request, { ...env, ...d1.overrides }, createExecutionContext());
    };
    const objectsBefore = (await listDurableObjectIds(env.KEY_LIMITER)).length;
    const flood: Response[] = [];
    for (let i = 0; i < MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE + 50; i++)
      flood.push(await send(guess(), "192.0.2.1"));
    expect(countOf(flood.map(({ status }) => status))).toEqual({
      401: MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE,
      429: 50,
    });
    expect(d1.queries()).toBe(MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE);

    const refused = flood.at(-1);
    const nowSeconds = Date.now() / 1000;
    expect(await refused?.json()).toMatchObject({ code: "rate_limit_exceeded", status: 429 });
    expect(refused?.headers.get("X-RateLimit-Limit")).toBe(String(MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE));
    expect(refused?.headers.get("X-RateLimit-Remaining")).toBe("0");
    expect(refused?.headers.get("Retry-After")).toBe("60");
    expect(Number(refused?.headers.get("X-RateLimit-Reset")) - nowSeconds).toBeLessThanOrEqual(61);
    expect(Number(refused?.headers.get("X-RateLimit-Reset")) - nowSeconds).toBeGreaterThan(50);

    // A malformed key never counts, another address is not concerned, and nobody's limiter came to be.
    expect((await send("nonsense", "192.0.2.1")).status).toBe(401);
    expect((await send(guess(), "198.51.100.1")).status).toBe(401);
    expect(await listDurableObjectIds(env.KEY_LIMITER)).toHaveLength(objectsBefore);
  }, 60_000);
});

describe("a key that this isolate knows", () => {
  it("is not stopped by the fence", async ({ expect }) => {
    const app = createApp();
    const { key } = await createKey();
    const headers = { Authorization: `Bearer ${key}`, "CF-Connecting-IP": "203.0.113.1" };
    const send = (success: boolean) => {
      const request = new Request("https://api.example/v1/store/orders", { headers });
      const bindings = { ...env, UNKNOWN_KEY_IP_RATE_LIMIT: { limit: async () => ({ success }) } };
      return app.fetch(request, bindings, createExecutionContext());
    };
    expect((await send(true)).status).toBe(200);
    expect((await send(false)).status).toBe(200);
  });
});

describe("a burst of requests on an isolate that has not met their key", () => {
  it("is one query and one try at the fence, and none of it is refused", async ({ expect }) => {
    const { key } = await createKey({ perMinute: 2_000 });
    const { send, tries, queries } = newIsolateWithFence();
    const answers = await Promise.all(
      Array.from({ length: 2 * MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE }, () => send(key)),
    );
    expect(countOf(answers.map(({ status }) => status))).toEqual({
      404: 2 * MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE,
    });
    expect({ tries: tries(), queries: queries() }).toEqual({ tries: 1, queries: 1 });
  });

  it("is stopped by the fence if nobody holds the key", async ({ expect }) => {
    const { send, queries } = newIsolateWithFence();
    const key = guess();
    const answers = await Promise.all(
      Array.from({ length: 2 * MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE }, () => send(key)),
    );
    expect(countOf(answers.map(({ status }) => status))).toEqual({
      401: MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE,
      429: MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE,
    });
    expect(queries()).toBe(MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE);
  });

  it("does not wait for a lookup that hangs", async ({ expect }) => {
    const { key } = await createKey();
    let isHanging = true;
    const { send } = newIsolateWithFence(() => {
      if (!isHanging) return;
      isHanging = false;
      return new Promise<never>(() => {});
    });
    void send(key);
    await pause(0);
    expect((await send(key)).status).toBe(404);
  });
});

/** An isolate whose fence counts as the native one does, but without a clock. `before` may hold a try back. */
function newIsolateWithFence(before: () => Promise<never> | undefined = () => undefined) {
  const app = createApp();
  const d1 = countingD1();
  let tries = 0;
  const limit = async () => {
    await before();
    return { success: ++tries <= MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE };
  };
  const bindings = { ...env, ...d1.overrides, UNKNOWN_KEY_IP_RATE_LIMIT: { limit } };
  const send = (key: string) => {
    const headers = { Authorization: `Bearer ${key}` };
    const request = new Request("https://api.example/v1/no-such-path", { headers });
    return app.fetch(request, bindings, createExecutionContext());
  };
  return { send, tries: () => tries, queries: d1.queries };
}
