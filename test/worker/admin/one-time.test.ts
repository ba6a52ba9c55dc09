/** Two figures of one answer are of one time, whatever happens while it is made. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey } from "../../support/factories.ts";
import { LIST, startApp, startEachTestAt } from "../../support/worker.ts";
import { wrapDatabase } from "../../support/wrap-database.ts";
import { browserWith } from "../console/browser.ts";
import { banByStrikes, operatorOf, withoutReportsTo } from "./admin-support.ts";

const T0 = Date.UTC(2038, 8, 1, 12);
const DAY = "unixepoch('2038-09-01')";
const WEBHOOK = {
  ALERT_WEBHOOK_URL: "https://hooks.example/a",
  ALERT_WEBHOOK_SECRET: `whsec_${btoa("a secret of the webhook, for the tests")}`,
};

startEachTestAt(T0);

const app = startApp();

/** The database, whose calls come one after the other, and the change happens between them. */
function changing(change: () => Promise<unknown>): D1Database {
  let last: Promise<unknown> = Promise.resolve();
  return wrapDatabase(env.DB, (_sql, run) => {
    const results = last.then(run);
    last = results.then(change);
    return results;
  });
}

const useOf = (id: string) =>
  env.DB.prepare(
    `insert into usage values (${DAY}, ?, null, 'business', 1, 0, 0, 100, '{}', '[1]') on conflict do update set admitted = admitted + 1`,
  )
    .bind(id)
    .run();

// biome-ignore lint/suspicious/noExplicitAny: the body of each route
type Body = any;

type Answer = {
  readonly path: string;
  readonly change: (key: { readonly id: string; readonly key: string }) => Promise<unknown>;
  /** Two figures that are one. */
  readonly figures: (body: Body) => readonly [unknown, unknown];
};

const ANSWERS: readonly Answer[] = [
  {
    path: "/keys/ID",
    change: ({ key }) => app(LIST, { key }),
    figures: ({ admittedToday, live }) => [admittedToday, live.day.used],
  },
  {
    path: "/keys?ref=ID&days=1",
    change: ({ id }) => useOf(id),
    figures: ({ keys: [{ admittedToday, days }] }) => [admittedToday, days[0].admitted],
  },
  {
    path: "/usage?by=key&plan=business",
    change: async () => useOf((await createKey({ plan: "business" })).id),
    figures: ({ total, rows }) => [total.keyCount, rows.length],
  },
  {
    path: "/alerts",
    change: () =>
      env.DB.exec(
        "insert into alerts values (hex(randomblob(8)), 'ban.set', 'k', 0, '', '{}', 0, 0, null, null)",
      ),
    figures: ({ receiver, alerts }) => [receiver.waiting, alerts.length],
  },
];

describe("the figures of an answer are of one time", () => {
  it.for(ANSWERS)("$path", async ({ path, change, figures }, { expect }) => {
    for (const table of ["usage", "alerts"]) await env.DB.exec(`delete from ${table}`);
    const key = await createKey({ plan: "pro" });
    for (let requests = 0; requests < 6; requests++) await app(LIST, key);
    for (let happened = 0; happened < 3; happened++) await change(key);
    const operator = operatorOf(startApp({ ...WEBHOOK, DB: changing(() => change(key)) }));
    const { status, body } = await operator("GET", path.replace("ID", key.id));
    const [one, other] = figures(body);
    expect([status, one, Number(one) > 0]).toEqual([200, other, true]);
  });

  it("in the preview of a ban, which knows the ban that the limiter reports for it", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await withoutReportsTo(["bans"], () => banByStrikes(key, app, T0));
    const { post } = await browserWith(env.ADMIN_TOKEN);
    const preview = await post(`/console/keys/${key.id}/ban`, { seconds: "600", reason: "x" });
    expect(await preview.text()).toMatch(/The ban until .* is replaced/);
  });
});
