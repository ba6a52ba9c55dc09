/** The field that finds keys, customers, orders and pages. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { maskKey } from "../../../src/worker/key/key.ts";
import { createKey, giveKeys, insertOrders } from "../../support/factories.ts";
import { startEachTestAt, watchDatabase } from "../../support/worker.ts";
import { browserWith, formOn, unescaped } from "./browser.ts";

startEachTestAt(Date.UTC(2037, 8, 30, 12, 30));

type Found = { readonly kind: string; readonly name: string; readonly href: string };

async function namedKey(name: string, customer: string) {
  const key = await createKey();
  await env.DB.prepare("update api_keys set name = ? where id = ?").bind(name, key.id).run();
  await env.DB.prepare("update customers set search = name_key where id = ?")
    .bind(await giveKeys(customer, key.id))
    .run();
  return key;
}

async function finder(database = watchDatabase()) {
  const { get, post } = await browserWith(env.ADMIN_TOKEN, { DB: database.DB });
  const found = async (text: string): Promise<Found[]> => {
    const page = await (await get(`/console/find?text=${encodeURIComponent(text)}`)).text();
    const things = page.matchAll(/<li><span class="muted">(\w+)<\/span> <a href="([^"]*)">([^<]*)</g);
    return [...things].map(([, kind = "", href = "", name = ""]) => ({ kind, name: unescaped(name), href }));
  };
  return { get, post, found };
}

type Texts = { readonly key: string; readonly code: string; readonly cookie: string };
type Told = [what: string, textOf: (texts: Texts) => string, says: RegExp];

const wrong = (key: string) => `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;

describe("one field", () => {
  it("finds keys and their customer, and an order", async ({ expect }) => {
    const names = ["paws-co free", "paws-co pro"];
    const keys = await Promise.all(names.map((name) => namedKey(name, "Paws & Co")));
    await insertOrders({ id: "4711" });
    const { found } = await finder();
    expect((await found("PAWS")).map(({ kind, name, href }) => [kind, name, href])).toEqual([
      ...names.map((name, i) => ["key", name, `/console/keys/${keys[i]?.id}`]),
      ["customer", "Paws & Co", expect.stringContaining("/console/customers/cus_")],
    ]);
    expect((await found("4711"))[0]).toMatchObject({ kind: "order", href: "/console/orders/4711" });
  });

  it("finds a customer by the name without its accents, and not by the name of a key", async ({ expect }) => {
    const { found, post } = await finder();
    const key = { name: "Müller's key", plan: "free", customer: "Café Crème" };
    expect((await post("/console/keys/new", key)).status).toBe(200);
    const customersWith = async (text: string) =>
      (await found(text)).filter(({ kind }) => kind === "customer").map(({ name }) => name);
    expect(await customersWith("cafe creme")).toEqual(["Café Crème"]);
    expect(await customersWith("muller")).toEqual([]);
  });

  it("finds where one does something, cancelled orders, links, and customers by their address first", async ({
    expect,
  }) => {
    const { found, post } = await finder();
    const fields = { name: "ops@found.example key", plan: "free", customer: "Found Ltd" };
    await post("/console/keys/new", fields);
    await env.DB.batch([
      env.DB.prepare(
        "update customers set search = name_key || char(10) || 'ops@found.example' where name = 'Found Ltd'",
      ),
      env.DB.prepare(
        "insert into cancelled_orders (order_id, cancelled_at, cancelled_by, request_id) values (4712, 0, 'key_gone', 'x')",
      ),
      env.DB.prepare(
        "insert into owner_links select 'link_5e9d1f0a7b3c2d48', 'hash', id, 0, 'mo', 9000000000, null from customers where name = 'Found Ltd'",
      ),
    ]);
    const hrefsOf = async (text: string) => (await found(text)).map(({ kind, href }) => [kind, href]);
    for (const [text, href] of [
      ["revoke", "/console/keys"],
      ["Webhook", "/console/alerts"],
      ["429", "/console/usage?sort=refused"],
      ["leak", "/console/keys"],
    ] as const)
      expect((await hrefsOf(text))[0], text).toEqual(["do", href]);
    for (const text of ["4712", "#4712", "order 4712"])
      expect(await hrefsOf(text), text).toEqual([["cancelled", "/console/orders/cancelled"]]);
    expect((await hrefsOf("link_5e9d1f0a7b3c2d48"))[0]?.[1]).toMatch(
      /^\/console\/customers\/cus_\w+\/links$/,
    );
    expect((await found("ops@found.example")).map(({ kind }) => kind)).toEqual(["customer", "key"]);
  });

  it("leads to the only thing, and else to a page with all of them", async ({ expect }) => {
    const { id, key } = await namedKey("only", "One & Co");
    const { get, post } = await finder();
    const leadsTo = async (text: string) => (await post("/console/find", { text })).headers.get("Location");
    expect(await leadsTo("only")).toBe(`/console/keys/${id}`);
    expect(await leadsTo(`Bearer ${key}`)).toBe(`/console/keys/${id}`);
    expect(await leadsTo("one & co")).toBe("/console/find?text=one+%26+co");
    const text = await (await get("/console/find?text=one+%26+co")).text();
    expect(text).toContain(`href="/console/keys/${id}"`);
    expect(text).toMatch(/href="\/console\/customers\/cus_\w+">One &amp; Co/);
  });

  it("leads to customers whose names browsers take for steps, and to their links", async ({ expect }) => {
    await namedKey("steps", "..");
    const { get, post, found } = await finder();
    const href = (await found("..")).find(({ kind }) => kind === "customer")?.href ?? "";
    expect(await (await get(href)).text()).toContain(`href="${href}/links"`);
    expect((await post(`${href}/links`, { days: "0" })).status).toBe(400);
    const made = await (await post(`${href}/links`, { days: "1" })).text();
    expect(made).toContain("The link is shown once");
    const { fields } = formOn(await (await get(`${href}/links`)).text(), "Revoke");
    expect(await (await post(`${href}/links`, fields)).text()).toContain("No link can be used now");
  });

  it.for([
    ["a secret whose key was deleted", ({ key }) => key, /The service made this secret, but no key has it/],
    ["a secret with a wrong character", ({ key }) => wrong(key), /The service never made this secret/],
    ["a part of a secret", ({ key }) => key.slice(0, 40), /a part of a secret/],
    [
      "a masked secret that no key has",
      ({ key }) => maskKey(key),
      /No key has a secret that ends in \w{4}\./,
    ],
    ["a link", ({ code }) => `https://x.example/owner#${code}`, /the code of an owner's link/],
    ["a part of a link's code", ({ code }) => code.slice(0, 20), /a part .* the code of a link/],
    ["a session's cookie", ({ cookie }) => cookie, /the cookie of a session/],
    ["its value", ({ cookie }) => cookie.split("=")[1] ?? "", /the cookie of a session/],
  ] satisfies readonly Told[])(
    "says what it was given, and repeats no secret: %s",
    async ([what, textOf, says], { expect }) => {
      const { cookie, get, post } = await browserWith(env.ADMIN_TOKEN);
      const { id, key } = await createKey();
      for (const [table, column] of Object.entries({ key_secrets: "key_id", api_keys: "id" }))
        await env.DB.prepare(`delete from ${table} where ${column} = ?`).bind(id).run();
      const text = textOf({ key, code: `sol_${"a1".repeat(20)}`, cookie });
      const response = await post("/console/find", { text });
      const location = response.headers.get("Location");
      const page = unescaped(await (location === null ? response : await get(location)).text());
      expect(page).toMatch(says);
      if (!what.includes("masked")) expect([location, page.includes(text)]).toEqual([null, false]);
    },
  );

  it("asks the database for few rows, however many fit", async ({ expect }) => {
    for (let i = 0; i < 30; i++) await namedKey(`many ${i}`, `many ${i}`);
    const database = watchDatabase();
    const { found } = await finder(database);
    expect((await found("many")).length).toBeLessThan(20);
  });
});
