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
import { wrapDatabase } from "../../support/wrap-database.ts";
import { operatorOf } from "../admin/admin-support.ts";
import { browserWith, formOn, setClockToD1 } from "./browser.ts";

const T0 = Date.UTC(2038, 1, 1, 10);
const DAY_MS = 86_400_000;
const app = startApp();
const operator = operatorOf(app);

startEachTestAt(T0);

let customers = 0;

/** A customer with a key and a link. Each has a name of its own, as limits are the customer's. */
async function customer({ days = 7 } = {}) {
  const name = `Shop ${++customers}`;
  const { id } = (await operator("POST", "/customers", { name })).body;
  const key = { name: `backend ${customers}`, plan: "free", customer: name };
  const { body } = await operator("POST", "/keys", key);
  const made = await operator("POST", "/links", { customer: name, days });
  const code = String(made.body.link).split("#")[1] ?? "";
  return { id, name, key: body, link: made.body, code };
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
    const insert = env.DB.prepare("insert into usage values (?, ?, ?, 'free', 7, 0, 0, 100, '{}', '[7]')");
    await insert.bind(tooEarly, mine.key.id, mine.id).run();
    await operator("PUT", `/keys/${other.key.id}/ban`, { seconds: 60, reason: "abuse" });
    for (let i = 0; i < 6; i++) await app(LIST, { key: String(mine.key.key) });
    await app(LIST, { key: String(other.key.key) });
    const { response, get, Cookie } = await open(`https://orders.example/owner#${mine.code}`);
    expect([response.status, response.headers.get("Location")]).toEqual([303, "/owner"]);
    expect(response.headers.get("Set-Cookie")).toContain("; Max-Age=43200; ");
    const { status, text } = await get();
    expect(status).toBe(200);
    expect(text).toContain(`backend ${customers - 1}`);
    expect(text).toContain(`<code>${String(mine.key.key).slice(-4)}</code>`);
    for (const shown of [
      "<dd>Free</dd>",
      'href="/docs"',
      "history of this browser",
      "</strong> of 5<",
      "3 Feb 2038, 00:00 UTC",
      "not cancelled",
    ])
      expect(text, shown).toContain(shown);
    expect(text).toMatch(/: 5 answered, 1 refused/);
    expect(text).toContain("The limit per day, now 5, was used up");
    expect(text).toMatch(/\b0 during bans/);
    const ofSupport = startApp({ SUPPORT_CONTACT: "help@orders.example" });
    const page = await ofSupport("/owner", { headers: { Cookie } });
    expect(await page.text()).toContain('href="mailto:help@orders.example"');
    const keyName = String(other.key.name);
    for (const hidden of [other.name, keyName, "pays late", String(mine.key.key), mine.code, '"/console'])
      expect(text, hidden).not.toContain(hidden);
  });

  it("opens the keys that are left of many with their use, and none that is revoked", async ({ expect }) => {
    const { name, key, code } = await customer();
    await operator("PATCH", `/keys/${key.id}`, { name: "z of today" });
    await app(LIST, { key: String(key.key) });
    const others = Array.from({ length: 60 }, async (_, i) =>
      operator("POST", "/keys", { name: `a ${i}`, plan: "free", customer: name }),
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

  it("shows the limit of all keys together, if there is one, with its use", async ({ expect }) => {
    const { id, key, code } = await customer();
    const { get } = await open(code);
    expect((await get()).text).not.toContain("all your keys");
    await operator("PATCH", `/customers/${id}`, { requestsPerDay: 9 });
    for (let i = 0; i < 2; i++) await app(LIST, { key: String(key.key) });
    expect((await get()).text).toMatch(/Today, all your keys<\/h2><p><strong>2<\/strong> of 9</);
  });

  it("rotates a secret with a grace, and the audit log says who", async ({ expect }) => {
    await setClockToD1();
    const { id, key, code } = await customer();
    expect((await app("/v1/none", { key: String(key.key) })).status).toBe(404);
    const { get, post } = await open(code);
    const { fields, path } = formOn((await get()).text, "Make a new secret");
    for (const graceSeconds of ["0", "", "60", "2592000"])
      expect((await post(path, { ...fields, graceSeconds })).status, graceSeconds).toBe(400);
    const done = await post(path, { ...fields, graceSeconds: "3600" });
    const fresh = /sok_\w{45}/.exec(await done.text())?.[0] ?? "";
    const statusOf = async (secret: string) => (await app("/v1/none", { key: secret })).status;
    expect(await statusOf(fresh)).toBe(404);
    const old = `<code>${String(key.key).slice(-4)}</code>`;
    expect((await get()).text).toContain(`${old}, used in this minute, valid until`);
    const { audit } = (await operator("GET", `/audit?object=${key.id}&call=keys.rotate`)).body;
    expect(audit).toMatchObject([{ actor: `owner (${id})` }]);
    // D1 counts the grace by its own clock.
    const left =
      "select expires_at - unixepoch() as left from key_secrets where key_id = ? and expires_at is not null";
    const seconds = await env.DB.prepare(left).bind(key.id).first<number>("left");
    expect(seconds).toBeGreaterThan(3_500);
    expect(seconds).toBeLessThanOrEqual(3_600);
    expect((await post(path, { ...fields, graceSeconds: "3600" })).status, "sent again").toBe(400);
    setClock(Date.now() + 3_700_000);
    expect((await get()).text).not.toContain(old);
  });

  it("rotates no key of another customer, and none that was given away", async ({ expect }) => {
    const [mine, other] = [await customer(), await customer()];
    const { get, post } = await open(mine.code);
    const { fields, path } = formOn((await get()).text, "Make a new secret");
    const sent = { ...fields, graceSeconds: "3600" };
    expect((await post(path, { ...sent, key: other.key.id })).status).toBe(404);
    expect((await post(path, { ...sent, key: `backend ${customers}` })).status).toBe(404);
    await operator("POST", "/keys", { name: "stays", plan: "free", customer: mine.name });
    await operator("PATCH", `/keys/${mine.key.id}`, { customer: other.name });
    expect((await post(path, sent)).status).toBe(404);
    expect((await get()).text).toContain("stays");
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
    for (const { name } of [short, revoked]) {
      const { links } = (await operator("GET", `/links?customer=${encodeURIComponent(name)}`)).body;
      expect(links, name).toEqual([]);
    }
  });

  it("has ended if the clock of the database says so, and that of the isolate is behind", async ({
    expect,
  }) => {
    setClock(Date.UTC(2020, 0, 1));
    expect((await open((await customer()).code)).response.status).toBe(401);
  });

  it("leaves no cookie and no page for Back when its page is closed", async ({ expect }) => {
    const { headers } = await (await open((await customer()).code)).post("/owner/leave", {});
    expect(headers.get("Clear-Site-Data")).toBe('"cache"');
    expect(headers.get("Set-Cookie")).toMatch(/^__Host-owner=; Max-Age=0;/);
    for (const again of ["/owner/leave", "/owner/rotate"])
      expect((await app(again, { redirect: "manual" })).headers.get("Location")).toBe("/owner");
  });

  it("is stored as a hash, and is in no log and no list", async ({ expect }) => {
    const { code, name, link } = await customer();
    await (await open(code)).get();
    const { results } = await env.DB.prepare("select * from owner_links").all();
    const { text } = await operator("GET", `/links?customer=${encodeURIComponent(name.toUpperCase())}`);
    expect(text).toContain(link.id);
    const { text: audit } = await operator("GET", "/audit?call=links.create");
    for (const place of [JSON.stringify(results), text, audit, log.text()])
      expect(place).not.toContain(code.slice(4));
    expect(log.text()).not.toContain(name);
  });

  it("says when it was last opened, for one write a minute", async ({ expect }) => {
    const { id, name, code } = await customer();
    const database = watchDatabase();
    const watched = startApp({ DB: database.DB });
    const isWrite = /^\s*(insert|update|delete)/i;
    const listed = async () =>
      (await operator("GET", `/links?customer=${encodeURIComponent(name)}`)).body.links;
    const openAt = async (seconds: number) => {
      setClock(T0 + seconds * 1000);
      const { status } = await watched("/owner", { headers: { Cookie: `__Host-owner=${code}` } });
      return [status, database.queries().filter((sql) => isWrite.test(sql)).length];
    };
    expect(await listed()).toMatchObject([{ openedAt: null }]);
    expect([await openAt(5), await openAt(59), await openAt(61)]).toEqual([
      [200, 1],
      [200, 0],
      [200, 1],
    ]);
    expect(await listed()).toMatchObject([{ openedAt: "2038-02-01T10:01:00Z" }]);
    const page = await browserWith(env.ADMIN_TOKEN);
    const links = await (await page.get(`/console/customers/${id}/links`)).text();
    expect(links).toContain("1 Feb 2038, 10:01 UTC");
    database.failWith("D1_ERROR: Exceeded maximum DB size", isWrite);
    expect(await openAt(121)).toEqual([200, 1]);
  });

  it("is in the log with the network of whoever opens it, uses it, or is refused", async ({ expect }) => {
    const { code, link } = await customer();
    const { Cookie } = await open(code);
    await post("/owner/rotate", {}, { Cookie });
    for (const wrong of ["none", `sol_${"a".repeat(40)}`]) await post("/owner", { code: wrong });
    await operator("DELETE", `/links/${link.id}`);
    await post("/owner/rotate", {}, { Cookie });
    await post("/owner/rotate", {});
    const lines = log.lines().filter(({ route }) => String(route).startsWith("/owner"));
    const of = { network: "unknown" }; // a request of a test has no address
    expect(lines).toMatchObject([
      { ...of, status: 303, operator: link.id },
      { ...of, status: 400, operator: link.id },
      ...["malformed", "invented", "link_ended", "missing"].map((reason) => ({ ...of, status: 401, reason })),
    ]);
  });

  it("is for a customer who has keys, for 1 to 90 days", async ({ expect }) => {
    const [{ name }, former] = [await customer(), await customer()];
    await operator("DELETE", `/keys/${former.key.id}`);
    for (const [none, status] of [
      ["nobody", 400],
      [former.name, 409],
    ] as const)
      expect((await operator("POST", "/links", { customer: none, days: 7 })).status, none).toBe(status);
    for (const days of [0, 91, 1.5])
      expect((await operator("POST", "/links", { customer: name, days })).status).toBe(400);
  });

  it.for([
    { what: "is revoked", leave: (id: string) => operator("DELETE", `/keys/${id}`) },
    {
      what: "is revoked with others",
      leave: (id: string) => operator("POST", "/keys/revoke", { ids: [id] }),
    },
    { what: "moves", leave: (id: string) => operator("PATCH", `/keys/${id}`, { customer: "Somebody else" }) },
    {
      what: "is deleted by SQL",
      leave: async (id: string) => {
        await env.DB.prepare("delete from key_secrets where key_id = ?").bind(id).run();
        await env.DB.prepare("delete from api_keys where id = ?").bind(id).run();
      },
    },
    {
      what: "goes in a merge",
      leave: (_: string, name: string) =>
        operator("POST", `/customers/${encodeURIComponent(name)}/merge`, { into: "Somebody else" }),
    },
  ])("ends when the last key $what, so whoever has the name later is safe", async ({ leave }, { expect }) => {
    await operator("POST", "/customers", { name: "Somebody else" });
    const { name, key, code } = await customer();
    const { get } = await open(code);
    await leave(key.id, name);
    await operator("POST", "/keys", { name: "of a later one", plan: "free", customer: name });
    expect((await get()).status).toBe(401);
    const { links } = (await operator("GET", `/links?customer=${encodeURIComponent(name)}`)).body;
    expect(links).toEqual([]);
  });

  it("goes on when the name of its customer is corrected", async ({ expect }) => {
    const { name, key, code } = await customer();
    await app(LIST, { key: String(key.key) });
    const { get } = await open(code);
    await operator("PATCH", `/customers/${encodeURIComponent(name)}`, { name: `${name} Ltd` });
    const { text } = await get();
    expect(text).toContain(`<h1>${name} Ltd</h1>`);
    expect(text).toMatch(/<strong>1<\/strong> of 1,000.*: 1 answered/s);
  });

  it("shows bans, refusals and use of the days of its customer only", async ({ expect }) => {
    const [before, after] = [await customer(), await customer()];
    await operator("PATCH", `/keys/${before.key.id}`, { requestsPerMinute: 1 });
    for (let i = 0; i < 3; i++) await app(LIST, { key: String(before.key.key) });
    await operator("PUT", `/keys/${before.key.id}/ban`, { seconds: 60, reason: "x" });
    setClock(T0 + 600_000);
    await operator("POST", "/keys", { name: "stays", plan: "free", customer: before.name });
    const kept = await open(before.code);
    await operator("PATCH", `/keys/${before.key.id}`, { customer: after.name, name: "moved" });
    const { text } = await (await open(after.code)).get();
    expect(text).toContain("<h2>moved");
    for (const hidden of ["was reached", "moved: from", "1 answered", "2 refused"])
      expect(text, hidden).not.toContain(hidden);
    expect((await kept.get()).text).not.toContain("moved");
    setClock(T0 + DAY_MS);
    await app(LIST, { key: String(before.key.key) });
    expect((await (await open(after.code)).get()).text).toContain(": 1 answered, 0 refused");
  });

  it("makes no secret of a disabled key, nor once it is revoked while it is asked for", async ({
    expect,
  }) => {
    const [mine, other] = [await customer(), await customer()];
    const { get, post: send } = await open(mine.code);
    const { fields, path } = formOn((await get()).text, "Make a new secret");
    const sent = { ...fields, graceSeconds: "3600" };
    const DB = wrapDatabase(env.DB, async (sql, run) => {
      if (sql.some((each) => each.includes('insert into "key_secrets"')))
        await operator("DELETE", `/links/${mine.link.id}`);
      return run();
    });
    const { Cookie } = await open(mine.code);
    const under = await post(path, sent, { Cookie }, startApp({ DB }));
    expect([under.status, await under.text()]).toEqual([409, expect.not.stringContaining("sok_")]);
    expect((await send(path, sent)).status).toBe(401);
    const opened = await open(other.code);
    const form = formOn((await opened.get()).text, "Make a new secret");
    await operator("PATCH", `/keys/${other.key.id}`, { disabled: true });
    const { version } = (await operator("GET", `/keys/${other.key.id}`)).body;
    const disabled = { ...form.fields, graceSeconds: "3600", version: String(version) };
    expect((await opened.post(form.path, disabled)).status).toBe(409);
    const secrets = env.DB.prepare("select count(*) as n from key_secrets where key_id in (?, ?)");
    expect(await secrets.bind(mine.key.id, other.key.id).first()).toEqual({ n: 2 });
  });
});

describe("a request without a link", () => {
  it("has one answer, in its headers too: for an invented code, an ended link and a revoked one", async ({
    expect,
  }) => {
    const [revoked, short] = [await customer(), await customer({ days: 1 })];
    await operator("DELETE", `/links/${revoked.link.id}`);
    setClock(T0 + DAY_MS);
    const answers = [];
    for (const code of [`sol_${"a".repeat(40)}`, revoked.code, short.code]) {
      const response = await post("/owner", { code });
      const headers = [...response.headers].filter(([name]) => name !== "x-request-id");
      answers.push({ status: response.status, headers, text: await response.text() });
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
    // Nor does it use up what the customer may ask.
    for (let i = 0; i < 40; i++) await post("/owner", { code: revoked.code });
    const again = await operator("POST", "/links", { customer: revoked.name, days: 1 });
    expect((await open(String(again.body.link))).response.status).toBe(303);
  });

  it("that invents a code costs no query and no call of an object", async ({ expect }) => {
    const { code } = await customer();
    const [database, { KEY_LIMITER, addressed }] = [watchDatabase(), watchLimiters()];
    const OWNER_LIMITER = limiters(() => {
      throw new Error("an object was called");
    }) as never; // an invented code reaches no object
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
    const second = String((await operator("POST", "/links", { customer: mine.name, days: 1 })).body.link);
    const first = await open(mine.code);
    const { get: again } = await open(second);
    const statuses = [(await first.get()).status];
    for (let i = 0; i < 27; i++) statuses.push((await first.post("/owner/rotate", {})).status);
    expect(statuses).toEqual([200, ...Array(27).fill(400)]);
    const { status, text } = await again();
    expect([status, text]).toEqual([
      429,
      expect.stringContaining("opened too often. Please try again in 1 min."),
    ]);
    expect(log.lines().at(-1)).toMatchObject({ reason: "opened too often", network: "unknown" });
    const other = await open((await customer()).code);
    expect((await other.get()).status).toBe(200);
    setClock(T0 + 60_000);
    expect((await again()).status).toBe(200);
  });
});
