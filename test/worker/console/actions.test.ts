/** Forms of the console that set limits for a time, and the page of the alerts. */
import { env } from "cloudflare:workers";
import { describe, it, vi } from "vitest";
import { createKey } from "../../support/factories.ts";
import { startEachTestAt } from "../../support/worker.ts";
import { browserWith } from "./browser.ts";

startEachTestAt(Date.UTC(2035, 0, 1, 12));

const WEBHOOK = {
  ALERT_WEBHOOK_URL: "https://hooks.example/a",
  ALERT_WEBHOOK_SECRET: `whsec_${btoa("a secret of the webhook, for the tests")}`,
};

describe("the page of a key", () => {
  it("sets a temporary limit until a preset or any other time, shows it, and ends it", async ({ expect }) => {
    const { id } = await createKey({ plan: "pro" });
    const { get, post } = await browserWith(env.ADMIN_TOKEN);
    const page = async () => (await get(`/console/keys/${id}`)).text();
    const [, tomorrow = ""] = /<option value="([^"]+)">Tomorrow/.exec(await page()) ?? [];
    expect(tomorrow).toBe("2035-01-02T00:00:00Z");
    const limits = { requestsPerMinute: "2,000", requestsPerDay: "", until: tomorrow, reason: "" };
    const set = await post(`/console/keys/${id}/limit`, { ...limits, other: "", version: "1" });
    expect(set.status).toBe(303);
    expect(await page()).toContain("2,000 until 2 Jan 2035, 00:00 UTC, then 300 (of the plan)");
    await post(`/console/keys/${id}/limit`, { ...limits, other: "2035-01-03T10:30", version: "2" });
    expect(await page()).toContain("2,000 until 3 Jan 2035, 10:30 UTC, then 300 (of the plan)");
    expect((await post(`/console/keys/${id}/unlimit`, { version: "3" })).status).toBe(303);
    expect(await page()).toContain("<dd>300 (of the plan)</dd>");
  });

  it("shows the form again with what was typed, if it is refused", async ({ expect }) => {
    const { id } = await createKey();
    const { post } = await browserWith(env.ADMIN_TOKEN);
    const refused = await post(`/console/keys/${id}/limit`, {
      requestsPerDay: "77",
      until: "2034-01-01T00:00:00Z",
      reason: "a launch",
    });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toMatch(/must lie in the future.*value="77".*value="a launch"/s);
  });
});

describe("the page of the alerts", () => {
  it("lists them by state, and sends a test alert", async ({ expect }) => {
    const { id } = await createKey();
    vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response("no", { status: 410 }));
    const { get, post } = await browserWith(env.ADMIN_TOKEN, WEBHOOK);
    await post(`/console/keys/${id}/ban`, { amount: "1", unit: "60", reason: "abuse <now>" });
    const shown = async (query = "") => (await get(`/console/alerts${query}`)).text();
    expect(await shown()).toMatch(new RegExp(`href="/console/keys/${id}">Key test [^<]*abuse &lt;now&gt;`));
    expect(await shown("?state=delivered")).not.toContain(id);
    expect(await (await post("/console/alerts/test")).text()).toContain("not delivered: status 410");
  });

  it("says how to configure a webhook where there is none", async ({ expect }) => {
    const { get, post } = await browserWith(env.ADMIN_TOKEN);
    const text = await (await get("/console/alerts")).text();
    expect(text).toContain("ALERT_WEBHOOK_URL");
    expect(text).not.toContain("/console/alerts/test");
    expect((await post("/console/alerts/test")).status).toBe(409);
  });
});
