/** `GET /admin/keys/{id}/history`: what happened to a key, and why a request of a given time was refused. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import {
  type KeyHistory,
  MAX_BANS_READ,
  MAX_CHANGES_READ,
} from "../../../src/worker/admin/key-history-service.ts";
import { maskKey } from "../../../src/worker/auth/key-format.ts";
import { rfc3339 } from "../../../src/worker/time.ts";
import { createKey } from "../../support/factories.ts";
import { setClock, startApp, startEachTestAt } from "../../support/worker.ts";
import { banByStrikes, operatorOf, untilStored } from "./admin-support.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const T0 = Date.UTC(2038, 5, 1, 10, 42);
/** The evening of the same day, when the question is asked. */
const EVENING = T0 + 8 * HOUR;

const app = startApp();
const operator = operatorOf(app);

startEachTestAt(T0);

async function history(id: string, query: string): Promise<KeyHistory> {
  const { status, body } = await operator("GET", `/keys/${id}/history?${query}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body as unknown as KeyHistory; // the type of this answer
}

const AT = "2038-06-01T10:42:00Z";
const reasonsOf = async (id: string, at = AT) =>
  (await history(id, `at=${at}`)).reasons.map(({ text }) => text);

async function send(key: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await app("/v1/nothing", { key });
}

describe("the reason of a refusal", () => {
  it("is a ban for strikes, with its end and the figures of the hour", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await banByStrikes(key, app, T0 + 20_000);
    await send(key.key, 3);
    setClock(T0 + 2 * MINUTE);
    await operator("DELETE", `/keys/${key.id}/ban`, {});
    setClock(EVENING);
    const { reasons, at } = await history(key.id, `at=${AT}`);
    expect(at).toBe(AT);
    expect(reasons).toEqual([
      {
        kind: "ban",
        from: "2038-06-01T10:42:21Z",
        until: "2038-06-01T10:44:00Z",
        text: "Banned for 20 strikes. Lifted by mo. While it lasted, no request was admitted.",
        actor: null,
      },
      expect.objectContaining({
        kind: "refusals",
        from: "2038-06-01T10:00:00Z",
        until: "2038-06-01T11:00:00Z",
        text: expect.stringMatching(
          /^The limit of 1 a minute was used up in one or more minutes of this hour.* 21 refused by a limit, 3 refused while banned, 1 admitted\.$/,
        ),
      }),
    ]);
    // At 10:44 the ban was over.
    expect(await reasonsOf(key.id, "2038-06-01T10:44:00Z")).toHaveLength(1);
  });

  it("is the limit that was effective then, of the minute or of the day", async ({ expect }) => {
    const key = await createKey({ perMinute: 5, perDay: 6 });
    await send(key.key, 6);
    setClock(T0 + MINUTE);
    await send(key.key, 1);
    setClock(T0 + HOUR);
    await send(key.key, 2);
    setClock(T0 + 2 * HOUR);
    await operator("PATCH", `/keys/${key.id}`, { requestsPerDay: 100, requestsPerMinute: 9 });
    setClock(EVENING);
    expect(await reasonsOf(key.id)).toEqual([
      "The day's limit of 6 was used up in this hour. From then on, no request was admitted at least until the limit changed at 2038-06-01T12:42:00Z. If a limit refused requests earlier in this hour, that was the limit of 5 a minute. In this hour: 1 refused by a limit, 0 refused while banned, 6 admitted.",
    ]);
    expect(await reasonsOf(key.id, "2038-06-01T11:59:00Z")).toMatchObject([
      expect.stringMatching(/^The day's limit of 6 was used up before this hour\. .*: 2 refused/),
    ]);
    expect(await reasonsOf(key.id, "2038-06-01T12:59:00Z")).toMatchObject([
      expect.stringMatching(/^No request of this key was refused by a limit in this hour \(0 admitted\)/),
    ]);
  });

  it("is that the key was disabled, revoked, expired or not there yet, or that its secret had ended", async ({
    expect,
  }) => {
    setClock(T0 - MINUTE);
    const { id } = (await operator("POST", "/keys", { name: "h", plan: "free" })).body;
    setClock(T0);
    await operator("PATCH", `/keys/${id}`, { disabled: true });
    setClock(T0 + HOUR);
    await operator("PATCH", `/keys/${id}`, { disabled: false, expiresAt: "2038-06-01T12:00:00Z" });
    setClock(T0 + 2 * HOUR);
    await operator("PATCH", `/keys/${id}`, { expiresAt: null });
    await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 0 });
    setClock(T0 + 4 * HOUR);
    await operator("DELETE", `/keys/${id}`);
    setClock(EVENING);
    const disabled = (await history(id, `at=${AT}`)).reasons[0];
    expect(disabled).toMatchObject({
      from: AT,
      actor: "mo",
      text: expect.stringMatching(/^The key was disabled/),
    });
    const first = async (at: string) => (await reasonsOf(id, `2038-06-01T${at}:00Z`))[0];
    expect(await first("11:30")).toMatch(/^The key was disabled/);
    // Enabled in the first second of 11:42.
    expect(await first("11:42")).toMatch(/^The key was disabled/);
    expect(await first("11:43")).toMatch(/^No request/);
    expect(await first("12:10")).toMatch(/^The key had expired/);
    expect(await first("13:00")).toMatch(/^No request/);
    expect((await reasonsOf(id, "2038-06-01T13:00:00Z")).at(-1)).toMatch(/^Secret sok_.* had ended/);
    expect(await first("15:00")).toMatch(/^The key was revoked/);
    expect(await first("20:00")).toBe("This time has not come yet.");
    const inItsFirstMinute = await reasonsOf(id, "2038-06-01T10:40:30Z");
    expect(inItsFirstMinute[0]).toMatch(/^No request/);
    expect(await reasonsOf(id, "2038-05-01")).toEqual(["The key did not exist yet: it was created later."]);
  });

  it("does not follow from a change whose predecessors were not read", async ({ expect }) => {
    const { id, key } = await createKey({ perMinute: 1 });
    await send(key, 3);
    const insert = env.DB.prepare(
      "insert into audit_log (at, request_id, actor, call, object, before, after) values (?, 'r', 'mo', 'keys.update', ?, ?, ?)",
    );
    const change = (seconds: number, before: object, after: object) =>
      insert.bind(T0 / 1000 + seconds, id, JSON.stringify(before), JSON.stringify(after));
    await env.DB.batch([
      change(3_600, { status: "active", requestsPerMinute: 1 }, { status: "disabled", requestsPerMinute: 2 }),
      change(3_700, { status: "disabled", requestsPerMinute: 2 }, { status: "active", requestsPerMinute: 1 }),
      ...Array.from({ length: MAX_CHANGES_READ - 1 }, (_, i) =>
        change(3_800 + i, { note: null }, { note: `${i}` }),
      ),
    ]);
    setClock(EVENING);
    expect(await reasonsOf(id)).toEqual([
      expect.stringMatching(/^The key's status and limits of that time are not known: too many changes/),
      "In this hour: 2 refused by a limit, 0 refused while banned, 1 admitted.",
    ]);
    expect((await reasonsOf(id, "2038-06-01T11:45:00Z"))[0]).toMatch(/^No request/);
    expect((await history(id, "")).events[0]).toEqual({
      kind: "change",
      from: "2038-05-31T18:42:00Z",
      until: "2038-06-01T11:43:40Z",
      text: "Changes can be missing: too many followed, or their audit entries are deleted.",
      actor: null,
    });
    expect((await history(id, "hours=6")).events).toEqual([]);
  });

  it("does not follow from changes of plans that were not read", async ({ expect }) => {
    const start = T0 - 80 * DAY; // before all other changes in this file
    setClock(start);
    const { id } = await createKey();
    await env.DB.prepare(
      `with recursive n(i) as (select 0 union all select i + 1 from n where i < ?1)
       insert into audit_log (at, request_id, actor, call, object, before, after)
       select ?2 + i * 60, 'r', 'mo', 'plans.update', 'free', '{}', '{}' from n`,
    )
      .bind(MAX_CHANGES_READ, (start + HOUR) / 1000)
      .run();
    setClock(start + 8 * HOUR);
    const first = async (time: number) => (await reasonsOf(id, rfc3339(time / 1000)))[0];
    expect(await first(start + HOUR)).toMatch(/^The key's status and limits .* are not known: too many/);
    expect(await first(start + HOUR + MINUTE)).toMatch(/^No request/);
  });

  it("does not follow from changes that retention has deleted", async ({ expect }) => {
    const start = T0 - 60 * DAY;
    setClock(start);
    const { id } = await createKey();
    setClock(start + 45 * DAY);
    const days30 = operatorOf(startApp({ AUDIT_RETENTION_DAYS: "30" }));
    const first = async (time: number) => {
      const at = new Date(time).toISOString();
      const { body } = await days30("GET", `/keys/${id}/history?at=${at}`);
      return (body.reasons as { text: string }[])[0]?.text; // the documented shape
    };
    expect(await first(start + 14 * DAY)).toMatch(/^The key's status and limits .* are not known/);
    expect(await first(start + 16 * DAY)).toMatch(/^No request/);
  });

  it.for([91, 300])("is known %i days later, and so are the refusals", async (days, { expect }) => {
    const start = T0 - (T0 % DAY) + days * DAY;
    setClock(start + HOUR);
    const { id, key } = await createKey({ perMinute: 50, perDay: 10 });
    await send(key, 10);
    setClock(start + 15 * HOUR);
    await send(key, 4);
    setClock(start + DAY + HOUR); // reports the day
    await send(key, 1);
    await untilStored("select 1 from daily_usage where key_id = ? and refused > 0", id);
    setClock(start + days * DAY + 12 * HOUR);
    const { reasons, events } = await history(id, `at=${rfc3339((start + 15 * HOUR) / 1000)}&hours=15`);
    expect(reasons.map(({ text }) => text)).toEqual([
      "The day's limit of 10 was used up before this hour. No further request was admitted until midnight UTC. In this hour: 4 refused by a limit, 0 refused while banned, 0 admitted.",
    ]);
    expect(events.map(({ text }) => text)).toEqual(["4 refused, 0 refused while banned, 0 admitted"]);
  });

  it("is not known for hours that are not kept", async ({ expect }) => {
    const { id } = await createKey();
    setClock(T0 + 400 * DAY);
    expect(await reasonsOf(id)).toEqual([expect.stringMatching(/^No request of this key was refused/)]);
    expect((await history(id, `at=${AT}&hours=10`)).events).toEqual([]);
    setClock(T0 + 401 * DAY);
    expect(await reasonsOf(id)).toEqual([
      "The usage of this hour is not known: it is not kept as long, or was stored without hours.",
    ]);
    expect((await history(id, `at=${AT}&hours=10`)).events).toEqual([
      {
        kind: "refusals",
        from: "2038-06-01T00:42:00Z",
        until: "2038-06-02T00:00:00Z",
        text: "Refusals can be missing: usage is not kept as long.",
        actor: null,
      },
    ]);
  });
});

describe("the history of a key", () => {
  it("has bans, changes with who made them, and hours with refusals, newest first", async ({ expect }) => {
    const { id, key } = (await operator("POST", "/keys", { name: "h", plan: "free" })).body;
    await send(key, 61);
    setClock(T0 + HOUR);
    await operator("PATCH", `/keys/${id}`, { plan: "pro", note: "asked for more" });
    setClock(T0 + 2 * HOUR);
    await operator("PUT", `/keys/${id}/ban`, { seconds: 3_600, reason: "leaked" });
    setClock(EVENING);
    const { events, from, to, keyName } = await history(id, "");
    expect({ from, to, keyName }).toEqual({
      from: "2038-05-31T18:42:00Z",
      to: "2038-06-01T18:42:00Z",
      keyName: "h",
    });
    expect(events.map(({ from, kind, text, actor }) => [from?.slice(11, 16), kind, text, actor])).toEqual([
      ["12:42", "ban", "Banned by an operator: leaked", null],
      ["12:42", "change", expect.stringMatching(/^bans\.set: .*reason leaked/), "mo"],
      ["11:42", "change", "keys.update: plan free → pro, note none → asked for more", "mo"],
      ["10:42", "change", expect.stringMatching(/^keys\.create: name h/), "mo"],
      ["10:00", "refusals", "1 refused, 0 refused while banned, 60 admitted", null],
    ]);
    expect((await history(id, "hours=1")).events).toEqual([]);
  });

  it("has a ban that was lifted within its first second as the reason of that minute", async ({ expect }) => {
    const { id } = await createKey();
    await operator("PUT", `/keys/${id}/ban`, { seconds: 3_600, reason: "a slip" });
    await operator("DELETE", `/keys/${id}/ban`);
    expect((await reasonsOf(id))[0]).toMatch(/^Banned by an operator: a slip. Lifted by mo/);
    expect((await reasonsOf(id, "2038-06-01T10:41:00Z"))[0]).not.toMatch(/^Banned/);
  });

  it("says which bans it does not have", async ({ expect }) => {
    const { id } = await createKey();
    const from = "2038-05-31T18:42:00Z";
    await env.DB.prepare(
      `with recursive n(i) as (select 0 union all select i + 1 from n where i < ?1)
       insert into bans (id, key_id, cause, reason, strikes, started_at, ends_at)
       select 'ban_' || i || ?2, ?2, 'operator', 'test', 0, ?3 + i, ?3 + i + 60 from n`,
    )
      .bind(MAX_BANS_READ, id, T0 / 1000)
      .run();
    setClock(EVENING);
    const { events } = await history(id, "");
    expect(events).toHaveLength(MAX_BANS_READ + 1);
    const until = "2038-06-01T10:42:01Z";
    expect(events[0]).toMatchObject({
      kind: "ban",
      from,
      until,
      text: expect.stringMatching(/^Bans can be missing/),
    });
    expect((await history(id, "hours=7")).events).toEqual([]);
  });

  it("says of a ban only that it ended if the change that ended it was not read", async ({ expect }) => {
    const { id } = await createKey();
    await operator("PUT", `/keys/${id}/ban`, { seconds: 3_600, reason: "leaked" });
    await operator("DELETE", `/keys/${id}/ban`);
    await env.DB.prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
       insert into audit_log (at, request_id, actor, call, object, before, after)
       select at, 'r', 'mo', 'keys.update', object, '{}', '{}' from audit_log, n
       where object = ? and call = 'bans.lift'`,
    )
      .bind(MAX_CHANGES_READ, id)
      .run();
    setClock(EVENING);
    const { events } = await history(id, "");
    expect(events.find(({ kind }) => kind === "ban")?.text).toBe(
      "Banned by an operator: leaked. Ended by mo",
    );
  });

  it("names the secret that was retired, and leaves out what a change of the plan kept", async ({
    expect,
  }) => {
    const { id, key } = (await operator("POST", "/keys", { name: "h", plan: "free" })).body;
    const { body } = await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 3_600 });
    const secrets = body.secrets as { id: string; hint: string }[]; // the body of this route
    const old = secrets.find(({ hint }) => hint === maskKey(String(key)));
    setClock(T0 + MINUTE);
    await operator("DELETE", `/keys/${id}/secrets/${old?.id}`);
    await operator("PATCH", "/plans/free", { requestsPerMinute: 50 });
    setClock(EVENING);
    const texts = (await history(id, "")).events.map(({ text }) => text);
    expect(texts).toContain("plans.update of plan free: requestsPerMinute 60 → 50");
    expect(texts).toContainEqual(
      expect.stringContaining(`keys.retire of secret ${maskKey(String(key))}: expiresAt`),
    );
  });

  it("has the changes of each plan while the key had it, and no others", async ({ expect }) => {
    const changePlan = (plan: string, requestsPerMinute: number) =>
      operator("PATCH", `/plans/${plan}`, { requestsPerMinute });
    const start = T0 + DAY; // after all other changes of plans in this file
    setClock(start);
    await changePlan("pro", 201);
    const { id, key } = (await operator("POST", "/keys", { name: "h", plan: "free" })).body;
    await changePlan("pro", 202);
    await changePlan("free", 3);
    setClock(start + HOUR);
    await send(key, 5);
    setClock(start + 2 * HOUR);
    await changePlan("free", 4);
    await operator("PATCH", `/keys/${id}`, { plan: "pro" });
    await changePlan("free", 60);
    await changePlan("pro", 203);
    setClock(start + 8 * HOUR);
    const { events } = await history(id, "");
    const texts = events.map(({ text }) => text).filter((text) => /plan/.test(text) && !/create/.test(text));
    expect(texts).toEqual([
      "plans.update of plan pro: requestsPerMinute 202 → 203",
      "keys.update: plan free → pro",
      "plans.update of plan free: requestsPerMinute 3 → 4",
      expect.stringMatching(/^plans\.update of plan free: requestsPerMinute \d+ → 3$/),
    ]);
    expect((await reasonsOf(id, "2038-06-02T11:42:00Z"))[0]).toMatch(/^The limit of 3 a minute was used up/);
  });

  it("checks its query, and needs a key", async ({ expect }) => {
    const { id } = await createKey();
    for (const query of ["at=10:42", "hours=0", "hours=169"]) {
      expect((await operator("GET", `/keys/${id}/history?${query}`)).status, query).toBe(400);
    }
    expect((await operator("GET", "/keys/key_none/history")).status).toBe(404);
  });
});
