import fc from "fast-check";
import { describe, it, vi } from "vitest";
import { enforceIpRateLimit, networkOf } from "../../../src/worker/auth/ip-rate-limit.ts";
import { clientNetwork, IP_RATE_LIMIT_PERIOD_SECONDS } from "../../../src/worker/auth/ip-rate-limit-rules.ts";
import { ApiError, renderError } from "../../../src/worker/errors.ts";

/** RFC 5952: how Cloudflare spells an IPv6 address. Node's URL parser writes it so. */
function canonical(groups: readonly number[]): string {
  const text = groups.map((group) => group.toString(16)).join(":");
  return new URL(`http://[${text}]/`).hostname.slice(1, -1);
}

const group = fc.oneof(fc.constantFrom(0, 1, 0xffff), fc.integer({ min: 0, max: 0xffff }));
const site = fc.tuple(group, group, group).filter(([first]) => first !== 0x2a06);
const rest = fc.tuple(group, group, group, group, group);

describe("the network that the per-IP rate limit counts", () => {
  it("is the whole IPv4 address", ({ expect }) => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(clientNetwork(address, null)).toBe(address);
      }),
    );
    expect(clientNetwork("unknown", null)).toBe("unknown");
  });

  it("is the same for two IPv6 addresses of one /48, and only for those", ({ expect }) => {
    fc.assert(
      fc.property(site, rest, site, rest, (network, restA, otherNetwork, restB) => {
        const here = clientNetwork(canonical([...network, ...restA]), null);
        expect(clientNetwork(canonical([...network, ...restB]), null)).toBe(here);
        fc.pre(network.join() !== otherNetwork.join());
        expect(clientNetwork(canonical([...otherNetwork, ...restB]), null)).not.toBe(here);
      }),
      { numRuns: 500 },
    );
  });

  for (const [address, network] of [
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
    ["2001:db8::1", "2001:db8:0::/48"],
    ["2001:db8::1:0:0:1", "2001:db8:0::/48"],
    ["2001:db8:1:2::", "2001:db8:1::/48"],
    ["2001:db8:1::2", "2001:db8:1::/48"],
    ["::1", "0:0:0::/48"],
    ["::", "0:0:0::/48"],
    ["fe80::1:2:3:4:5", "fe80:0:0::/48"],
  ] as const) {
    it(`of ${address} is ${network}`, ({ expect }) => {
      expect(clientNetwork(address, null)).toBe(network);
    });
  }

  it("is read from CF-Connecting-IP, whatever other headers name an address", ({ expect }) => {
    const claimed = "X-Forwarded-For X-Real-IP True-Client-IP X-Client-IP CF-Connecting-IPv6 CF-Pseudo-IPv4";
    const names = [...claimed.split(" "), "CF-Worker"];
    const headers = new Headers(names.map((name) => [name, "198.51.100.1"]));
    headers.set("Forwarded", "for=198.51.100.1");
    expect(networkOf(headers)).toBe("unknown");
    headers.set("CF-Connecting-IP", "203.0.113.7");
    expect(networkOf(headers)).toBe("203.0.113.7");
  });

  it("of a Worker of another zone is that zone, and CF-Worker from any other address means nothing", ({
    expect,
  }) => {
    const workers = "2a06:98c0:3600::103";
    expect(clientNetwork(workers, "one.example")).toBe("Workers of one.example");
    expect(clientNetwork(workers, "two.example")).toBe("Workers of two.example");
    expect(clientNetwork(workers, null)).toBe("Workers of unknown");
    for (const worker of [null, "one.example"]) {
      expect(clientNetwork("192.0.2.1", worker)).toBe("192.0.2.1");
      expect(clientNetwork("2a06:98c0:3600::104", worker)).toBe("2a06:98c0:3600::/48");
    }
  });
});

describe("the per-IP rate limit", () => {
  const keys: string[] = [];
  const bindingThat = (success: boolean): RateLimit => ({
    limit: async ({ key }) => {
      keys.push(key);
      return { success };
    },
  });

  it("counts each network on its own, and refuses nothing below the limit", async ({ expect }) => {
    keys.length = 0;
    const ipv6 = new Headers({ "CF-Connecting-IP": "2001:db8::1" });
    expect(await enforceIpRateLimit(bindingThat(true), 300, ipv6)).toBeUndefined();
    expect(await enforceIpRateLimit(bindingThat(true), 300, new Headers())).toBeUndefined();
    expect(keys).toEqual(["2001:db8:0::/48", "unknown"]);
  });

  it("is a 429 above the limit, with an exact Retry-After and matching headers", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2030-01-01T00:00:00.500Z") });
    const refusal = await enforceIpRateLimit(bindingThat(false), 300, new Headers());
    const nowMs = Date.now();
    vi.useRealTimers();
    const response = renderError(refusal ?? new ApiError("internal_error", "not refused"));
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({
      code: "rate_limit_exceeded",
      message: expect.stringContaining("from this address"),
    });
    expect(response.headers.get("X-RateLimit-Limit")).toBe("300");
    expect(response.headers.get("X-RateLimit-Remaining")).toBe("0");
    expect(response.headers.get("Retry-After")).toBe(String(IP_RATE_LIMIT_PERIOD_SECONDS));
    expect(response.headers.get("X-RateLimit-Reset")).toBe(
      String(Math.ceil(nowMs / 1000) + IP_RATE_LIMIT_PERIOD_SECONDS),
    );
  });

  it("refuses nothing while the binding fails", async ({ expect }) => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const failing: RateLimit = { limit: () => Promise.reject(new Error("the binding is not available")) };
    expect(await enforceIpRateLimit(failing, 300, new Headers())).toBeUndefined();
    expect(log).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("ip_rate_limit_unavailable"));
    log.mockRestore();
  });

  it("refuses nothing while the binding hangs, and waits for a second", async ({ expect }) => {
    vi.useFakeTimers();
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const hanging: RateLimit = { limit: () => new Promise(() => {}) };
    const refusal = enforceIpRateLimit(hanging, 300, new Headers());
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await refusal).toBeUndefined();
    expect(log).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("ip_rate_limit_unavailable"));
    log.mockRestore();
    vi.useRealTimers();
  });
});
