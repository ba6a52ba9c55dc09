/** The console of somebody who may only read. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import type { Bindings } from "../../../src/worker/context.ts";
import { operatorsApp } from "../../../src/worker/operators.ts";
import { createKey, giveKeys, insertOrders, newOrderId } from "../../support/factories.ts";
import { startApp, startEachTestAt, watchDatabase, watchLimiters } from "../../support/worker.ts";
import { everythingStored } from "../admin/admin-support.ts";
import { browserWith, READ_TOKEN } from "./browser.ts";

startEachTestAt(2_200_000_000_000);

/** Every route, with the ids of what exists. */
async function everyPath(method: string): Promise<string[]> {
  const [key, orderId] = [await createKey(), newOrderId()];
  await insertOrders({ id: orderId });
  const customer = await giveKeys(`customer of ${key.id}`, key.id);
  const ids = new Map([
    ["plans", "free"],
    ["orders", orderId],
    ["customers", customer],
  ]);
  await env.DB.prepare("insert into owner_links values (?, 'h', ?, 1, 'mo', 2200009000, null)")
    .bind(key.id, customer)
    .run();
  const paths = operatorsApp()
    .routes.filter((route) => route.method === method && /^\/console(\/|$)/.test(route.path))
    .map(({ path }) => path.replace(/:\w+/, ids.get(path.split("/")[2] ?? "") ?? key.id));
  return paths.filter((path) => !/[{:]/.test(path));
}

describe("a session that began with the read token", () => {
  it("shows every page without a form that changes, and says that it only reads", async ({ expect }) => {
    const { get } = await browserWith(READ_TOKEN);
    const paths = await everyPath("GET");
    expect(paths.length).toBeGreaterThan(8);
    for (const path of paths) {
      const response = await get(path);
      if (response.status === 302) continue; // the form for signing in
      const text = await response.text();
      if (response.status === 403) {
        expect(text, path).toContain("You may read here");
        const [, without = ""] = /href="([^"]*)">The page without the form</.exec(text) ?? [];
        expect((await get(without)).status, path).toBe(200);
        continue;
      }
      expect(response.status, path).toBe(200);
      if (/\/openapi\.json$/.test(path)) continue;
      const actions = [...text.matchAll(/<form method="post" action="([^"]*)"/g)].map(([, action]) => action);
      const changing = actions.filter((action) => action !== "/console/find");
      expect([changing, text.includes(">read only<")], path).toEqual([["/console/sign-out"], true]);
    }
    const ofOperator = await (await browserWith(env.ADMIN_TOKEN)).get("/console");
    expect(await ofOperator.text()).not.toContain(">read only<");
  });

  it("gets a 403 to every form that changes, before anything is read", async ({ expect }) => {
    const allowed = ["/console/sign-in", "/console/sign-out", "/console/find"];
    const paths = (await everyPath("POST")).filter((path) => !allowed.includes(path));
    expect(paths.length).toBeGreaterThan(9);
    const [database, limiters] = [watchDatabase(), watchLimiters()];
    const { post } = await browserWith(READ_TOKEN, { DB: database.DB, KEY_LIMITER: limiters.KEY_LIMITER });
    const before = await everythingStored();
    for (const path of [...paths, "/console/nothing"]) {
      const response = await post(path, { name: "changed", sure: "true" });
      expect(response.status, path).toBe(403);
      expect(await response.text(), path).toContain("You may read here, and change nothing.");
    }
    const queries = database.queries().filter((sql) => !sql.includes("console_sessions"));
    expect([queries, limiters.addressed()]).toEqual([[], []]);
    expect(await everythingStored()).toEqual(before);
  });

  it("ends when the read token is replaced, and only then", async ({ expect }) => {
    const another = "another-token-of-32-characters-or-more";
    const reader = await browserWith(READ_TOKEN);
    const operator = await browserWith(env.ADMIN_TOKEN);
    const shows = async (cookie: string, replaced: Partial<Bindings>) => {
      const app = startApp({ ADMIN_READ_TOKEN: READ_TOKEN, ...replaced });
      const text = await (await app("/console", { headers: { Cookie: cookie } })).text();
      return /<h1>(.*)<\/h1>/.exec(text)?.[1];
    };
    expect(await shows(reader.cookie, { ADMIN_READ_TOKEN: another })).toBe("Sign in");
    expect(await shows(reader.cookie, { ADMIN_TOKEN: another })).toBe("Overview");
    expect(await shows(operator.cookie, { ADMIN_READ_TOKEN: another })).toBe("Overview");
    expect(await shows(operator.cookie, { ADMIN_TOKEN: another })).toBe("Sign in");
  });
});
