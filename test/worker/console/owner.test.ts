/** The page of owners: what a link opens, what it does not, and how it ends (ADR-34). */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import {
  LIST,
  limiters,
  log,
  setClock,
  startApp,
  startEachTestAt,
  watchDatabase,
  watchLimiters,
} from "../../support/worker.ts";
import { operatorOf } from "../admin/admin-support.ts";
import { formOn } from "./browser.ts";

const T0 = Date.UTC(2038, 1, 1, 10);
const DAY_MS = 86_400_000;
const app = startApp();
const operator = operatorOf(app);

startEachTestAt(T0);

let customers = 0;

/** A customer with a key and a link. Each has a name of its own, as limits are the customer's. */
async function customer({ days = 7 } = {}) {
  const owner = `Shop ${++customers}`;
  const key = (
    await operator("POST", "/keys", { name: `backend ${customers}`, plan: "free", ownerName: owner })
  ).body;
  const made = await operator("POST", "/links", { owner, days });
  const code = String(made.body.link).split("#")[1] ?? "";
  return { owner, key, link: made.body, code };
}

const post = (path: string, fields: Record<string, string>, headers: HeadersInit = {}, of = app) =>
  of(path, {
    method: "POST",
    body: new URLSearchParams(fields),
    headers: { Origin: "https://orders.example", ...headers },
    redirect: "manual",
  });

async function open(code: string) {
  const response = await post("/owner", { code });
  const Cookie = (response.headers.get("Set-Cookie") ?? "").split(";")[0] ?? "";
  const get = async () => {
    const page = await app("/owner", { headers: { Cookie } });
    return { status: page.status, text: await page.text() };
  };
  return {
    response,
    Cookie,
    get,
    post: (path: string, fields: Record<string, string>) => post(path, fields, { Cookie }),
  };
}

describe("a link", () => {
  it("opens the keys of its customer, and of nobody else, without any secret or note", async ({ expect }) => {
    const [mine, other] = [await customer(), await customer()];
    await operator("PATCH", `/keys/${mine.key.id}`, { note: "pays late", mayCancel: false });
    const limits = { requestsPerDay: 5, days: 2, reason: "a fair" };
    await operator("POST", `/keys/${mine.key.id}/temporary-limits`, limits);
    const tooEarly = (T0 - (T0 % DAY_MS) - 30 * DAY_MS) / 1000;
    const insert = env.DB.prepare("insert into usage values (?, ?, 7, 0, 0, 100, '[7]')");
    await insert.bind(tooEarly, mine.key.id).run();
    await operator("PUT", `/keys/${other.key.id}/ban`, { seconds: 60, reason: "abuse" });
    for (let i = 0; i < 6; i++) await app(LIST, { key: String(mine.key.key) });
    await app(LIST, { key: String(other.key.key) });
    const { response, get } = await open(`https://orders.example/owner#${mine.code}`);
    expect([response.status, response.headers.get("Location")]).toEqual([303, "/owner"]);
    expect(response.headers.get("Set-Cookie")).toContain("; Max-Age=43200; ");
    const { status, text } = await get();
    expect(status).toBe(200);
    expect(text).toContain(`backend ${customers - 1}`);
    expect(text).toContain(`<code>${String(mine.key.key).slice(-4)}</code>`);
    for (const shown of ["</strong> of 5<", "3 Feb 2038, 00:00 UTC", "not cancelled"])
      expect(text, shown).toContain(shown);
    expect(text).toMatch(/: 5 answered, 1 refused/);
    expect(text).toContain("The limit per day, now 5, was used up");
    expect(text).toMatch(/\b0 during bans/);
    const name = String(other.key.name);
    for (const hidden of [other.owner, name, "pays late", String(mine.key.key), mine.code, '"/console'])
      expect(text, hidden).not.toContain(hidden);
  });

  it("opens the keys that are left of many with their use, and none that is revoked", async ({ expect }) => {
    const { owner, key, code } = await customer();
    await operator("PATCH", `/keys/${key.id}`, { name: "z of today" });
    await app(LIST, { key: String(key.key) });
    const others = Array.from({ length: 60 }, async (_, i) =>
      operator("POST", "/keys", { name: `a ${i}`, plan: "free", ownerName: owner }),
    );
    const ids = (await Promise.all(others)).map(({ body }) => body.id);
    const { get } = await open(code);
    const { text: all } = await get();
    await operator("POST", "/keys/revoke", { ids: ids.slice(10) });
    const { text } = await get();
    expect([all, text].map((page) => page.includes("The first 50 keys"))).toEqual([true, false]);
    expect(text.split("z of today")[1]).toContain("<strong>1</strong> of 1,000");
    expect(text).not.toContain("a 49");
  });

  it("says bans in words, without the operator's reason", async ({ expect }) => {
    const { key, code } = await customer();
    await operator("PUT", `/keys/${key.id}/ban`, { seconds: 3_600, reason: "sends rubbish" });
    const { text } = await (await open(code)).get();
    expect(text).toMatch(/Requests of this key are refused until <time[^>]*>1 Feb 2038, 11:00 UTC/);
    expect(text).toContain("by an operator");
    expect(text).toContain("Make a new secret");
    expect(text).not.toContain("rubbish");
    setClock(T0 + 600_000);
    await operator("DELETE", `/keys/${key.id}/ban`);
    const lifted = (await (await open(code)).get()).text;
    expect(lifted).toContain("10:10 UTC");
    expect(lifted).not.toContain("11:00 UTC");
  });

  it("rotates a secret with a grace, and the audit log says who", async ({ expect }) => {
    const { key, owner, code } = await customer();
    const { get, post } = await open(code);
    const { fields, path } = formOn((await get()).text, "Make a new secret");
    for (const graceSeconds of ["0", "", "60", "2592000"])
      expect((await post(path, { ...fields, graceSeconds })).status, graceSeconds).toBe(400);
    const done = await post(path, { ...fields, graceSeconds: "3600" });
    const fresh = /sok_\w{45}/.exec(await done.text())?.[0] ?? "";
    const statusOf = async (secret: string) => (await app("/v1/none", { key: secret })).status;
    expect(await statusOf(fresh)).toBe(404);
    expect((await get()).text).toContain(`<code>${String(key.key).slice(-4)}</code>, valid until`);
    const { audit } = (await operator("GET", `/audit?object=${key.id}&call=keys.rotate`)).body;
    expect(audit).toMatchObject([{ actor: `owner (${owner})` }]);
    // D1 counts the grace by its own clock.
    const left =
      "select expires_at - unixepoch() as left from key_secrets where key_id = ? and expires_at is not null";
    const seconds = await env.DB.prepare(left).bind(key.id).first<number>("left");
    expect(seconds).toBeGreaterThan(3_500);
    expect(seconds).toBeLessThanOrEqual(3_600);
    expect((await post(path, { ...fields, graceSeconds: "3600" })).status, "sent again").toBe(400);
  });

  it("rotates no key of another customer, and none that was given away", async ({ expect }) => {
    const [mine, other] = [await customer(), await customer()];
    const { get, post } = await open(mine.code);
    const { fields, path } = formOn((await get()).text, "Make a new secret");
    const sent = { ...fields, graceSeconds: "3600" };
    expect((await post(path, { ...sent, key: other.key.id })).status).toBe(404);
    expect((await post(path, { ...sent, key: `backend ${customers}` })).status).toBe(404);
    await operator("PATCH", `/keys/${mine.key.id}`, { ownerName: other.owner });
    expect((await post(path, sent)).status).toBe(404);
    expect((await get()).text).toContain("You have no key");
  });

  it("ends after its days, and at once when it is revoked, for whoever has it open", async ({ expect }) => {
    const short = await customer({ days: 1 });
    const revoked = await customer();
    const [ofShort, ofRevoked] = [await open(short.code), await open(revoked.code)];
    expect((await operator("DELETE", `/links/${revoked.link.id}`)).status).toBe(200);
    expect((await operator("DELETE", `/links/${revoked.link.id}`)).status).toBe(404);
    setClock(T0 + DAY_MS - 1_000);
    expect((await ofShort.get()).status).toBe(200);
    expect((await ofRevoked.get()).status).toBe(401);
    setClock(T0 + DAY_MS);
    expect((await ofShort.get()).status).toBe(401);
    for (const late of [ofShort.post("/owner/rotate", {}), post("/owner/rotate", {})]) {
      const page = await late;
      expect([page.status, await page.text()]).toEqual([401, expect.stringContaining("Nothing was done")]);
    }
    expect((await open(short.code)).Cookie).toBe("");
    for (const { owner } of [short, revoked]) {
      const { links } = (await operator("GET", `/links?owner=${encodeURIComponent(owner)}`)).body;
      expect(links, owner).toEqual([]);
    }
  });

  it("leaves no cookie and no page for Back when its page is closed", async ({ expect }) => {
    const { headers } = await (await open((await customer()).code)).post("/owner/leave", {});
    expect(headers.get("Clear-Site-Data")).toBe('"cache"');
    expect(headers.get("Set-Cookie")).toMatch(/^__Host-owner=; Max-Age=0;/);
    for (const again of ["/owner/leave", "/owner/rotate"])
      expect((await app(again, { redirect: "manual" })).headers.get("Location")).toBe("/owner");
  });

  it("is stored as a hash, and is in no log and no list", async ({ expect }) => {
    const { code, owner, link } = await customer();
    await (await open(code)).get();
    const { results } = await env.DB.prepare("select * from owner_links").all();
    const { text } = await operator("GET", `/links?owner=${encodeURIComponent(owner.toUpperCase())}`);
    expect(text).toContain(link.id);
    const { text: audit } = await operator("GET", "/audit?call=links.create");
    for (const place of [JSON.stringify(results), text, audit, log.text()])
      expect(place).not.toContain(code.slice(4));
    expect(log.text()).not.toContain(owner);
  });

  it("is for an owner who has keys, for 1 to 90 days", async ({ expect }) => {
    const [{ owner }, former] = [await customer(), await customer()];
    await operator("DELETE", `/keys/${former.key.id}`);
    for (const none of ["nobody", former.owner])
      expect((await operator("POST", "/links", { owner: none, days: 7 })).status, none).toBe(404);
    for (const days of [0, 91, 1.5])
      expect((await operator("POST", "/links", { owner, days })).status).toBe(400);
  });
});

describe("a request without a link", () => {
  it("that invents a code costs no query and no call of an object", async ({ expect }) => {
    const { code } = await customer();
    const [database, { KEY_LIMITER, addressed }] = [watchDatabase(), watchLimiters()];
    const OWNER_LIMITER = limiters(() => {
      throw new Error("an object was called");
    }) as never; // no code reaches the object
    const isolate = startApp({ DB: database.DB, KEY_LIMITER, OWNER_LIMITER });
    await post("/owner", { code: `sol_${"a".repeat(40)}` }, {}, isolate); // reads the MAC keys
    database.queries();
    for (const invented of [
      `${code.slice(0, -1)}!`,
      code.replace(/.$/, (last) => (last === "a" ? "b" : "a")),
      "",
      "sol_",
    ]) {
      const response = await post("/owner", { code: invented }, {}, isolate);
      expect(response.status).toBe(401);
      expect((await isolate("/owner", { headers: { Cookie: `__Host-owner=${invented}` } })).status).toBe(401);
    }
    expect(database.queries()).toEqual([]);
    expect(addressed()).toEqual([]);
    expect((await post("/owner", { code }, {}, isolate)).status).toBe(503);
  });

  it("gets the field for the link, and an address with a code opens nothing", async ({ expect }) => {
    const { code } = await customer();
    for (const path of ["/owner", `/owner?code=${code}`]) {
      const response = await app(path);
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('name="code"')]);
      expect(response.headers.get("Cache-Control")).toBe("no-store");
    }
    expect((await post("/owner", { code: code + "x".repeat(100_000) })).status).toBe(413);
  });

  it("of another site changes nothing", async ({ expect }) => {
    const { code } = await customer();
    const { get, Cookie } = await open(code);
    const { fields, path } = formOn((await get()).text, "Make a new secret");
    for (const headers of [{ Origin: "https://evil.example" }, { "Sec-Fetch-Site": "same-site" }]) {
      const sent = await post(path, { ...fields, graceSeconds: "3600" }, { Cookie, ...headers });
      expect(sent.status).toBe(403);
      expect((await post("/owner", { code }, headers)).status).toBe(403);
    }
  });
});

describe("the limit of a customer", () => {
  it("is shared by the links of the customer, and by no other", async ({ expect }) => {
    const mine = await customer();
    const second = String((await operator("POST", "/links", { owner: mine.owner, days: 1 })).body.link);
    const { get } = await open(mine.code);
    const { get: again } = await open(second);
    const statuses = [];
    for (let i = 0; i < 28; i++) statuses.push((await get()).status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const { status, text } = await again();
    expect([status, text]).toEqual([429, expect.stringContaining("opened too often")]);
    const other = await open((await customer()).code);
    expect((await other.get()).status).toBe(200);
    setClock(T0 + 60_000);
    expect((await again()).status).toBe(200);
  });
});
