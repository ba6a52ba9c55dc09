/** The console's pages of usage and customers. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey } from "../../support/factories.ts";
import { startApp, startEachTestAt } from "../../support/worker.ts";

const NOW = Date.UTC(2037, 8, 30, 12, 30);
const app = startApp();

startEachTestAt(NOW);

async function signedIn() {
  const response = await app("/console/sign-in", {
    method: "POST",
    body: new URLSearchParams({ token: env.ADMIN_TOKEN ?? "", operator: "jo" }),
    headers: { Origin: "https://orders.example" },
    redirect: "manual",
  });
  const Cookie = (response.headers.get("Set-Cookie") ?? "").split(";")[0] ?? "";
  return (path: string) => app(path, { headers: { Cookie } });
}

/** More rows than a page has, each of an owner of its own. */
async function insertCustomers(): Promise<void> {
  for (let i = 0; i < 60; i++) {
    const { id } = await createKey();
    await env.DB.batch([
      env.DB.prepare("update api_keys set name = ?, owner_name = ? where id = ?").bind(
        `n${i}`,
        `o & ${i}`,
        id,
      ),
      env.DB.prepare(
        "insert into usage values (unixepoch('2037-09-30'), ?1, ?2, 0, 0, 100, '[' || ?2 || ']')",
      ).bind(id, i),
    ]);
  }
}

describe("the pages of usage and customers", () => {
  it("show a page of rows that their files have all of, in the CSV of the admin API", async ({ expect }) => {
    await insertCustomers();
    const get = await signedIn();
    const paths = [
      "usage?by=key",
      "usage?by=owner&sort=name",
      "usage?by=plan",
      "usage?by=hour",
      "customers?days=7",
    ];
    for (const path of paths) {
      const html = await (await get(`/console/${path}`)).text();
      const [, link = ""] = /<a class="button" href="([^"]+format=csv)"/.exec(html) ?? [];
      const csv = await get(link.replaceAll("&amp;", "&"));
      expect(csv.headers.get("Content-Disposition"), path).toContain("attachment");
      const sameByApi = await app(`/admin/${path}&format=csv`, { key: env.ADMIN_TOKEN });
      expect(await csv.text(), path).toBe(await sameByApi.text());
      expect(html.includes('rel="next"'), path).toBe(/by=key|by=owner|customers/.test(path));
    }
    const customers = await (await get("/console/customers?sort=admitted")).text();
    expect(customers).toContain('href="/console/keys?search=o+%26+59"');
    const narrowed = await (await get("/console/usage?owner=O+%26+7&from=&to=")).text();
    expect(narrowed).toContain(">n7<");
    expect(narrowed).not.toContain(">n8<");
    expect((await get("/console/usage?from=soon&format=csv")).status).toBe(400);
  });
});
