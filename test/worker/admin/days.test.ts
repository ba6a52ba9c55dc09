/** A day of a key and of a customer: refused minutes, bans, changes and secrets as a line of time. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey, giveKeys } from "../../support/factories.ts";
import { setClock, startApp, startEachTestAt } from "../../support/worker.ts";
import { browserWith } from "../console/browser.ts";
import { operatorOf } from "./admin-support.ts";

const DAY_MS = 86_400_000;
const T0 = Date.UTC(2037, 4, 6, 10);

const operator = operatorOf(startApp());

startEachTestAt(T0);

type Event = {
  at: string;
  until: string | null;
  kind: string;
  keyName: string;
  orderId: string | null;
  says: string;
};

/** A key that was refused, banned and changed yesterday, and was used then. */
async function blockedYesterday(name: string) {
  const key = await createKey({ plan: "free" });
  const hours = Array.from({ length: 24 }, () => 0 as unknown);
  hours[13] = [60, 9, 3, { 58: { minute: 4 }, 59: { minute: 5, ban: 3 } }];
  hours[14] = [60, 20, 0, { 0: { minute: 5 }, 1: { minute: 15 }, 40: { day: 2 } }];
  const yesterday = T0 / 1000 - ((T0 / 1000) % 86_400) - 86_400;
  const secret = await env.DB.prepare(
    "select substr(hash, 1, 16) as id, hint from key_secrets where key_id = ?",
  )
    .bind(key.id)
    .first<{ id: string; hint: string }>();
  const secrets = JSON.stringify({ [secret?.id ?? ""]: yesterday + 14 * 3_600 });
  await env.DB.batch([
    env.DB.prepare("update api_keys set name = ? where id = ?").bind(name, key.id),
    env.DB.prepare(
      "insert into usage select ?, id, customer_id, plan, 120, 31, 3, 1000, ?, ? from api_keys where id = ?",
    ).bind(yesterday, secrets, JSON.stringify(hours), key.id),
    env.DB.prepare(
      "insert into bans (id, key_id, cause, strikes, started_at, ends_at, customer_id) select 'ban_' || id, id, 'strikes', 20, ?, ?, customer_id from api_keys where id = ?",
    ).bind(yesterday + 50_399, yesterday + 50_699, key.id),
    ...[yesterday - 1, yesterday + 52_000, yesterday + 86_400].map((at) =>
      env.DB.prepare(
        "insert into cancelled_orders (order_id, cancelled_at, cancelled_by, request_id) values (9007199254740993, ?, ?, 'r')",
      ).bind(at, key.id),
    ),
  ]);
  setClock(T0 - DAY_MS);
  await operator("PATCH", `/keys/${key.id}`, { note: "called" });
  setClock(T0);
  return { ...key, hint: secret?.hint ?? "" };
}

describe("a day", () => {
  it("of a key says when, by what and how many requests were refused, and what else happened", async ({
    expect,
  }) => {
    const { id, hint } = await blockedYesterday("blocked yesterday");
    const { body } = await operator("GET", `/keys/${id}/day?at=yesterday`);
    const events = body.events as Event[];
    expect(body).toMatchObject({ from: "2037-05-05T00:00:00Z", to: "2037-05-06T00:00:00Z", hasMore: false });
    expect(body.total).toEqual({ admitted: 120, refused: 29, refusedWhileBanned: 3 });
    expect(
      events.map(({ at, until, kind }) => [at.slice(11, 16), until?.slice(11, 16) ?? null, kind]),
    ).toEqual([
      ["10:00", null, "change"],
      ["13:58", "13:59", "refused"],
      ["13:59", "14:00", "refused"],
      ["13:59", "14:04", "ban"],
      ["14:00", "14:02", "refused"],
      ["14:00", null, "secret"],
      ["14:26", null, "cancel"],
      ["14:40", "14:41", "refused"],
    ]);
    const says = events.map((event) => event.says).join("\n");
    expect(says).toMatch(/5 refused by the limit per minute, 3 refused by a ban/);
    expect(says).toContain("20 refused by the limit per minute");
    expect(says).toContain("2 refused by the limit per day");
    expect(says).toMatch(/is changed: note .*called/);
    expect(says).toContain(hint);
    expect(events.map(({ orderId }) => orderId).filter(Boolean)).toEqual(["9007199254740993"]);
  });

  it("is the hours around a time, in the words of an operator and of a table", async ({ expect }) => {
    const { id } = await blockedYesterday("by time");
    for (const at of ["yesterday 14:00", "2037-05-05 14:00", "2037-05-05T14:00:00Z"]) {
      const { body } = await operator("GET", `/keys/${id}/day?at=${encodeURIComponent(at)}`);
      expect(body).toMatchObject({ from: "2037-05-05T13:00:00Z", to: "2037-05-05T15:00:00Z" });
      expect(body.events).toHaveLength(7);
    }
    for (const at of ["garbage", "yesterday 25:00", "2037-02-30 10:00", "yesterday 14", "tomorrow"]) {
      const refused = await operator("GET", `/keys/${id}/day?at=${encodeURIComponent(at)}`);
      expect(refused).toMatchObject({ status: 400, body: { problems: [{ member: "at" }] } });
    }
  });

  it("of a customer has the days of all its keys, and changes of the customer", async ({ expect }) => {
    const [one, two] = [
      await blockedYesterday("of the customer 1"),
      await blockedYesterday("of the customer 2"),
    ];
    const other = await blockedYesterday("of nobody");
    await giveKeys("Blocked", one.id, two.id);
    await env.DB.prepare(
      "update usage set customer_id = (select id from customers where name = 'Blocked') where key_id in (?, ?)",
    )
      .bind(one.id, two.id)
      .run();
    const { body } = await operator("GET", "/customers/Blocked/day?at=yesterday");
    const names = new Set((body.events as Event[]).map(({ keyName }) => keyName));
    expect([...names].sort()).toEqual(["of the customer 1", "of the customer 2"]);
    const { get } = await browserWith(env.ADMIN_TOKEN);
    const html = await (await get(`/console/keys/${other.id}?day=yesterday`)).text();
    expect(html).toMatch(/13:58 to 13:59<\/time> 4 refused by the limit per minute/);
    expect(html).toContain('title="13:00: 9 refused by a limit, 3 requests blocked by bans"');
    expect(await (await get(`/console/customers/Blocked?day=2037-05-05`)).text()).toMatch(
      /of the customer 2<\/a>: 20 refused/,
    );
  });
});
