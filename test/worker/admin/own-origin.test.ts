/** A page of another site, whose requests a browser sends with the cookies of the operator. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { sign, startTeam } from "../../support/access-team.ts";
import { createKey } from "../../support/factories.ts";
import { log, startApp } from "../../support/worker.ts";
import { browserWith } from "../console/browser.ts";

const OTHER_SITES = [
  { Origin: "https://attacker.example" },
  { Origin: "null" },
  { Origin: "http://orders.example" },
  { "Sec-Fetch-Site": "cross-site" },
  { Origin: "https://other.orders.example", "Sec-Fetch-Site": "same-site" },
];
const OWN = [
  { Origin: "https://orders.example", "Sec-Fetch-Site": "same-origin" },
  { "Sec-Fetch-Site": "none" },
];

/** Each credential, as the headers that carry it, and an app that accepts it. */
async function everyCredential() {
  const team = await startTeam();
  const assertion = await sign(team.domain, await team.addKey("k1"), "k1");
  return {
    app: startApp(team.bindings),
    access: { "Cf-Access-Jwt-Assertion": assertion },
    session: { Cookie: (await browserWith(env.ADMIN_TOKEN)).cookie },
    token: { Authorization: `Bearer ${env.ADMIN_TOKEN}` },
  };
}

describe("a page of another site", () => {
  it("changes nothing through /admin and /console, whatever it sends", async ({ expect }) => {
    const { app, access, session, token } = await everyCredential();
    const { id } = await createKey();
    const changes = [
      ["POST", `/admin/keys/${id}/revoke`, access],
      ["PATCH", `/admin/keys/${id}`, access],
      ["POST", `/admin/keys/${id}/revoke`, token],
      ["POST", `/console/keys/${id}/revoke`, access],
      ["POST", `/console/keys/${id}/revoke`, session],
      ["POST", "/console/sign-in", {}],
      ["POST", "/console/sign-out", session],
    ] as const;
    for (const site of OTHER_SITES) {
      for (const type of [
        "application/x-www-form-urlencoded",
        "application/json",
        "application/csp-report",
      ]) {
        for (const [method, path, credential] of changes) {
          const headers = { ...site, ...credential, "Content-Type": type };
          const answer = await app(path, { method, headers, body: "", redirect: "manual" });
          expect([answer.status, await answer.text()], `${method} ${path}`).toEqual([
            403,
            expect.stringContaining("A page of another site sent this."),
          ]);
        }
      }
    }
    const requests = log.lines().filter(({ status }) => status === 403);
    expect(requests.every(({ reason }) => reason === "another site")).toBe(true);
    expect(log.text()).not.toContain("request_failed");
    const status = await env.DB.prepare("select status from api_keys where id = ?").bind(id).first("status");
    expect(status).toBe("active");
  });

  it("reads nothing of /admin with the cookie of Access, and may link to the console", async ({ expect }) => {
    const { app, access, session } = await everyCredential();
    for (const headers of OTHER_SITES) {
      const read = await app("/admin/plans", { headers: { ...headers, ...access } });
      expect([read.status, read.headers.get("Cross-Origin-Resource-Policy")]).toEqual([403, "same-origin"]);
      expect((await app("/console/plans", { headers: { ...headers, ...session } })).status).toBe(200);
    }
  });
});

it("the own pages, and programs, read and change", async ({ expect }) => {
  const { app, access, token } = await everyCredential();
  const body = JSON.stringify({ name: "new", plan: "free" });
  for (const credential of [access, token]) {
    for (const own of [...OWN, {}]) {
      const headers = { ...own, ...credential };
      expect((await app("/admin/plans", { headers })).status).toBe(200);
      expect((await app("/admin/keys", { method: "POST", headers, body })).status).toBe(201);
    }
  }
});
