/** Forms of the console that set limits for a time and make secrets, and the page of the alerts. */
import { env } from "cloudflare:workers";
import { describe, it, vi } from "vitest";
import { newKeyId } from "../../../src/worker/admin/keys/mint.ts";
import { createKey, giveKeys, insertOrders, newOrderId } from "../../support/factories.ts";
import {
  LIST,
  limiterOf,
  setClock,
  startApp,
  startEachTestAt,
  watchDatabase,
  watchLimiters,
} from "../../support/worker.ts";
import { wrapDatabase } from "../../support/wrap-database.ts";
import { operatorOf, unreachableLimiters } from "../admin/admin-support.ts";
import { browserWith, formOn, setClockToD1, unescaped } from "./browser.ts";

const NOON = Date.UTC(2035, 0, 1, 12);
const APPLY = { apply: "true" };

startEachTestAt(NOON);

const WEBHOOK = {
  ALERT_WEBHOOK_URL: "https://hooks.example/a",
  ALERT_WEBHOOK_SECRET: `whsec_${btoa("a secret of the webhook, for the tests")}`,
};

describe("the page of a key", () => {
  it("takes a time as it shows times in fields, and names a time that is none", async ({ expect }) => {
    const { id } = await createKey();
    const { get, post } = await browserWith(env.ADMIN_TOKEN);
    for (const [typed, shown] of [
      ["2035-02-03 04:05", "2035-02-03 04:05"],
      ["2035-02-03 04:05:06", "2035-02-03 04:05:06"],
      ["2035-02-04", "2035-02-04 00:00"],
    ]) {
      expect((await post(`/console/keys/${id}/edit`, { expiresAt: typed ?? "" })).status).toBe(303);
      expect(await (await get(`/console/keys/${id}/edit`)).text()).toContain(
        `name="was.expiresAt" value="${shown}"`,
      );
    }
    const refused = await post(`/console/keys/${id}/edit`, { expiresAt: "2035-02-30 04:05" });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("that exists")]);
  });

  it("shows what is wrong at the field where it was typed", async ({ expect }) => {
    const { id } = await createKey();
    const { post } = await browserWith(env.ADMIN_TOKEN);
    const refused = await post(`/console/keys/${id}/edit`, { requestsPerMinute: "0", name: "customer: x" });
    const html = await refused.text();
    const fields = [...html.matchAll(/<input [^>]*>/g)].map(([tag]) => tag);
    const invalid = fields.filter((tag) => tag.includes('aria-invalid="true"'));
    expect(invalid).toEqual([
      expect.stringMatching(/ name="requestsPerMinute".* value="0"|value="0".*name="requestsPerMinute"/),
    ]);
    expect(invalid[0]).toContain(" autofocus");
    const described = /aria-describedby="(\S+)/.exec(invalid[0] ?? "")?.[1];
    expect(html).toMatch(new RegExp(`id="${described}">\\s*must be a whole number`));
    expect(html).toContain('value="customer: x"');
  });

  it("offers the customers, and says if a name is that of a new one", async ({ expect }) => {
    const customer = `Paws & Co ${newKeyId()}`;
    const [{ id }, other] = await Promise.all([createKey(), createKey()]);
    const { get, post } = await browserWith(env.ADMIN_TOKEN);
    for (const [key, isNew] of [
      [id, true],
      [other.id, false],
    ] as const) {
      const { headers } = await post(`/console/keys/${key}/edit`, { customer });
      const html = await (await get(headers.get("Location") ?? "")).text();
      expect(html.includes("is a new customer")).toBe(isNew);
    }
    for (const path of ["/console/keys/new", `/console/keys/${id}/edit`]) {
      const [, list = ""] = / list="([^"]*-known)"/.exec(await (await get(path)).text()) ?? [];
      expect(await (await get(path)).text()).toMatch(
        new RegExp(`<datalist id="${list}">.*<option value="${customer.replace("&", "&amp;")}"`),
      );
    }
  });

  const NOW = NOON / 1000;
  it.for([
    { is: "in order", says: /^$/ },
    {
      is: "banned",
      set: `banned_until = ${NOW + 60}, ban_reason = 'abuse'`,
      says: /Banned until.*abuse.*\/lift"/s,
    },
    { is: "expired", set: `expires_at = ${NOW - 60}`, says: /expired at.*\/edit"/s },
    { is: "about to expire", set: `expires_at = ${NOW + 86_400}`, says: /expires .*in 1 d.*\/edit"/s },
    { is: "disabled", set: "status = 'disabled'", says: /is disabled.*\/enable"/s },
    { is: "revoked", set: "status = 'revoked'", says: /is revoked, which is permanent(?!.*href)/s },
    {
      is: "at its limit",
      set: "requests_per_day = 1",
      says: /limit of this day is used up: 1\..*\/limit"/s,
    },
  ])("says first what is wrong, and what helps: a key $is", async ({ set, says }, { expect }) => {
    const { id, key } = await createKey();
    if (set) await env.DB.exec(`update api_keys set ${set} where id = '${id}'`);
    await startApp()(LIST, { key });
    const { get } = await browserWith(env.ADMIN_TOKEN);
    const html = await (await get(`/console/keys/${id}`)).text();
    const problems = [...html.matchAll(/<div class="notice .*?<\/div>/gs)].join("");
    expect(problems).toMatch(says);
  });

  it("shows hours with refusals, a day on demand, and costs twelve statements and three calls", async ({
    expect,
  }) => {
    const { id } = await createKey({ used: true });
    const minutes = Object.fromEntries(Array.from({ length: 57 }, (_, minute) => [minute, { minute: 3 }]));
    const hours = JSON.stringify([...Array(11).fill(0), [100, 171, 0, minutes]]);
    await env.DB.prepare(
      "insert into usage values (unixepoch('2035-01-01'), ?, null, 'pro', 100, 171, 0, 1000, '{}', ?)",
    )
      .bind(id, hours)
      .run();
    const [database, limiters] = [watchDatabase(), watchLimiters()];
    const { get } = await browserWith(env.ADMIN_TOKEN, {
      DB: database.DB,
      KEY_LIMITER: limiters.KEY_LIMITER,
    });
    const page = async (rest: string) => (await get(`/console/keys/${id}${rest}`)).text();
    expect(await page("?day=2035-01-01")).toContain(
      "11:00 to 11:57</time> 171 refused by the limit per minute",
    );
    database.queries();
    limiters.addressed();
    const html = await page("");
    expect(html).toContain('title="11:00: 171 refused by a limit, 0 requests blocked by bans"');
    expect(html).not.toContain("11:00 to 11:57");
    const queries = database.queries().filter((sql) => !sql.includes("console_sessions"));
    expect([queries.length, limiters.addressed()]).toEqual([12, [id, id, id]]);
  });

  it("asks again for what is true now, which keeps no session alive", async ({ expect }) => {
    const { id } = await createKey();
    const { get } = await browserWith(env.ADMIN_TOKEN);
    const live = async () => (await get(`/console/keys/${id}?live=yes`)).text();
    expect(await live()).not.toContain("Banned until");
    await startApp()(`/admin/keys/${id}/ban`, {
      method: "PUT",
      key: env.ADMIN_TOKEN,
      body: JSON.stringify({ seconds: 60, reason: "leaked" }),
    });
    expect(await live()).toContain("Banned until");
    for (const minutes of [50, 100, 150]) {
      setClock(NOON + minutes * 60_000);
      expect((await live()).includes("Sign in")).toBe(minutes > 120);
    }
  });

  it("lists changes and bans, newest first", async ({ expect }) => {
    const { id } = await createKey();
    const { get, post } = await browserWith(env.ADMIN_TOKEN);
    await post(`/console/keys/${id}/edit`, { note: "watch" });
    const values = [`ban_${id}`, id, NOON / 1000 + 30, NOON / 1000 + 40];
    await env.DB.prepare("insert into bans values (?, ?, 'strikes', null, 20, ?, ?, null, null, null)")
      .bind(...values)
      .run();
    setClock(NOON + 60_000);
    await post(`/console/keys/${id}/ban`, { seconds: "60", reason: "leaked", ...APPLY });
    const page = await (await get(`/console/keys/${id}`)).text();
    const [, bans = "", feed = ""] =
      /<caption[^>]*>Bans<\/caption>(.*?)<\/table>.*?<ol class="feed">(.*?)<\/ol>/s.exec(page) ?? [];
    expect(bans.match(/20 seconds over the limit|leaked/g)).toEqual(["leaked", "20 seconds over the limit"]);
    expect(feed.match(/is banned|is changed/g)).toEqual(["is banned", "is changed"]);
  });
});

/** A key, somebody who is signed in, and the address of a form of the key's page. */
async function prepared(path = "") {
  const { id, key: secret } = await createKey({ plan: "pro" });
  const browser = await browserWith(env.ADMIN_TOKEN);
  return { id, secret, path: path.replace("ID", id), ...browser };
}

describe("a change with a preview", () => {
  const ban = { seconds: "2", "seconds.unit": "3600", reason: "an attack" };
  const limits = { requestsPerMinute: "", requestsPerDay: "7", days: "1", reason: "" };

  it.for([
    {
      path: "/console/keys/ID/ban",
      fields: ban,
      does: "Ban until 1 Jan 2035, 14:00 UTC",
      says: /until 1 Jan 2035, 14:00 UTC.*Since 1 Jan 2035, 11:00 UTC.*sent 7 requests: 7 admitted, 0 refused/s,
    },
    {
      path: "/console/keys/ID/limit",
      fields: limits,
      does: "Set 7 a day until 2 Jan 2035",
      says: /10,000 → 7\..*Used today: 7 of 7\..*refused until midnight/s,
    },
    {
      path: "/console/plans/pro/edit",
      fields: { alertPercents: "50, 90" },
      does: "Set alerts for Pro",
      says: /at 80, 100 % → at 50, 90 % of the day/,
    },
    {
      path: "/console/plans/pro/edit",
      fields: { requestsPerDay: "5" },
      does: "Set 5 a day for Pro",
      says: /10,000 → 5, for \d+ of \d+ keys.*[1-9]\d* keys? used 5 requests or more/s,
    },
  ])(
    "says what it does, and is made by the page that said it: $path",
    async ({ path, fields, does, says }, { expect }) => {
      const { id, secret, path: sentTo, post } = await prepared(path);
      for (let i = 0; i < 7; i++) await startApp()(LIST, { key: secret });
      await limiterOf(id).flush();
      const versions = () =>
        env.DB.prepare(
          "select version from plans where id = 'pro' union all select version from api_keys where id = ?",
        )
          .bind(id)
          .raw();
      const plan = await env.DB.prepare("select version from plans where id = 'pro'").first("version");
      const version = path.includes("plans") ? String(plan) : "0";
      const before = await versions();
      const preview = await post(sentTo, { ...fields, version });
      const html = await preview.text();
      expect(preview.status).toBe(200);
      expect(html.replaceAll("&gt;", ">")).toMatch(says);
      expect(await versions()).toEqual(before);
      const form = formOn(html, does);
      expect(form.path).toBe(sentTo);
      expect((await post(sentTo, form.fields)).status).toBe(303);
      expect(await versions()).not.toEqual(before);
      for (const stale of [fields, form.fields]) {
        expect((await post(sentTo, { ...stale, version })).status).toBe(412);
      }
    },
  );

  it("is refused before the preview, if it cannot be made", async ({ expect }) => {
    await createKey({ plan: "pro" });
    const { post } = await browserWith(env.ADMIN_TOKEN);
    expect((await post("/console/plans/pro/edit", { requestsPerDay: "" })).status).toBe(409);
    expect((await post("/console/plans/pro/edit", {})).status).toBe(400);
    // Nothing relies on the limit of a plan whose keys have their own.
    await createKey({ plan: "enterprise", perMinute: 1, perDay: 9 });
    expect((await post("/console/plans/enterprise/edit", { requestsPerDay: "" })).status).toBe(200);
  });
});

it("the form of a customer creates one, not one of a known name, and another name is a change of it", async ({
  expect,
}) => {
  const { get, post } = await browserWith(env.ADMIN_TOKEN);
  const name = `Cy ${newKeyId()}`;
  const sent = {
    ...formOn(await (await get("/console/customers/new")).text(), "Create customer").fields,
    name,
  };
  const send = async (path: string, fields: Record<string, string>) => {
    const { headers } = await post(path, fields);
    const shown = (headers.get("Location") ?? "").split("?")[0] ?? "";
    return [shown, await (await get(headers.get("Location") ?? "")).text()] as const;
  };
  const [path, created] = await send("/console/customers/new", sent);
  expect(created).toMatch(new RegExp(`${name} is created.*This customer has no key`, "s"));
  expect(created).not.toMatch(/<dt>Note|name="change"/);
  const again = await post("/console/customers/new", { ...sent, name: name.toUpperCase() });
  expect([again.status, await again.text()]).toEqual([409, expect.stringContaining("has this name")]);
  const { fields } = formOn(await (await get(`${path}/edit`)).text(), "Change customer");
  const [same, renamed] = await send(`${path}/edit`, { ...fields, name: `${name} Ltd`, note: "" });
  expect([same, renamed]).toEqual([path, expect.stringContaining(`name ${name} → ${name} Ltd`)]);
});

it("a merge and an erasure say first what goes, and then that it is gone", async ({ expect }) => {
  setClock(NOON - 400 * 86_400_000);
  const operator = operatorOf(startApp());
  const [from, into, key] = [`Ada ${newKeyId()}`, `Bo ${newKeyId()}`, newKeyId()];
  for (const customer of [from, into]) await operator("POST", "/keys", { name: key, plan: "free", customer });
  await operator("PATCH", `/customers/${from}`, { note: "by invoice" });
  await operator("PATCH", `/customers/${into}`, { note: "another change" });
  const { get, post } = await browserWith(env.ADMIN_TOKEN);
  const send = async (name: string, action: string, fields = {}) => {
    const { id } = (await operator("GET", `/customers/${name}`)).body;
    const preview = await post(`/console/customers/${id}/${action}`, fields);
    const html = await preview.text();
    if (preview.status !== 200) return html;
    const form = formOn(html, action === "merge" ? `Merge ${from} into ${into}` : `Erase ${into} for good`);
    const { headers } = await post(form.path ?? "", form.fields);
    return html + (await (await get(headers.get("Location") ?? "")).text());
  };
  const merged = await send(from, "merge", { into });
  expect(merged).toMatch(
    /1 key of Ada .* becomes? .*Bo .*has it then: note by invoice<.*The customer is merged into this one/s,
  );
  // An earlier change of the customer that is left is not what the form did.
  expect(merged.split('class="notice good"')).toHaveLength(2);
  expect((await operator("GET", `/customers/${from}`)).status).toBe(404);
  expect(await send(into, "erase")).toContain("The customer has 2 keys to revoke first");
  await operator("POST", "/keys/revoke", { customer: into });
  const erased = await send(into, "erase");
  expect(erased).toMatch(/Backups that were made before.*is erased/s);
  expect(erased.split("</form>").at(-1)).not.toContain(into);
});

describe("a secret that ends", () => {
  const endOf = (id: string, name: string) =>
    env.DB.prepare(`select ${name} from key_secrets where key_id = ? order by created_at desc`)
      .bind(id)
      .first<string | null>(name);

  it("is named, and the preview and Overview say if no secret without an end is left", async ({ expect }) => {
    await setClockToD1();
    const { id, path, get, post } = await prepared("/console/keys/ID/end-secret");
    const rotated = await post(`/console/keys/${id}/rotate`, { version: "0", graceSeconds: "86400" });
    expect(rotated.status).toBe(200);
    const page = await (await get(path)).text();
    const secret = (await endOf(id, "substr(hash, 1, 16)")) ?? "";
    const hint = (await endOf(id, "hint")) ?? "none";
    const { fields } = formOn(page, "Preview");
    const html = await (await post(path, { ...fields, secret })).text();
    expect(html).toMatch(
      new RegExp(`Requests with ${hint} \\(no use known\\) are a 401.*No secret without an end is left`, "s"),
    );
    expect(await endOf(id, "expires_at")).toBeNull();
    const overview = async () => (await get("/console")).text();
    expect(await overview()).not.toContain(`/console/keys/${id}/rotate`);
    const form = formOn(html, `End the secret ${hint}`);
    expect((await post(path, form.fields)).status).toBe(303);
    expect(await overview()).toContain(`/console/keys/${id}/rotate`);
    expect(await (await get(`/console/keys/${id}`)).text()).toContain("no secret without an end");
  });
});

describe("a page with a new secret", () => {
  const letterIn = (html: string) => unescaped(/<pre id="letter">(.*?)<\/pre>/s.exec(html)?.[1]);
  const secretIn = (html: string) => /sok_\w+/.exec(html)?.[0] ?? "none";

  it("has a text for the customer without the secret, and the form of another key of the customer", async ({
    expect,
  }) => {
    const { post } = await browserWith(env.ADMIN_TOKEN);
    const customer = { customer: "Paws & Co" };
    const created = await post("/console/keys/new", {
      id: newKeyId(),
      name: "a shop",
      plan: "pro",
      ...customer,
    });
    const html = await created.text();
    const letter = letterIn(html);
    for (const part of ["a shop", "https://orders.example/docs", " a minute, ", "Bearer"])
      expect(letter).toContain(part);
    expect(html.replace(secretIn(html), "")).not.toContain("sok_");
    const form = formOn(html, "Create key");
    expect(form.fields).toMatchObject(customer);
    const another = await (
      await post("/console/keys/new", { ...form.fields, name: "its app", plan: "pro" })
    ).text();
    expect(secretIn(another)).not.toBe(secretIn(html));
  });
});

it("a change that comes after another operator's shows the page of now, with what was typed", async ({
  expect,
}) => {
  const { id, get } = await prepared();
  const address = `/console/keys/${id}/edit`;
  const shown = formOn(await (await get(address)).text(), "Change key").fields;
  const [ada, mo] = await Promise.all([
    browserWith(env.ADMIN_TOKEN, {}, "ada"),
    browserWith(env.ADMIN_TOKEN),
  ]);
  await ada.post(address, { note: "what ada typed", plan: "business" });
  const refused = await mo.post(address, { ...shown, note: "what mo typed", name: "another name" });
  const html = await refused.text();
  expect(refused.status).toBe(412);
  expect(html).toContain("what ada typed");
  expect(html).toContain(`href="/console/keys/${id}">Keep theirs</a>`);
  const mine = { ...formOn(html, "Use mine").fields, note: "what mo typed" };
  expect((await mo.post(address, mine)).status).toBe(303);
  const row = await env.DB.prepare("select name, note, plan from api_keys where id = ?").bind(id).first();
  expect(row).toEqual({ name: "another name", note: "what mo typed", plan: "business" });
});

describe("the button Undo", () => {
  const shownAfter = async (browser: Awaited<ReturnType<typeof prepared>>, path: string, fields = {}) => {
    const done = await browser.post(path, fields);
    const page = done.status === 303 ? await browser.get(done.headers.get("Location") ?? "") : done;
    return page.text();
  };

  it.for([
    { of: "a key", path: "/console/keys/ID/disable", fields: {} },
    { of: "a plan", path: "/console/plans/free/edit", fields: { requestsPerMinute: "61", ...APPLY } },
    { of: "an order", path: "/console/orders/ORDER/edit", fields: { status: "delivered" } },
    { of: "a shipment", path: "/console/orders", fields: { ids: "ORDER" } },
  ])("on the page that $of has, sends the call", async ({ path, fields }, { expect }) => {
    const orderId = newOrderId();
    await insertOrders({ id: orderId });
    const browser = await prepared();
    const { id, post } = browser;
    const named = (text: string) => text.replace("ID", id).replace("ORDER", orderId);
    const sent = Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, named(text)]));
    const stored = () =>
      env.DB.prepare(
        `select k.status, p.requests_per_minute, o.status from orders o, plans p, api_keys k where o.id = ${orderId} and p.id = 'free' and k.id = ?`,
      )
        .bind(id)
        .raw();
    const before = await stored();
    const undo = formOn(await shownAfter(browser, named(path), sent), "Undo");
    expect(await stored()).not.toEqual(before);
    expect((await post(undo.path, undo.fields)).status).toBe(200);
    expect(await stored()).toEqual(before);
    expect((await post(undo.path, undo.fields)).status).toBe(409);
  });
});

describe("an address that somebody else made", () => {
  it("says nothing in the console's words", async ({ expect }) => {
    const { id } = await createKey();
    const { get, post } = await browserWith(env.ADMIN_TOKEN);
    const shown = async (path: string) => (await get(path)).text();
    const done = (await post(`/console/keys/${id}/disable`)).headers.get("Location") ?? "";
    expect(await shown(done)).toContain("test is disabled.");
    for (const later of ["after+you+mail+the+token", "yes"]) {
      const text = await shown(`${done}&later=${later}`);
      expect(text).toMatch(/It takes effect within .*\./);
      expect(text).not.toContain("you mail");
    }
    // The key has changed since, or this form was never sent.
    await post(`/console/keys/${id}/enable`);
    for (const query of [new URL(done, "https://x").search, "?done=revoke", "?done=constructor"]) {
      expect(await shown(`/console/keys/${id}${query}`), query).not.toContain("It takes effect");
    }
    for (const query of ["done=free&effective=never", "done=free&later=never"]) {
      expect(await shown(`/console/plans?${query}`)).not.toContain("was changed");
    }
    const links = `/console/customers/${await giveKeys("addressed", id)}/links`;
    await post(links, { days: "1" });
    const [, link = ""] = /(link_\w+)/.exec(await shown(links)) ?? [];
    expect(await shown(`${links}?done=${link}`)).not.toContain("no longer");
    expect(await (await post(links, { revoked: link })).text()).toMatch(/can no longer|is revoked/);
    expect(await shown("/console/keys?mail+the+token=x")).not.toContain("mail");
  });

  it.for(["?range=constructor", "?range=__proto__", "/keys?toString=x", "/keys?__proto__=x"])(
    "is no error of the service: %s",
    async (path, { expect }) => {
      const { get } = await browserWith(env.ADMIN_TOKEN);
      const answer = await get(`/console${path}`);
      expect([200, 400]).toContain(answer.status);
      expect(await answer.text()).not.toContain("native code");
    },
  );
});

describe("the form of a new key", () => {
  it("links to the key that it has made, and to none before", async ({ expect }) => {
    const { post } = await browserWith(env.ADMIN_TOKEN);
    const id = newKeyId();
    const send = async (plan: string) => {
      const answer = await post("/console/keys/new", { id, name: "new", plan });
      return [answer.status, (await answer.text()).includes(`href="/console/keys/${id}"`)];
    };
    expect(await send("enterprise")).toEqual([409, false]);
    expect(await send("free")).toEqual([200, true]);
    expect(await send("free")).toEqual([409, true]);
  });
});

describe("a new secret", () => {
  it.for(["/console/keys/new", "/console/keys/ID/rotate"])(
    "is shown, whatever fails after it is stored: %s",
    async (path, { expect }) => {
      const { id } = await createKey();
      const database = watchDatabase();
      const DB = wrapDatabase(database.DB, async (sql, run) => {
        const results = await run();
        if (sql.length > 1) database.failWith("D1_ERROR: D1 DB is overloaded. Requests queued for too long.");
        return results;
      });
      const { cookie } = await browserWith(env.ADMIN_TOKEN);
      const app = startApp({ DB, KEY_LIMITER: unreachableLimiters() });
      const answer = await app(path.replace("ID", id), {
        method: "POST",
        headers: { Cookie: cookie },
        body: new URLSearchParams({ name: "new", plan: "free", id: newKeyId(), graceSeconds: "60" }),
      });
      const secret = /sok_[0-9A-Za-z]{45}/.exec(await answer.text())?.[0] ?? "";
      expect(answer.status).toBe(200);
      expect((await startApp()(LIST, { key: secret })).status).toBe(200);
    },
  );
});

describe("the list of orders", () => {
  it("ships what is ticked, and says what was not shipped", async ({ expect }) => {
    const [first, second, gone] = [newOrderId(), newOrderId(), newOrderId()];
    await insertOrders({ id: first, petId: "77" }, { id: second, petId: "77", status: "processing" });
    const { get, post } = await browserWith(env.ADMIN_TOKEN);
    const list = "/console/orders?petId=77&status=pending";
    expect(await (await get(list)).text()).toContain(`name="ids" value="${first}"`);
    const ship = async (...ids: string[]) => {
      const form = new FormData();
      for (const id of ids) form.append("ids", id);
      const answer = await post(list, form);
      return [answer.status, await answer.text()] as const;
    };
    const [status, page] = await ship(first, second, gone);
    expect([status, page]).toEqual([200, expect.stringContaining("2 orders shipped.")]);
    expect(page).toContain(`No order has these ids: ${gone}.`);
    expect(page).toContain("No order matches."); // the list is filtered as before
    expect(await ship(first)).toEqual([200, expect.stringContaining(`Order ${first} was shipped before.`)]);
    expect(await ship()).toEqual([400, expect.stringContaining("Tick the orders to ship.")]);
  });
});

describe("a shipment from the list", () => {
  const stored = (id: string) => env.DB.prepare("select status from orders where id = ?").bind(id).first();

  it("ships all orders of a filter after a question, and no other", async ({ expect }) => {
    const petId = newOrderId();
    const ids = Array.from({ length: 60 }, newOrderId);
    const [processing, delivered, other] = [newOrderId(), newOrderId(), newOrderId()];
    await insertOrders(
      ...ids.map((id) => ({ id, petId })),
      ...[
        { id: processing, petId, status: "processing" },
        { id: delivered, petId, status: "delivered" },
        { id: other },
      ],
    );
    const { get, post } = await browserWith(env.ADMIN_TOKEN);
    const statuses = async () => {
      const rows = await env.DB.prepare(
        "select status, count(*) as n from orders where pet_id = ? group by 1",
      )
        .bind(petId)
        .all();
      return Object.fromEntries(rows.results.map(({ status, n }) => [status, n]));
    };
    const list = `/console/orders?petId=${petId}`;
    const next = /href="([^"]*after=[^"]*)"/
      .exec(await (await get(list)).text())?.[1]
      ?.replaceAll("&amp;", "&");
    for (const path of [`${list}&status=processing`, next ?? ""]) {
      const asked = await (await post(path, { all: "true" })).text();
      const form = new FormData();
      for (const [, name = "", value = ""] of asked.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g))
        form.append(name, value);
      await post(path, form);
      const left = path === next ? {} : { pending: 60 };
      expect(await statuses()).toEqual({ ...left, shipped: path === next ? 61 : 1, delivered: 1 });
    }
    expect(await stored(other)).toMatchObject({ status: "pending" });
    expect((await post(list, { all: "true" })).status).toBe(400);
  });

  it("of more than ten orders asks first", async ({ expect }) => {
    const ids = Array.from({ length: 11 }, newOrderId);
    await insertOrders(...ids.map((id) => ({ id })));
    const { post } = await browserWith(env.ADMIN_TOKEN);
    const send = async (sent: readonly string[]) => {
      const form = new FormData();
      for (const id of sent) form.append("ids", id);
      return (await post("/console/orders", form)).text();
    };
    const { fields } = formOn(await send(ids), "Ship 11 orders");
    expect(await stored(ids[0] ?? "")).toMatchObject({ status: "pending" });
    expect(await (await post("/console/orders", fields)).text()).toContain("11 orders shipped.");
    const ten = Array.from({ length: 10 }, newOrderId);
    await insertOrders(...ten.map((id) => ({ id })));
    expect(await send(ten)).toContain("10 orders shipped.");
  });
});

describe("the page of the audit log", () => {
  it("has days, and one entry for a file in batches and for orders that were shipped together", async ({
    expect,
  }) => {
    const [first, second] = [newOrderId(), newOrderId()];
    const { id } = await createKey();
    const operator = operatorOf(startApp());
    await operator("PATCH", `/keys/${id}`, { requestsPerMinute: 600 });
    for (const order of [first, second]) {
      await operator("PUT", "/orders?file=a.csv&load=1", `[{"id":${order}}]`);
    }
    await operator("POST", "/orders/ship", { ids: [first, second] });
    const { get } = await browserWith(env.ADMIN_TOKEN);
    const page = await (await get("/console/audit?actor=mo&from=today")).text();
    const feed = page.split("<h2>1 Jan 2035</h2>")[1] ?? "";
    const [shipped = "", loaded = "", changed = "", ...others] = feed
      .split(/<time[^>]*>12:00<\/time>/)
      .slice(1)
      .map((entry) => entry.replace(/<[^>]+>/g, ""));
    expect(shipped).toContain(`mo: each of the orders ${first}, ${second} is shipped`);
    expect(shipped).toContain(`${first}, status: pending → shipped`);
    expect(loaded).toContain("mo: orders are loaded from a.csv: 2 inserted");
    expect(changed).toContain("mo: test is changed: ");
    expect(changed).toContain("requests per minute: none → 600");
    expect(others).toEqual([]);
    expect(page).not.toMatch(/<option[^>]*>[a-z]+\.[a-z_]+</);
  });
});

describe("the entries of one request", () => {
  it("are one entry of all objects, unless one sentence would be wrong of some", async ({ expect }) => {
    const [first, second, third] = [newOrderId(), newOrderId(), newOrderId()];
    const keys = [await createKey(), await createKey()];
    await insertOrders({ id: first }, { id: second }, { id: third, status: "processing" });
    const operator = operatorOf(startApp());
    const ids = [first, second, third];
    await operator("POST", "/keys/disable", { ids: keys.map(({ id }) => id) });
    await operator("POST", "/orders/ship", { ids });
    const entry = await env.DB.prepare("select max(id) as id from audit_log").first<number>("id");
    await operator("POST", `/audit/${entry}/undo`, { together: true });
    const { get } = await browserWith(env.ADMIN_TOKEN);
    const page = (await (await get("/console/audit?actor=mo")).text()).replace(/<[^>]+>/g, "");
    expect(page).toContain(`mo: order ${third} is changed: status shipped → processing`);
    expect(page).toContain(`mo: each of the orders ${first}, ${second} is changed: status shipped → pending`);
    expect(page).toContain("mo: each of the keys test, test is disabled");
  });
});

describe("the page of the alerts", () => {
  it("lists them by state, and sends a test alert", async ({ expect }) => {
    const { id } = await createKey();
    vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response("no", { status: 410 }));
    const { get, post } = await browserWith(env.ADMIN_TOKEN, WEBHOOK);
    await post(`/console/keys/${id}/ban`, {
      seconds: "1",
      "seconds.unit": "60",
      reason: "abuse <now>",
      ...APPLY,
    });
    const shown = async (query = "") => (await get(`/console/alerts${query}`)).text();
    expect(await shown()).toMatch(new RegExp(`href="/console/keys/${id}">Key test [^<]*abuse &lt;now&gt;`));
    expect(await shown("?state=delivered")).not.toContain(id);
    await vi.waitFor(async () => expect(await shown("?state=failing")).toContain(id));
    const sent = await post("/console/alerts?state=failing", {});
    expect(sent.status).toBe(303);
    const result = sent.headers.get("Location") ?? "";
    expect(result).toMatch(/^\/console\/alerts\?state=failing&/);
    expect(await (await get(result)).text()).toMatch(
      /did not accept the alert: status 410.*aria-current="true">Failing/s,
    );
    expect(await (await get(result.replace(/done=[^&]+/, "done=1"))).text()).not.toContain("did not accept");
    expect(await (await get("/console")).text()).toMatch(/hooks\.example answered 410/);
  });
});
