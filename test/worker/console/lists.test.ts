/** The console's lists, and their files. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey, giveKeys } from "../../support/factories.ts";
import { log, startApp, startEachTestAt, watchDatabase } from "../../support/worker.ts";
import { browserWith } from "./browser.ts";

const NOW = Date.UTC(2037, 8, 30, 12, 30);
const app = startApp();
const WEBHOOK = {
  ALERT_WEBHOOK_URL: "https://hooks.example/a",
  ALERT_WEBHOOK_SECRET: `whsec_${btoa("a secret of the webhook, for the tests")}`,
};

startEachTestAt(NOW);

/** More rows than a page has, each of a customer of its own. */
async function insertCustomers(): Promise<void> {
  for (let i = 0; i < 60; i++) {
    const { id } = await createKey();
    const customer = await giveKeys(`o & ${i}`, id);
    await env.DB.batch([
      env.DB.prepare("update api_keys set name = ? where id = ?").bind(`n${i}`, id),
      env.DB.prepare(
        "insert into usage values (unixepoch('2037-09-30'), ?1, ?3, 'business', ?2, 0, 0, 100, '{}', '[' || ?2 || ']')",
      ).bind(id, i, customer),
    ]);
  }
}

describe("the pages of lists", () => {
  it("show a page of rows that their files have all of, in the CSV of the admin API", async ({ expect }) => {
    await insertCustomers();
    const { get } = await browserWith(env.ADMIN_TOKEN);
    const paths = [
      "usage?by=key",
      "usage?by=hour",
      "customers?",
      "keys?limit=500",
      "audit?to=0h",
      "orders?direction=desc",
      "orders/cancelled?limit=500",
    ];
    for (const path of paths) {
      const html = await (await get(`/console/${path}`)).text();
      const [, link = ""] = /<a href="([^"]+format=csv)"/.exec(html) ?? [];
      const csv = await get(link.replaceAll("&amp;", "&"));
      expect(csv.headers.get("Content-Disposition"), path).toContain("attachment");
      const call = path.replace("customers?", "customers?sort=near&from=29d");
      const sameByApi = await app(`/admin/${call}&format=csv`, { key: env.ADMIN_TOKEN });
      const withMark = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
      const text = withMark.decode(await csv.bytes());
      expect(text, path).toBe(withMark.decode(await sameByApi.bytes()));
      expect(html.includes('rel="next"'), path).toBe(/by=key|customers|^keys/.test(path));
    }
    const customers = await (await get("/console/customers?sort=admitted")).text();
    expect(customers).toContain("o &amp; 59</a>");
    const keys = await (await get("/console/keys?sort=name&direction=desc")).text();
    expect(keys.split('class="sparkline"')).toHaveLength(1 + 50);
    expect(keys).not.toContain(">Expires</a>");
    await env.DB.prepare("update api_keys set expires_at = 2140000000 where name = 'n9'").run();
    expect(await (await get("/console/keys?sort=name&direction=desc")).text()).toContain(">Expires</a>");
    const narrowed = await (await get("/console/usage?customer=O+%26+7&from=&to=")).text();
    expect(narrowed).toContain(">n7<");
    expect(narrowed).not.toContain(">n8<");
    expect((await get("/console/usage?from=soon&format=csv")).status).toBe(400);
  });

  it("say what is wrong in an address, also of what no field has", async ({ expect }) => {
    const { get } = await browserWith(env.ADMIN_TOKEN);
    const paths = ["keys?after=x", "customers?after=x", "usage?sort=x", "orders?limit=x", "audit?after=x"];
    for (const path of paths) {
      const answer = await get(`/console/${path}`);
      expect(answer.status, path).toBe(400);
      const [, member] = /\?(\w+)/.exec(path) ?? [];
      expect(await answer.text(), path).toMatch(new RegExp(`class="notice bad".*${member} (must|is)`, "s"));
    }
  });

  it("have a tab for each state", async ({ expect }) => {
    const { id } = await createKey();
    const at = NOW / 1000;
    await env.DB.exec(
      `delete from alerts; insert into alerts values ('a1', 'ban.set', '${id}', ${at}, 'banned', '{}', 0, ${at}, null, null),
        ('a2', 'ban.lifted', '${id}', ${at}, 'lifted', '{}', 1, null, ${at}, null)`.replaceAll("\n", " "),
    );
    const { get } = await browserWith(env.ADMIN_TOKEN, WEBHOOK);
    const counts = { all: 2, pending: 1, failing: 0, delivered: 1, failed: 0 };
    for (const [state, count] of Object.entries(counts)) {
      const html = await (await get(`/console/alerts?state=${state}`)).text();
      const [, tabs = ""] = /<p class="presets">(.*?)<\/p>/s.exec(html) ?? [];
      expect([...tabs.matchAll(/state=(\w+)"/g)].map(([, tab]) => tab)).toEqual(Object.keys(counts));
      expect(/state=(\w+)" aria-current="true"/.exec(tabs)?.[1]).toBe(state);
      expect(html.split(`href="/console/keys/${id}"`).length - 1, state).toBe(count);
    }
  });

  it("have a page of a customer with keys, bans, contacts and notes, and the overview says what to buy", async ({
    expect,
  }) => {
    const { id } = await createKey({ plan: "pro" });
    const customer = await giveKeys("Paws & Co/1", id);
    await env.DB.batch([
      env.DB.prepare("update api_keys set name = 'shop' where id = ?").bind(id),
      env.DB.prepare("update customers set email = 'ops+1@paws.example', note = 'called' where id = ?").bind(
        customer,
      ),
      env.DB.prepare(
        `with recursive n(i) as (select 0 union all select i + 1 from n where i < 24)
         insert into usage select unixepoch('2037-09-30') - i * 86400, ?, ?, 'pro', 9000, 0, 0, 10000, '{}', '[9000]' from n`,
      ).bind(id, customer),
      env.DB.prepare("insert into bans values ('b', ?, 'operator', 'leaked', 0, 1, 2, null, null, ?)").bind(
        id,
        customer,
      ),
    ]);
    const { get } = await browserWith(env.ADMIN_TOKEN);
    const advice = `<a href="/console/keys/${id}/edit">Change the plan to Business</a>`;
    const overview = async () => (await get("/console")).text();
    expect(await overview()).toContain(advice);
    // A larger plan does not help a key with a limit of its own.
    const limitKey = env.DB.prepare("update api_keys set requests_per_day = ? where id = ?");
    const limitDays = env.DB.prepare(
      "update usage set limit_per_day = ? where key_id = ? and day >= unixepoch(?)",
    );
    await env.DB.batch([limitKey.bind(9500, id), limitDays.bind(9500, id, "2037-09-01")]);
    expect(await overview()).toContain("Give the key a higher limit");
    // Days under a lower limit say nothing about the limit of now.
    expect(await overview()).toContain("has used 95 % of its day: 9,500 requests");
    await limitKey.bind(100_000, id).run();
    expect(await overview()).not.toContain("of its day");
    expect(await overview()).not.toContain("used 80 %");
    await env.DB.batch([limitKey.bind(null, id), limitDays.bind(10_000, id, "2037-09-01")]);
    const html = await (await get("/console/customers/paws%20%26%20co%2F1")).text();
    for (const part of [`/console/keys/${id}`, "mailto:ops%2B1@paws.example", "called", "leaked"])
      expect(html).toContain(part);
    expect((await get("/console/customers/nobody")).status).toBe(404);
  });

  it("give a file with every row and all digits, however many there are, or one that breaks off", async ({
    expect,
  }) => {
    await env.DB.prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 10001)
       insert into orders (id, pet_id, quantity, status) select i, -9007199254740993, 1, 'pending' from n`,
    ).run();
    const csv = await (await browserWith(env.ADMIN_TOKEN)).get("/console/orders?format=csv");
    const [head, ...rows] = (await csv.text()).trimEnd().split("\r\n");
    expect(head).toBe("id,petId,quantity,shipDate,complete,status,version");
    expect(rows.map((row) => Number(row.split(",")[0]))).toEqual(rows.map((_, i) => 10_001 - i));
    expect(rows.at(-1)).toBe("1,-9007199254740993,1,,,pending,0");

    const database = watchDatabase();
    database.failWith("D1_ERROR: overloaded", /orders\.id </);
    const { get } = await browserWith(env.ADMIN_TOKEN, { DB: database.DB });
    const cutOff = await get("/console/orders?format=csv");
    await expect(cutOff.text()).rejects.toThrow();
    expect(log.lines()).toContainEqual(expect.objectContaining({ event: "csv_failed" }));
  });
});

describe("a filter that is wrong", () => {
  it("keeps the others, and is marked at its field", async ({ expect }) => {
    const { get } = await browserWith(env.ADMIN_TOKEN);
    for (const path of [
      "usage?from=soon&plan=pro",
      "keys?unusedSince=soon&plan=pro",
      "customers?from=soon&plan=pro",
    ]) {
      const wrong = await get(`/console/${path}`);
      expect(wrong.status, path).toBe(400);
      expect(await wrong.text(), path).toMatch(
        /<option value="pro" selected="">.*value="soon"[^>]* aria-invalid="true"|value="soon"[^>]* aria-invalid="true".*<option value="pro" selected="">/s,
      );
    }
    const { id } = await createKey();
    expect(await (await get(`/console/keys/${id}?day=soon`)).text()).toMatch(
      /value="soon"[^>]* aria-invalid="true"/,
    );
  });
});
