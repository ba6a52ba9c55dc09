/** Alerts: what is stored when, how it is sent and signed, and that a receiver that fails harms nothing. */

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { createHmac } from "node:crypto";
import { beforeEach, describe, it, vi } from "vitest";
import type { Bindings } from "../../../src/worker/context.ts";
import worker from "../../../src/worker/index.ts";
import { createKey, giveKeys, type TestKey } from "../../support/factories.ts";
import { LIST, limiterOf, log, setClock, startApp, startEachTestAt } from "../../support/worker.ts";
import {
  banByStrikes,
  everythingStored,
  operatorOf,
  untilStored,
  withoutReportsTo,
} from "./admin-support.ts";

const T0 = Date.UTC(2035, 0, 1, 12);
const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const SECRET_BYTES = Buffer.from("a secret of the webhook, for the tests");
const WEBHOOK = {
  ALERT_WEBHOOK_URL: "https://hooks.example/a-secret-path",
  ALERT_WEBHOOK_SECRET: `whsec_${SECRET_BYTES.toString("base64")}`,
};

startEachTestAt(T0);

type Received = {
  id: string;
  agent: string;
  atSeconds: number;
  signature: string;
  signed: string;
  body: Record<string, unknown>;
  text: string;
};

/** The webhook's receiver. It answers 204 unless a test says otherwise, and accepts no wrong signature. */
function startReceiver() {
  const receiver = {
    received: [] as Received[],
    answer: async (): Promise<Response> => new Response(null, { status: 204 }),
  };
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    if (request.url !== WEBHOOK.ALERT_WEBHOOK_URL) throw new Error(`unexpected ${request.url}`);
    const header = (name: string) => request.headers.get(`webhook-${name}`) ?? "";
    const [id, at, signature] = [header("id"), header("timestamp"), header("signature")];
    const body = await request.text();
    const signed = `${id}.${at}.${body}`;
    const isSigned = signature.split(" ").includes(signatureOf(SECRET_BYTES, signed));
    if (!isSigned || init?.redirect !== "manual") return new Response(null, { status: 401 });
    const parsed = JSON.parse(body);
    const agent = request.headers.get("User-Agent") ?? "";
    const atSeconds = Number(at);
    receiver.received.push({ id, agent, atSeconds, signature, signed, body: parsed, text: parsed.text });
    return Promise.race([receiver.answer(), aborted(request.signal)]);
  });
  return receiver;
}

function signatureOf(secret: Buffer, signed: string): string {
  return `v1,${createHmac("sha256", secret).update(signed).digest("base64")}`;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

let receiver: ReturnType<typeof startReceiver>;
beforeEach(async () => {
  receiver = startReceiver();
  await env.DB.exec("delete from alerts");
  await env.DB.exec("delete from alert_receivers");
});

const app = startApp(WEBHOOK);
const operator = operatorOf(app);
const ban = (id: string, by = operator) => by("PUT", `/keys/${id}/ban`, { seconds: 600, reason: "abuse" });
const lift = (id: string, by = operator) => by("DELETE", `/keys/${id}/ban`);
const cron = (bindings: Partial<Bindings> = WEBHOOK, name = "* * * * *") =>
  worker.scheduled({ scheduledTime: 0, cron: name, noRetry: () => undefined }, { ...env, ...bindings });
const received = (count: number) =>
  vi.waitFor(() => {
    if (receiver.received.length < count) throw new Error(`${receiver.received.length} of ${count} alerts`);
    return receiver.received;
  });
const listed = async (query = "") => (await operator("GET", `/alerts${query}`)).body.alerts as unknown[];
const stored = async () =>
  (
    await env.DB.prepare(
      "select type, attempts, next_attempt_at as next, last_error from alerts order by at, id",
    ).all()
  ).results;

/** A key whose object knows the webhook. */
async function watchedKey(options: Parameters<typeof createKey>[0] = {}): Promise<TestKey> {
  const key = await createKey(options);
  await watch(key);
  return key;
}

/** The object's bindings are those of the tests, which have no webhook. */
async function watch({ id }: Pick<TestKey, "id">): Promise<void> {
  await runInDurableObject(limiterOf(id), (instance) => {
    Object.assign(instance, { env: { ...env, ...WEBHOOK } });
  });
}

describe("an alert of a ban or a link", () => {
  it("that an operator set or lifted is sent at once, signed, with ids, figures and a sentence", async ({
    expect,
  }) => {
    const { id } = await createKey();
    await env.DB.exec(`update api_keys set name = 'demo <!channel>' where id = '${id}'`);
    const customer = await giveKeys("Acme", id);
    await ban(id, operatorOf(startApp({ ...WEBHOOK, CONSOLE_URL: "https://api.example.com/console" })));
    const [set] = await received(1);
    expect(set).toMatchObject({
      id: expect.stringMatching(/^ban_/),
      atSeconds: T0 / 1000,
      body: {
        type: "ban.set",
        timestamp: "2035-01-01T12:00:00Z",
        data: {
          keyId: id,
          keyName: "demo <!channel>",
          customer: { id: customer, name: "Acme", email: null },
          reason: "abuse",
          actor: "mo",
          endsAt: "2035-01-01T12:10:00Z",
        },
      },
    });
    expect(set?.text).toMatch(/^Key demo ‹!channel› \(Acme\) .*12:10 UTC.*abuse/);
    expect(set?.text).toContain(`https://api.example.com/console/keys/${id}`);
    await lift(id);
    expect((await received(2))[1]?.body).toMatchObject({
      type: "ban.lifted",
      data: { keyId: id, actor: "mo" },
    });
    await vi.waitFor(async () => expect(await listed("?state=delivered")).toHaveLength(2));
    await lift(id);
    await cron();
    expect(receiver.received).toHaveLength(2);
  });

  it("that an owner's link was made is sent at once, without the link itself", async ({ expect }) => {
    await operator("POST", "/customers", { name: "Mail", email: "ops@mail.example" });
    await operator("POST", "/keys", { name: "mail", plan: "free", customer: "Mail" });
    const { id, link } = (await operator("POST", "/links", { customer: "Mail", days: 7 })).body;
    const [sent] = await received(1);
    const data = { link: id, customer: { name: "Mail", email: "ops@mail.example" }, madeBy: "mo" };
    expect(sent?.body).toMatchObject({ type: "owner.link", data });
    expect(JSON.stringify(sent)).not.toContain(String(link).split("#")[1]);
  });

  it("that began for strikes is sent by the limiter, once however often it reports", async ({ expect }) => {
    const key = await watchedKey({ perMinute: 1 });
    await banByStrikes(key, app, T0);
    const [started] = await received(1);
    expect(started?.body).toMatchObject({
      type: "ban.started",
      data: { keyId: key.id, strikes: 20, endsAt: "2035-01-01T12:05:21Z", ban: started?.id },
    });
    const bans = [{ id: String(started?.id), strikes: 20, startedAtMs: T0, endsAtMs: T0 }];
    const repeated = { key: key.id, hours: [], bans, thresholds: [], credentials: [] };
    await runInDurableObject(limiterOf(key.id), (limiter) => limiter.report(repeated)); // D1's answer was lost
    await cron();
    expect(receiver.received).toHaveLength(1);
  });

  it("is stored with the ban and its audit row, or none of them", async ({ expect }) => {
    const { id } = await createKey();
    const before = await everythingStored();
    await withoutReportsTo(["alerts"], async () => {
      expect((await ban(id)).status).toBe(500);
    });
    expect(await everythingStored()).toEqual(before);
    expect((await operator("PUT", `/keys/${id}/ban`, { seconds: 9, reason: "late" }, '"9"')).status).toBe(
      412,
    );
    expect(await everythingStored()).toEqual(before);
  });
});

describe("alerts of a key's usage", () => {
  it("come once a day at 80 % and once at 100 %, also from an object that has started again", async ({
    expect,
  }) => {
    const key = await watchedKey({ perDay: 10 });
    const use = async (count: number) => {
      for (let i = 0; i < count; i++) await app(LIST, { key: key.key });
    };
    await use(7);
    expect(await stored()).toEqual([]);
    await use(1);
    expect((await received(1))[0]).toMatchObject({
      id: `${key.id}:2035-01-01:80:10`,
      body: {
        type: "key.usage",
        data: { keyId: key.id, used: 8, limit: 10, percent: 80, day: "2035-01-01" },
      },
    });
    await evictDurableObject(limiterOf(key.id));
    await watch(key);
    await use(1);
    await cron();
    expect(receiver.received).toHaveLength(1);
    await use(2);
    expect((await received(2))[1]?.body).toMatchObject({ type: "key.usage", data: { used: 10 } });
    setClock(T0 + DAY);
    await use(8);
    expect((await received(3))[2]?.id).toBe(`${key.id}:2035-01-02:80:10`);
    await cron();
    expect(receiver.received).toHaveLength(3);
  });

  it("come of a customer's limit over all keys, too", async ({ expect }) => {
    const keys = [await createKey(), await createKey()];
    const id = await giveKeys("Alerted", ...keys.map((key) => key.id));
    await operator("PATCH", `/customers/${id}`, { requestsPerDay: 5 });
    await watch({ id });
    const use = async () => {
      for (const { key } of keys) await app(LIST, { key });
    };
    for (let i = 0; i < 3; i++) await use();
    const [first, second] = await received(2);
    expect(first).toMatchObject({
      id: `${id}:2035-01-01:80:5`,
      body: { type: "customer.usage", data: { customer: { id, name: "Alerted" }, used: 4, limit: 5 } },
      text: expect.stringMatching(/^Customer Alerted has used 80 % of its requests/),
    });
    expect(second?.body).toMatchObject({ type: "customer.usage", data: { percent: 100 } });
    expect(await listed()).toMatchObject(
      Array(2).fill({ type: "customer.usage", keyId: null, customerId: id, state: "delivered" }),
    );
    const { n } =
      (await env.DB.prepare("select count(*) as n from usage where key_id = ?").bind(id).first()) ?? {};
    expect(n, "the use of a customer is that of its keys").toBe(0);
  });

  it("come at the shares of the plan, from the next request on", async ({ expect }) => {
    const key = await watchedKey({ plan: "business", perDay: 10 });
    const percentsAt = async (alertPercents: readonly number[] | null, requests: number) => {
      const { body } = await operator("PATCH", "/plans/business", { alertPercents });
      expect(body).toMatchObject({ alertPercents, effective: "immediately" });
      for (let i = 0; i < requests; i++) await app(LIST, { key: key.key });
    };
    await percentsAt([20, 50], 4);
    expect((await received(1))[0]?.body).toMatchObject({ data: { percent: 20, used: 2 } });
    await percentsAt([30], 1);
    expect((await received(2))[1]?.body).toMatchObject({ data: { percent: 30, used: 5 } });
    await percentsAt(null, 5);
    expect(await stored()).toHaveLength(2);
    await percentsAt([80, 100], 0);
  });

  it("are not lost if D1 refuses them at the key's last request of the day", async ({ expect }) => {
    const key = await watchedKey({ perDay: 1 });
    await withoutReportsTo(["alerts"], async () => {
      expect((await app(LIST, { key: key.key })).status).toBe(200);
    });
    expect(await stored()).toEqual([]);
    await evictDurableObject(limiterOf(key.id));
    await watch(key);
    setClock(T0 + MINUTE);
    await runDurableObjectAlarm(limiterOf(key.id));
    expect((await received(1))[0]?.body).toMatchObject({ type: "key.usage" });
  });
});

describe("an alert of an expiry", () => {
  it("comes once for each active key that expires within 7 days", async ({ expect }) => {
    await env.DB.exec("delete from key_secrets");
    await env.DB.exec("delete from api_keys");
    const at = (ms: number) => ({ expiresAt: (T0 + ms) / 1000 });
    const soon = await createKey(at(7 * DAY));
    await Promise.all([createKey(at(7 * DAY + SECOND)), createKey(at(0)), createKey()]);
    await createKey({ ...at(DAY), status: "revoked" });
    await cron(WEBHOOK, "23 * * * *");
    await cron(WEBHOOK, "23 * * * *");
    await cron();
    expect(await received(1)).toMatchObject([
      {
        id: `${soon.id}:expires:${(T0 + 7 * DAY) / 1000}`,
        body: { type: "key.expiring", data: { keyId: soon.id, expiresAt: "2035-01-08T12:00:00Z" } },
      },
    ]);
    expect(await stored()).toHaveLength(1);
  });
});

describe("delivery", () => {
  it("is tried again after 1, 5 and 30 minutes, 2, 5 and 10 hours, then every 14, and is given up after 3 days", async ({
    expect,
  }) => {
    receiver.answer = async () => new Response("down", { status: 500 });
    await ban((await createKey()).id);
    await untilStored("select 1 from alerts where last_error = 'status 500'");
    const waits: number[] = [];
    for (let last = T0; ; ) {
      const [{ next } = { next: null }] = (await stored()) as { next: number | null }[];
      if (next === null) break;
      waits.push((next * SECOND - last) / MINUTE);
      setClock(next * SECOND - SECOND);
      await cron();
      last = next * SECOND;
      setClock(last);
      await cron();
    }
    const h = HOUR / MINUTE;
    expect(waits).toEqual([1, 5, 30, 2 * h, 5 * h, 10 * h, 14 * h, 14 * h, 14 * h]);
    expect(receiver.received).toHaveLength(waits.length + 1);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
    expect(await listed("?state=failed")).toMatchObject([
      { attempts: waits.length + 1, lastError: "status 500" },
    ]);
  });

  it("ends with the first success", async ({ expect }) => {
    receiver.answer = async () => {
      receiver.answer = async () => new Response("ok");
      return Response.redirect("https://elsewhere.example");
    };
    await ban((await createKey()).id);
    await untilStored("select 1 from alerts where last_error = 'status 302'");
    for (let minute = 1; minute <= 10; minute++) {
      setClock(T0 + minute * MINUTE);
      await cron();
    }
    expect(receiver.received).toHaveLength(2);
    expect(await listed()).toMatchObject([
      {
        state: "delivered",
        attempts: 2,
        deliveredAt: "2035-01-01T12:01:00Z",
        lastError: null,
        nextAttemptAt: null,
      },
    ]);
  });

  it("is made by one of several isolates", async ({ expect }) => {
    receiver.answer = async () => new Response("down", { status: 503 });
    for (let i = 0; i < 7; i++) await ban((await createKey()).id);
    await vi.waitFor(async () => expect(await listed("?state=failing")).toHaveLength(7));
    await vi.waitFor(() => expect(receiver.received).toHaveLength(7));
    receiver.answer = async () => new Response("ok");
    setClock(T0 + MINUTE);
    await Promise.all([cron(), cron(), cron()]);
    await vi.waitFor(async () => expect(await listed("?state=delivered")).toHaveLength(7));
    expect(receiver.received).toHaveLength(14);
  });

  it("to a receiver that hangs times out; no ban, lift or request waits for it or fails", async ({
    expect,
  }) => {
    const { setTimeout } = globalThis;
    vi.spyOn(globalThis, "setTimeout").mockImplementation((call, ms) =>
      setTimeout(call, ms === 10_000 ? 1_500 : ms),
    );
    receiver.answer = () => new Promise(() => undefined);
    const key = await watchedKey({ perDay: 2 });
    expect((await ban(key.id)).status).toBe(200);
    expect((await lift(key.id)).status).toBe(200);
    for (let i = 0; i < 2; i++) expect((await app(LIST, { key: key.key })).status).toBe(200);
    await received(3);
    expect(await listed("?state=pending")).toHaveLength(3);
    expect(await stored()).toMatchObject([1, 2, 3].map(() => ({ last_error: null })));
    await vi.waitFor(
      async () => expect(await stored()).toMatchObject([1, 2, 3].map(() => ({ last_error: "timeout" }))),
      { timeout: 10_000 },
    );
  });

  it("logs why it failed, and neither the address nor the secret", async ({ expect }) => {
    receiver.answer = () => Promise.reject(new Error(`cannot reach ${WEBHOOK.ALERT_WEBHOOK_URL}`));
    await ban((await createKey()).id);
    await untilStored("select 1 from alerts where last_error = 'unreachable'");
    await vi.waitFor(() =>
      expect(log.lines()).toContainEqual(
        expect.objectContaining({ event: "alert_not_delivered", error: "unreachable" }),
      ),
    );
    expect(log.text()).not.toMatch(/hooks\.example|whsec_/);
  });
});

const down = async () => new Response("down", { status: 500 });
const receiverState = async (by = operator) => (await by("GET", "/alerts?limit=1")).body.receiver;
const failOnce = async () => {
  await ban((await createKey()).id);
  await untilStored("select 1 from alerts where last_error is not null");
};

describe("a receiver that fails", () => {
  it("is failing from the first failure on, with its host, since when, why, and when it is tried again", async ({
    expect,
  }) => {
    receiver.answer = down;
    await failOnce();
    const failing = {
      host: "hooks.example",
      state: "failing",
      since: "2035-01-01T12:00:00Z",
      lastError: "status 500",
      deliveredAt: null,
      nextAttemptAt: "2035-01-01T12:01:00Z",
      waiting: 1,
      failing: 1,
    };
    expect(await receiverState()).toMatchObject(failing);
    expect(await listed("?state=failing")).toMatchObject([{ state: "failing", lastError: "status 500" }]);
    expect((await operator("GET", "/health")).body).toMatchObject({ problems: [], alerts: failing });

    receiver.answer = async () => new Response(null, { status: 204 });
    setClock(T0 + MINUTE);
    await cron();
    expect(await receiverState()).toMatchObject({
      state: "ok",
      since: null,
      lastError: null,
      deliveredAt: "2035-01-01T12:01:00Z",
      failing: 0,
    });
  });

  it("gets an alert of now before a backlog", async ({ expect }) => {
    receiver.answer = down;
    for (let i = 0; i < 8; i++) await ban((await createKey()).id);
    await vi.waitFor(async () => expect(await listed("?state=failing")).toHaveLength(8));
    receiver.answer = async () => new Response(null, { status: 204 });
    setClock(T0 + HOUR);
    const { id } = await createKey();
    await ban(id);
    await vi.waitFor(async () => expect(await listed("?state=delivered")).toHaveLength(9));
    const batch = receiver.received.slice(8, 13);
    expect(batch).toContainEqual(
      expect.objectContaining({
        body: expect.objectContaining({ data: expect.objectContaining({ keyId: id }) }),
      }),
    );
  });
});

describe("a receiver that asks to wait", () => {
  const PAUSED = "select 1 from alert_receivers where paused_until > 0";
  const asking = (retryAfter: string, status = 429) => {
    receiver.answer = async () => new Response("slow", { status, headers: { "Retry-After": retryAfter } });
  };

  it.for([
    ["120", 120],
    [new Date(T0 + 300_000).toUTCString(), 300],
    ["999999999999999999999", 3_600],
  ] as const)(
    "gets nothing before the time of Retry-After, at most for an hour: %s",
    async ([header, seconds], { expect }) => {
      asking(header);
      await ban((await createKey()).id);
      await untilStored(PAUSED);
      const { pausedUntil } = (await receiverState()) as { pausedUntil: string };
      // The wait for the row has moved the clock by some milliseconds.
      const pauseMs = Date.parse(pausedUntil) - T0;
      expect([seconds * SECOND, (seconds + 1) * SECOND]).toContain(pauseMs);
      expect(await receiverState()).toMatchObject({ nextAttemptAt: pausedUntil });
      expect(await listed()).toMatchObject([{ nextAttemptAt: pausedUntil }]);
      receiver.answer = async () => new Response(null, { status: 204 });
      setClock(T0 + pauseMs - SECOND);
      await ban((await createKey()).id);
      await cron();
      expect(receiver.received).toHaveLength(1);
      for (const sent of [2, 3]) {
        setClock(T0 + pauseMs + sent * SECOND);
        await cron();
        expect(receiver.received).toHaveLength(sent);
      }
    },
  );

  it("has not failed: no attempt counts, and the next one is at the end of the pause", async ({ expect }) => {
    await operator("POST", "/alerts/test");
    asking(new Date(T0 + 90 * SECOND).toUTCString());
    await ban((await createKey()).id);
    const pausedUntil = "2035-01-01T12:01:30Z";
    await vi.waitFor(async () => expect(await receiverState()).toMatchObject({ state: "ok", pausedUntil }));
    expect(await listed()).toMatchObject([
      { state: "pending", attempts: 0, lastError: null, nextAttemptAt: pausedUntil },
    ]);
    asking("90");
    setClock(T0 + HOUR + MINUTE);
    await cron();
    expect(await receiverState()).toMatchObject({ state: "failing", lastError: "status 429" });
    for (let hour = 2; hour < 75; hour++) {
      setClock(T0 + hour * HOUR);
      await cron();
    }
    expect(await listed()).toMatchObject([{ state: "failed", attempts: 0, lastError: "status 429" }]);
  });

  it.for(["", "soon", "-5", "0", "Thu, 01 Jan 1970 00:00:00 GMT"])(
    "in a form that is none is tried again as without: %s",
    async (header, { expect }) => {
      asking(header);
      await failOnce();
      expect(await receiverState()).toMatchObject({
        pausedUntil: null,
        nextAttemptAt: "2035-01-01T12:01:00Z",
      });
    },
  );

  it.for([429, 503])(
    "is asked no more to wait once it accepts a test alert, after %s",
    async (status, { expect }) => {
      asking("3600", status);
      await ban((await createKey()).id);
      await untilStored(PAUSED);
      await ban((await createKey()).id);
      setClock(T0 + 2 * MINUTE);
      await operator("POST", "/alerts/test");
      await cron();
      expect(receiver.received).toHaveLength(2); // it did not accept the one by hand
      receiver.answer = async () => new Response(null, { status: 204 });
      await operator("POST", "/alerts/test");
      expect(await receiverState()).toMatchObject({ pausedUntil: null, nextAttemptAt: expect.any(String) });
      await cron();
      expect(receiver.received).toHaveLength(4);
    },
  );
});

/** What the documents of each receiver say that it refuses: docs/runbook.md names them. */
const RECEIVERS = {
  generic: () => true,
  Slack: ({ text }) => typeof text === "string" && text !== "",
  Teams: ({ text }) => typeof text === "string",
  Mattermost: ({ text, type = "custom_" }) => text !== "" && String(type).startsWith("custom_"),
  "Google Chat": ({ text, ...others }) => typeof text === "string" && Object.keys(others).length === 0,
  Discord: ({ text }) => typeof text === "string" && text.length <= 2_000,
} satisfies Record<string, (body: Record<string, unknown>) => boolean>;

describe("the format", () => {
  it.for([
    ["full", ["generic", "Slack", "Teams", "Discord"]],
    ["text", Object.keys(RECEIVERS)],
  ] as const)("%s is accepted by %s", async ([format, accepting], { expect }) => {
    const formatted = operatorOf(startApp({ ...WEBHOOK, ALERT_FORMAT: format }));
    const { id } = await createKey();
    await env.DB.exec(`update api_keys set name = '@all <!channel>' where id = '${id}'`);
    await ban(id, formatted);
    await formatted("POST", "/alerts/test");
    const bodies = (await received(2)).map(({ body }) => body);
    const ofReceivers = Object.entries(RECEIVERS).filter(([, accepts]) => bodies.every(accepts));
    expect(ofReceivers.map(([name]) => name)).toEqual(accepting);
    expect(bodies.map(({ text }) => text).join()).not.toMatch(/[<>@]/);
  });
});

it("two secrets sign, while one replaces the other", async ({ expect }) => {
  const added = Buffer.from("the new secret of the webhook");
  const ALERT_WEBHOOK_SECRET = `whsec_${added.toString("base64")} ${WEBHOOK.ALERT_WEBHOOK_SECRET}`;
  await operatorOf(startApp({ ...WEBHOOK, ALERT_WEBHOOK_SECRET }))("POST", "/alerts/test");
  const [{ signed, signature }] = (await received(1)) as [Received];
  expect(signature).toBe(`${signatureOf(added, signed)} ${signatureOf(SECRET_BYTES, signed)}`);
});

describe("a receiver that answers 410", () => {
  const goneReceiver = async () => {
    receiver.answer = async () => new Response("gone", { status: 410 });
    await failOnce();
    receiver.answer = async () => new Response(null, { status: 204 });
  };

  it("gets nothing until it accepts a test alert", async ({ expect }) => {
    await goneReceiver();
    setClock(T0 + HOUR);
    await ban((await createKey()).id);
    await cron();
    expect(receiver.received).toHaveLength(1);
    const off = { state: "off", since: "2035-01-01T12:00:00Z", nextAttemptAt: null, waiting: 2, failing: 1 };
    expect(await receiverState()).toMatchObject(off);
    receiver.answer = down;
    await operator("POST", "/alerts/test");
    expect(await receiverState()).toMatchObject({ ...off, lastError: "status 500" });
    receiver.answer = async () => new Response(null, { status: 204 });
    await operator("POST", "/alerts/test");
    await cron();
    expect(await receiverState()).toMatchObject({ state: "ok", waiting: 0 });
  });

  it("leaves a receiver with another address on", async ({ expect }) => {
    await goneReceiver();
    setClock(T0 + HOUR);
    vi.mocked(fetch).mockImplementation(async () => new Response(null, { status: 204 }));
    const other = { ...WEBHOOK, ALERT_WEBHOOK_URL: "https://hooks.example/another-path" };
    await cron(other);
    expect(await receiverState(operatorOf(startApp(other)))).toMatchObject({ state: "ok", waiting: 0 });
  });
});

describe("without a webhook", () => {
  it("nothing is stored or sent", async ({ expect }) => {
    const plain = operatorOf(startApp());
    const key = await createKey({ perMinute: 1, perDay: 1, expiresAt: T0 / 1000 + 60 });
    await banByStrikes(key, app, T0);
    await untilStored("select 1 from bans where key_id = ?", key.id);
    await ban(key.id, plain);
    await lift(key.id, plain);
    await cron({}, "23 * * * *");
    await cron({});
    expect(await stored()).toEqual([]);
    expect(receiver.received).toEqual([]);
    expect((await plain("GET", "/alerts")).body).toEqual({ alerts: [], next: null, receiver: null });
    expect((await plain("POST", "/alerts/test")).status).toBe(409);
  });
});

describe("the admin API", () => {
  it("lists alerts, newest first", async ({ expect }) => {
    const [first, last] = [await createKey(), await createKey()];
    await ban(first.id);
    setClock(T0 + SECOND);
    await ban(last.id);
    expect((await operator("GET", "/alerts")).body).toMatchObject({
      alerts: [{ keyId: last.id, type: "ban.set" }, { keyId: first.id }],
      receiver: { host: "hooks.example" },
    });
    expect((await operator("GET", "/alerts?state=lost")).status).toBe(400);
  });

  it("sends a test alert and says what became of it", async ({ expect }) => {
    expect(await operator("POST", "/alerts/test")).toMatchObject({
      status: 200,
      body: { delivered: true, status: 204, error: null },
    });
    expect(receiver.received).toMatchObject([{ body: { type: "test", data: { actor: "mo" } } }]);
    receiver.answer = async () => new Response("no", { status: 404 });
    expect((await operator("POST", "/alerts/test")).body).toMatchObject({
      delivered: false,
      status: 404,
      error: "status 404",
    });
    expect(await stored()).toEqual([]);
  });
});
