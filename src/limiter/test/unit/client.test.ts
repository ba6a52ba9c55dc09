/** The Worker's side without Hono: keys that code changes, when to come back, headers, wrong bindings. */
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import {
  admit,
  block,
  inspect,
  type LimiterNamespace,
  perDay,
  perMinute,
  RateLimiter,
  reset,
  unblock,
  type Verdict,
  withHeaders,
} from "../../index.ts";
import { Platform } from "./platform.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
const limits = [perMinute(2), perDay(3)];

beforeEach(() => {
  vi.useFakeTimers({ now: NOON, toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The real objects by name. */
function objects() {
  const platforms = new Map<string, Platform<RateLimiter>>();
  const getByName = (name: string) => {
    const platform = platforms.get(name) ?? new Platform(RateLimiter);
    platforms.set(name, platform);
    return platform.object;
  };
  return { getByName };
}

describe("a key that code looks at and changes", () => {
  it.for([["short", "one"] as const, ["too long for a name", "k".repeat(2_000)] as const])(
    "is the key of the requests: a key that is %s",
    async ([, key], { expect }) => {
      const namespace = objects();
      const kindOf = async () => (await admit(namespace, { key, limits })).verdict.kind;
      const used = async () => (await inspect(namespace, { key, limits }))?.quota.map((each) => each.used);
      expect(await kindOf()).toBe("admitted");
      expect([await used(), await used()]).toEqual([
        [1, 1],
        [1, 1],
      ]);
      await block(namespace, { key, endsAtMs: NOON + 60_000, reason: "abuse" });
      expect((await inspect(namespace, { key, limits }))?.ban).toMatchObject({ reason: "abuse" });
      expect(await kindOf()).toBe("banned");
      await unblock(namespace, { key });
      expect([await kindOf(), await kindOf()]).toEqual(["admitted", "limited"]);
      await reset(namespace, { key });
      expect(await used()).toEqual([0, 0]);
    },
  );
});

describe("the time to come back", () => {
  it("is null for a key that does not exist", async ({ expect }) => {
    class Unknown extends RateLimiter {
      override async loadPolicy() {
        return null;
      }
    }
    const { verdict } = await admit({ getByName: () => new Platform(Unknown).object }, { key: "one" });
    expect(verdict).toMatchObject({ kind: "unknown", retryAfterMs: null });
  });

  it("is not waited for if an object of an older version does not name it", async ({ expect }) => {
    const { verdict } = await admit(objects(), { key: "one", limits });
    // 0.2.0's verdict has no such member.
    const older = { ...verdict, kind: "limited" } as unknown as Verdict;
    const getByName = () => ({ admit: async () => older });
    const asked = admit({ getByName } as unknown as LimiterNamespace, { key: "one", waitMs: 60_000 });
    expect((await asked).verdict).toBe(older);
  });
});

describe("withHeaders", () => {
  it("sets the headers also on a response that cannot be changed", async ({ expect }) => {
    const { headers } = await admit(objects(), { key: "one", limits });
    const shown = withHeaders(Response.redirect("https://example.com/"), headers);
    expect([shown.status, shown.headers.get("Location")]).toEqual([302, "https://example.com/"]);
    expect(shown.headers.get("X-RateLimit-Remaining")).toBe("1");
  });

  it("keeps status, body and cookies, and the response itself as it was", async ({ expect }) => {
    const first = new Response("made", { status: 201, statusText: "Made", headers: { "Set-Cookie": "a=1" } });
    first.headers.append("Set-Cookie", "b=2");
    const shown = withHeaders(first, { "Retry-After": "5" });
    expect([shown.status, shown.statusText, shown.headers.getSetCookie()]).toEqual([
      201,
      "Made",
      ["a=1", "b=2"],
    ]);
    expect([await shown.text(), shown.headers.get("Retry-After"), first.headers.has("Retry-After")]).toEqual([
      "made",
      "5",
      false,
    ]);
  });
});
