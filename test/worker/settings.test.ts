/** A setting that is wrong: clients' requests go on, and whoever looks after the service can see why. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey } from "../support/factories.ts";
import { LIST, log, startApp } from "../support/worker.ts";
import { browserWith } from "./console/browser.ts";

describe("an optional setting that is wrong", () => {
  it.for([
    // The first of two secrets, before the second one is set.
    ["ALERT_WEBHOOK_URL and ALERT_WEBHOOK_SECRET", { ALERT_WEBHOOK_URL: "https://hooks.example/secret" }],
    ["CONSOLE_URL", { CONSOLE_URL: "https://secret.example.com/console/" }],
    ["CORS_ORIGINS", { CORS_ORIGINS: "https://secret.example/" }],
    ["USAGE_RETENTION_DAYS", { USAGE_RETENTION_DAYS: "secret" }],
    ["ADMIN_READ_TOKEN", { ADMIN_READ_TOKEN: "secret" }],
  ] as const)("is off, and /health, Overview and the log name it: %s", async ([names, vars], { expect }) => {
    const { key } = await createKey();
    const app = startApp(vars);
    expect((await app(LIST, { key })).status).toBe(200);
    expect(log.lines()).toContainEqual(expect.objectContaining({ event: "setting_wrong", names }));
    const health = await app("/health");
    const body = { status: "ok", settings: `wrong: ${names}` };
    expect([health.status, await health.json()]).toEqual([200, expect.objectContaining(body)]);
    const { get } = await browserWith(env.ADMIN_TOKEN, vars);
    expect(await (await get("/console")).text()).toContain(`off: ${names} must `);
  });
});

describe("a setting of Access that is wrong", () => {
  it("lets no operator in, and all clients", async ({ expect }) => {
    const { key } = await createKey();
    const app = startApp({ ACCESS_TEAM_DOMAIN: "acme.cloudflareaccess.com" });
    const statusOf = async (path: string, token: string) => (await app(path, { key: token })).status;
    expect(await statusOf(LIST, key)).toBe(200);
    for (const path of ["/admin/plans", "/console"]) expect(await statusOf(path, env.ADMIN_TOKEN)).toBe(500);
  });
});
