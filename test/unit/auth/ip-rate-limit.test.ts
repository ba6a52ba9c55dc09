import fc from "fast-check";
import { describe, it, vi } from "vitest";
import { enforceIpRateLimit } from "../../../src/worker/auth/ip-rate-limit.ts";
import { clientNetwork, IP_RATE_LIMIT_PERIOD_SECONDS } from "../../../src/worker/auth/ip-rate-limit-rules.ts";
import { ApiError, renderError } from "../../../src/worker/errors.ts";

/** RFC 5952: how Cloudflare spells an IPv6 address. Node's URL parser writes it so. */
function canonical(groups: readonly number[]): string {
  const text = groups.map((group) => group.toString(16)).join(":");
  return new URL(`http://[${text}]/`).hostname.slice(1, -1);
}

const group = fc.oneof(fc.constantFrom(0, 1, 0xffff), fc.integer({ min: 0, max: 0xffff }));
const half = fc.tuple(group, group, group, group);

describe("the network a client is fenced by", () => {
  it("is an IPv4 address as it stands", ({ expect }) => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(clientNetwork(address)).toBe(address);
      }),
    );
    expect(clientNetwork("unknown")).toBe("unknown");
  });

  it("is the same for two IPv6 addresses of one /64, and only for those", ({ expect }) => {
    fc.assert(
      fc.property(half, half, half, half, (network, hostA, otherNetwork, hostB) => {
        const here = clientNetwork(canonical([...network, ...hostA]));
        expect(clientNetwork(canonical([...network, ...hostB]))).toBe(here);
        fc.pre(network.join() !== otherNetwork.join());
        expect(clientNetwork(canonical([...otherNetwork, ...hostB]))).not.toBe(here);
      }),
      { numRuns: 500 },
    );
  });

  for (const [address, network] of [
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["2001:db8::1:0:0:1", "2001:db8:0:0"],
    ["2001:db8:1:2::", "2001:db8:1:2"],
    ["::1", "0:0:0:0"],
    ["::", "0:0:0:0"],
    ["fe80::1:2:3:4:5", "fe80:0:0:1"],
  ] as const) {
    it(`of ${address} is ${network}`, ({ expect }) => {
      expect(clientNetwork(address)).toBe(network);
    });
  }
});

describe("the fence", () => {
  const asked: string[] = [];
  const fenceThat = (success: boolean): RateLimit => ({
    limit: async ({ key }) => {
      asked.push(key);
      return { success };
    },
  });

  it("counts per network, and lets through below the limit", async ({ expect }) => {
    asked.length = 0;
    await enforceIpRateLimit(fenceThat(true), 300, new Headers({ "CF-Connecting-IP": "2001:db8::1" }), 0);
    await enforceIpRateLimit(fenceThat(true), 300, new Headers(), 0);
    expect(asked).toEqual(["2001:db8:0:0", "unknown"]);
  });

  it("answers 429 past it, with a wait that is true and headers that agree with it", async ({ expect }) => {
    const nowMs = Date.parse("2030-01-01T00:00:00.500Z");
    const refused = await enforceIpRateLimit(fenceThat(false), 300, new Headers(), nowMs).catch(
      (thrown) => thrown,
    );
    expect(refused).toBeInstanceOf(ApiError);
    const response = renderError(refused);
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({ code: "rate_limit_exceeded" });
    expect(response.headers.get("X-RateLimit-Limit")).toBe("300");
    expect(response.headers.get("X-RateLimit-Remaining")).toBe("0");
    expect(response.headers.get("Retry-After")).toBe(String(IP_RATE_LIMIT_PERIOD_SECONDS));
    expect(response.headers.get("X-RateLimit-Reset")).toBe(
      String(Math.ceil(nowMs / 1000) + IP_RATE_LIMIT_PERIOD_SECONDS),
    );
  });

  it("lets through what it cannot count: a coarse fence that is down must not close the service", async ({
    expect,
  }) => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const down: RateLimit = { limit: () => Promise.reject(new Error("the binding is away")) };
    await enforceIpRateLimit(down, 300, new Headers(), 0);
    expect(log).toHaveBeenCalledOnce();
    log.mockRestore();
  });
});
