/** The events that an attack or an operator's action leaves in the log, without any credential. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey } from "../../support/factories.ts";
import { LIST, log, startApp } from "../../support/worker.ts";
import { banByStrikes, operatorOf } from "./admin-support.ts";

const NOON = Date.UTC(2033, 4, 5, 12);

const events = () => log.lines().filter(({ event }) => event !== "request");

describe("the security log", () => {
  it("has a failed admin sign-in with its network, and not the token that was tried", async ({ expect }) => {
    const headers = { "CF-Connecting-IP": "192.0.2.7" };
    await startApp()("/admin/plans", { key: "a-wrong-admin-token-of-some-length", headers });
    expect(events()).toMatchObject([{ event: "admin_sign_in_failed", network: "192.0.2.7" }]);
    expect(log.text()).not.toContain("a-wrong-admin-token");
  });

  it("has the refusals of the per-IP limit", async ({ expect }) => {
    const ADMIN_SIGN_IN_IP_RATE_LIMIT = { limit: async () => ({ success: false }) };
    const headers = { "CF-Connecting-IP": "2001:db8:1:2::8" };
    const app = startApp({ ADMIN_SIGN_IN_IP_RATE_LIMIT });
    expect((await app("/admin/plans", { key: "a-wrong-admin-token", headers })).status).toBe(429);
    expect(events()).toMatchObject([
      { event: "ip_rate_limit_exceeded", network: "2001:db8:1:2::/64", limit: 200 },
    ]);
  });

  it("has the begin of a ban, once, and what operators do to it", async ({ expect }) => {
    const app = startApp();
    const operate = operatorOf(app);
    const limited = await createKey({ perMinute: 1 });
    await banByStrikes(limited, app, NOON);
    for (let i = 0; i < 3; i++) await app(LIST, { key: limited.key });
    await operate("DELETE", `/keys/${limited.id}/ban`);
    await operate("PUT", `/keys/${limited.id}/ban`, { seconds: 60, reason: "a test" });
    const keyId = limited.id;
    expect(events()).toMatchObject([
      { event: "ban_started", keyId, strikes: 20 },
      { event: "ban_lifted", keyId, bans: 1 },
      { event: "ban_set", keyId },
    ]);
    expect(log.text()).not.toContain("a test");
    expect(log.text()).not.toContain(env.ADMIN_TOKEN);
  });
});
