/** Keys are ticked in *Keys* and on the page of a customer, and changed together, without a script. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey, giveKeys } from "../../support/factories.ts";
import { LIST, startApp, startEachTestAt } from "../../support/worker.ts";
import { operatorOf } from "../admin/admin-support.ts";
import { browserWith, formOn, unescaped } from "./browser.ts";

startEachTestAt(Date.UTC(2035, 0, 1, 12));

const app = startApp();
const operator = operatorOf(app);

async function keysOf(customer: string, count = 2) {
  const keys = await Promise.all(Array.from({ length: count }, () => createKey({ plan: "free" })));
  await operator("POST", "/customers", { name: customer });
  await giveKeys(customer, ...keys.map(({ id }) => id));
  return keys;
}

const statusOf = async (id: string) => (await operator("GET", `/keys/${id}`)).body.status;

describe("the page of a customer", () => {
  it("revokes the ticked keys with one preview, and no other key", async ({ expect }) => {
    const keys = await keysOf("Zoo & Co", 4);
    const other = await createKey();
    const { get, post } = await browserWith(env.ADMIN_TOKEN);
    const path = `/console/customers/${encodeURIComponent("Zoo & Co")}`;
    expect(await (await get(path)).text()).toContain('value="revoke"');
    const typed = new FormData();
    typed.append("change", "revoke");
    for (const { id } of keys) typed.append("ids", id);
    const preview = await (await post(path, typed)).text();
    for (const { id } of keys) expect([preview.includes(id), await statusOf(id)]).toEqual([true, "active"]);
    const done = await post(path, formOn(preview, "Revoke 4 keys").fields);
    expect([done.status, await done.text()]).toEqual([200, expect.stringContaining("is revoked.")]);
    for (const { id, key } of keys)
      expect([await statusOf(id), (await app(LIST, { key })).status]).toEqual(["revoked", 401]);
    expect(await statusOf(other.id)).toBe("active");
  });

  it("changes the ticked keys only, and takes the change back", async ({ expect }) => {
    const [ticked, other] = await keysOf("Ticks");
    const { post } = await browserWith(env.ADMIN_TOKEN);
    const typed = new FormData();
    for (const [name, value] of Object.entries({ change: "plan", plan: "pro" })) typed.append(name, value);
    typed.append("ids", ticked?.id ?? "");
    const preview = await (await post("/console/customers/Ticks", typed)).text();
    expect(preview).toContain("300 a minute, 10,000 a day");
    const done = await (
      await post("/console/customers/Ticks", formOn(preview, "Change 1 key to Pro").fields)
    ).text();
    const planOf = async (id = "") => (await operator("GET", `/keys/${id}`)).body.plan;
    expect([await planOf(ticked?.id), await planOf(other?.id)]).toEqual(["pro", "free"]);
    const undo = formOn(done, "Undo");
    await post(undo.path, undo.fields);
    expect(await planOf(ticked?.id)).toBe("free");
  });

  it("says of a ticked row that is gone what it is", async ({ expect }) => {
    const { post } = await browserWith(env.ADMIN_TOKEN);
    for (const [path, id, says] of [
      ["keys", "key_000000000000", "Ticked rows: no key has the id key_000000000000"],
      ["orders", "no-order", "Ticked rows: must be a list of 1 to 500 ids"],
    ] as const) {
      const form = new FormData();
      form.append("change", "disable");
      form.append("ids", id);
      expect(unescaped(await (await post(`/console/${path}`, form)).text())).toContain(says);
    }
  });
});

describe("the list of keys", () => {
  it("changes all keys of the filter, on whatever page they are", async ({ expect }) => {
    const keys = await keysOf("Many", 52);
    const [other] = await keysOf("Nobody", 1);
    const { get, post } = await browserWith(env.ADMIN_TOKEN);
    const list = "/console/keys?search=Many";
    const page = await (await get(list)).text();
    const next = /href="([^"]*after=[^"]*)"/.exec(page)?.[1]?.replaceAll("&amp;", "&") ?? "";
    expect([
      page.includes('name="all"'),
      (await (await get("/console/keys?search=Nobody")).text()).includes('name="all"'),
    ]).toEqual([true, false]);
    const preview = await (await post(next, { change: "disable", all: "true" })).text();
    await post(next, formOn(preview, "Disable 52 keys").fields);
    const statuses = await Promise.all([...keys, other].map((key) => statusOf(key?.id ?? "")));
    expect(statuses).toEqual([...keys.map(() => "disabled"), "active"]);
  });

  it.for([
    { what: "no tick", fields: { change: "disable" } },
    { what: "no plan", fields: { change: "plan", plan: "", ids: "key_000000000000" } },
    { what: "an unknown change", fields: { change: "toString", ids: "key_000000000000" } },
    { what: "an unknown key", fields: { change: "disable", ids: "key_000000000000" } },
  ])("says what is wrong with $what", async ({ fields }, { expect }) => {
    const { post } = await browserWith(env.ADMIN_TOKEN);
    const typed = new FormData();
    for (const [name, value] of Object.entries(fields)) typed.append(name, value ?? "");
    expect((await post("/console/keys", typed)).status).toBe(400);
  });
});
