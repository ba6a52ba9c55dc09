/** `GET /admin/metrics`. test/slow/metrics.test.ts gives the answer to Prometheus. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey, giveKeys } from "../../support/factories.ts";
import { limiterOf, setClock, startApp, startEachTestAt, watchDatabase } from "../../support/worker.ts";
import { banByStrikes, operatorOf, unreachableLimiters, untilStored } from "./admin-support.ts";

const T0 = Date.UTC(2037, 4, 1, 10, 30);
const app = startApp();
const operator = operatorOf(app);

startEachTestAt(T0);

async function scrape(of = app, query = "", headers: Record<string, string> = {}) {
  const response = await of(`/admin/metrics${query}`, { key: env.ADMIN_TOKEN, headers });
  // workerd warns of text() for a media type that it does not know as text.
  const text = new TextDecoder().decode(await response.arrayBuffer());
  const samples = text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm);
  const values = Object.fromEntries(
    Array.from(samples, ([, name, labels = "", value]) => [
      `${name} ${labels.replaceAll('"', "")}`.trim(),
      Number(value),
    ]),
  );
  return { text, values, type: response.headers.get("Content-Type"), status: response.status };
}

describe("GET /admin/metrics", () => {
  it("is OpenMetrics: each family once, with its samples in one block, and an end", async ({ expect }) => {
    await createKey();
    const { text, type } = await scrape(app, "?keys=top");
    expect(type).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
    const lines = text.split("\n");
    expect(lines.splice(-2)).toEqual(["# EOF", ""]);
    const families = lines.flatMap((line) => /^# TYPE (\S+) (gauge|counter)$/.exec(line)?.[1] ?? []);
    expect(families).toEqual([...new Set(families)]);
    let family = "";
    const seen = new Set<string>();
    for (const line of lines) {
      family = /^# TYPE (\S+) /.exec(line)?.[1] ?? family;
      if (line.startsWith("#")) {
        expect(line).toMatch(new RegExp(`^# (TYPE|UNIT|HELP) ${family} \\S`));
        continue;
      }
      const label = '[a-z_]+="(?:[^"\\\\\n]|\\\\["\\\\n])*"';
      expect(line).toMatch(
        new RegExp(`^${family}(_total|_created)?(\\{${label}(,${label})*\\})? \\d+(\\.\\d+)?$`),
      );
      const series = line.slice(0, line.lastIndexOf(" "));
      expect(seen).not.toContain(series);
      seen.add(series);
    }
  });

  it.for<[accept: string, format: string]>([
    ["", "openmetrics"],
    ["*/*", "openmetrics"],
    ["text/plain", "text"],
    ["text/*;q=0.9, */*;q=0.1", "text"],
    ["text/plain;q=0.3, */*", "openmetrics"],
    ["text/*, text/plain;q=0", "openmetrics"],
    ["application/openmetrics-text;q=0, */*", "text"],
    // Prometheus, and a reader of a later OpenMetrics only.
    [
      "application/openmetrics-text;version=1.0.0;q=0.8, text/plain;version=0.0.4;q=0.5, */*;q=0.1",
      "openmetrics",
    ],
    ["application/openmetrics-text;version=2.0.0, text/plain;version=0.0.4;q=0.5", "text"],
  ])("answers Accept: %s with %s", async ([accept, format], { expect }) => {
    const { type } = await scrape(app, "", accept === "" ? {} : { Accept: accept });
    expect(type).toContain(format === "text" ? "text/plain; version=0.0.4" : "application/openmetrics-text");
  });

  it("counts requests by plan and outcome from midnight on, and says until when", async ({ expect }) => {
    const key = await createKey({ plan: "pro", perMinute: 2 });
    for (let i = 0; i < 3; i++) await app("/v1/nothing", { key: key.key });
    await limiterOf(key.id).flush();
    const { values } = await scrape();
    const midnight = Date.UTC(2037, 4, 1) / 1000;
    expect(values["store_orders_requests_total plan=pro,outcome=admitted"]).toBe(2);
    expect(values["store_orders_requests_total plan=pro,outcome=over_limit"]).toBe(1);
    expect(values["store_orders_requests_created plan=pro,outcome=admitted"]).toBe(midnight);
    expect(values["store_orders_requests_total plan=enterprise,outcome=banned"]).toBe(0);
    expect(values["store_orders_as_of_timestamp_seconds metric=store_orders_requests"]).toBe(
      midnight + 9 * 3_600,
    );
    expect(values["store_orders_as_of_timestamp_seconds metric=store_orders_keys"]).toBe(T0 / 1000);
    setClock(T0 + 14 * 3_600_000);
    const next = (await scrape()).values;
    expect(next["store_orders_requests_total plan=pro,outcome=admitted"]).toBe(0);
    expect(next["store_orders_requests_created plan=pro,outcome=admitted"]).toBe(midnight + 86_400);
    expect(next["store_orders_as_of_timestamp_seconds metric=store_orders_requests"]).toBe(midnight + 86_400);
  });

  it("counts keys by status and live bans by cause", async ({ expect }) => {
    const before = (await scrape()).values;
    const banned = await createKey({ perMinute: 1, perDay: 100 });
    await banByStrikes(banned, app, T0);
    await untilStored("select 1 from bans where key_id = ?", banned.id);
    const { id } = await createKey();
    await operator("PUT", `/keys/${id}/ban`, { seconds: 60, reason: "a test" });
    await operator("PATCH", `/keys/${(await createKey()).id}`, { disabled: true });
    const { values } = await scrape();
    const grown = Object.entries(values).flatMap(([name, value]) =>
      /^store_orders_(keys|bans) /.test(name) && value !== before[name]
        ? [[name, value - (before[name] ?? 0)]]
        : [],
    );
    expect(Object.fromEntries(grown)).toEqual({
      "store_orders_keys status=banned": 2,
      "store_orders_keys status=disabled": 1,
      "store_orders_bans cause=operator": 1,
      "store_orders_bans cause=strikes": 1,
    });
  });

  it("names keys only with keys=top, and at most ten", async ({ expect }) => {
    const keys = await Promise.all(Array.from({ length: 12 }, () => createKey({ perDay: 4 })));
    for (const { key } of keys) await app("/v1/nothing", { key });
    for (const { id } of keys) await limiterOf(id).flush();
    expect((await scrape()).text).not.toContain("key_0");
    const { values, text } = await scrape(app, "?keys=top");
    const ratios = Object.entries(values).filter(([name]) => name.startsWith("store_orders_key_day_used"));
    expect(ratios.map(([, value]) => value)).toEqual(Array(10).fill(0.25));
    expect(text.match(/^store_orders_key_day_requests\{.*outcome="admitted"\} 1$/gm)).toHaveLength(10);
    expect((await scrape(app, "?keys=all")).status).toBe(400);
  });

  it("has the share of a customer's limit that its keys have used, with keys=top", async ({ expect }) => {
    const keys = await Promise.all([createKey(), createKey()]);
    const id = await giveKeys("limited", ...keys.map((key) => key.id));
    const shares = async () =>
      Object.entries((await scrape(app, "?keys=top")).values).filter(([name]) =>
        name.includes("customer_day"),
      );
    await operator("PATCH", `/customers/${id}`, { requestsPerMinute: 100 });
    for (const { key } of keys) await app("/v1/nothing", { key });
    for (const key of keys) await limiterOf(key.id).flush();
    expect(await shares()).toEqual([
      [
        "store_orders_as_of_timestamp_seconds metric=store_orders_customer_day_used_ratio",
        expect.any(Number),
      ],
    ]);
    await operator("PATCH", `/customers/${id}`, { requestsPerDay: 8 });
    expect(await shares()).toContainEqual([`store_orders_customer_day_used_ratio customer=${id}`, 0.25]);
  });

  it("says which part cannot be reached, and shows no figure that it does not know", async ({ expect }) => {
    const { DB, failWith } = watchDatabase();
    failWith("D1_ERROR: the database cannot be reached");
    const { values, status } = await scrape(startApp({ DB }));
    expect(status).toBe(200);
    expect(values["store_orders_up part=database"]).toBe(0);
    expect(values["store_orders_up part=limiter"]).toBe(1);
    expect(Object.keys(values).filter((name) => !/_up |_as_of_/.test(name))).toEqual([]);
    failWith("D1_ERROR: overloaded", /from api_keys/);
    const without = (await scrape(startApp({ DB }))).values;
    expect(without["store_orders_keys status=active"]).toBeUndefined();
    expect(without["store_orders_bans cause=strikes"]).toBeTypeOf("number");
    const none = unreachableLimiters();
    const KEY_LIMITER = Object.assign(unreachableLimiters(), { getByName: () => none.getByName("any") });
    const noLimiter = (await scrape(startApp({ KEY_LIMITER }))).values;
    expect(noLimiter["store_orders_up part=limiter"]).toBe(0);
    // Nobody knows which limiters have reported.
    expect(noLimiter["store_orders_as_of_timestamp_seconds metric=store_orders_requests"]).toBe(
      Date.UTC(2037, 4, 1) / 1000,
    );
    expect(noLimiter.store_orders_outdated_keys).toBeTypeOf("number");
    expect(noLimiter.store_orders_unreported_keys).toBeUndefined();
  });

  it("shows alerts once there is a webhook", async ({ expect }) => {
    expect((await scrape()).text).not.toContain("store_orders_alert");
    const webhook = {
      ALERT_WEBHOOK_URL: "https://hooks.example/alerts",
      ALERT_WEBHOOK_SECRET: `whsec_${btoa("a secret of the webhook, for tests")}`,
    };
    await env.DB.prepare(
      "insert into alerts (id, type, key_id, at, text, data, next_attempt_at, last_error) values ('a1', 'ban.set', 'key_x', 1, '', '{}', 5e9, '500'), ('a2', 'ban.set', 'key_x', 1, '', '{}', 5e9, null)",
    ).run();
    const { values } = await scrape(startApp(webhook));
    expect(values["store_orders_alerts state=failing"]).toBe(1);
    expect(values["store_orders_alerts state=pending"]).toBe(1);
    expect(values.store_orders_alert_receiver_up).toBe(0);
  });
});
