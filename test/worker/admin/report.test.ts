/** The report of a month: the same for operators, in the CSV and for the customer. */
import { env } from "cloudflare:workers";
import { it } from "vitest";
import { createKey, giveKeys } from "../../support/factories.ts";
import { startApp, startEachTestAt } from "../../support/worker.ts";
import { browserWith } from "../console/browser.ts";
import { operatorOf } from "./admin-support.ts";

startEachTestAt(Date.UTC(2037, 2, 6, 10));

const app = startApp();
const operator = operatorOf(app);

async function insertDay(keyId: string, day: string, admitted: number, refused = 0) {
  await env.DB.prepare(
    "insert into usage select unixepoch(?1), id, customer_id, plan, ?3, ?4, 0, 1000, '{}', json_array(?3) from api_keys where id = ?2",
  )
    .bind(day, keyId, admitted, refused)
    .run();
}

it("has the month by day and by key beside the month before, also for the customer and as a file", async ({
  expect,
}) => {
  const [one, two] = [await createKey({ plan: "pro" }), await createKey({ plan: "free" })];
  await giveKeys("Müller & Söhne", one.id, two.id);
  await insertDay(one.id, "2036-12-31", 1);
  await insertDay(one.id, "2037-01-31", 200);
  await insertDay(one.id, "2037-02-01", 100);
  await insertDay(two.id, "2037-02-28", 150, 7);
  await insertDay(one.id, "2037-03-01", 9);
  const path = `/customers/${encodeURIComponent("Müller & Söhne")}/report`;
  const { body } = await operator("GET", path);
  expect(body).toMatchObject({
    month: "2037-02",
    total: { admitted: 250, refused: 7 },
    before: { admitted: 200 },
    keyCount: 2,
  });
  const days = body.days as { start: string; admitted: number; before: number }[];
  expect(days).toHaveLength(28);
  expect([days[0], days.at(-1)]).toMatchObject([
    { start: "2037-02-01", admitted: 100, before: 0 },
    { start: "2037-02-28", admitted: 150, before: 0 },
  ]);
  const january = (await operator("GET", `${path}?month=2037-01`)).body;
  // Usage begins within the month before.
  expect(january).toMatchObject({ total: { admitted: 200 }, keyCount: 1, before: null });
  for (const wrong of ["2037-13", "2037", "february", "2037-04"])
    expect((await operator("GET", `${path}?month=${wrong}`)).status).toBe(400);

  const { get } = await browserWith(env.ADMIN_TOKEN);
  const html = await (await get(`/console${path}?month=2037-02`)).text();
  expect(html).toContain("+25 %");
  // Of a month that is over, nothing is missing.
  expect(html).not.toContain("Counted until");
  const { link } = (await operator("POST", "/links", { customer: "Müller & Söhne", days: 7 })).body;
  const entered = await app("/owner", {
    method: "POST",
    body: new URLSearchParams({ code: String(link) }),
    headers: { Origin: "https://orders.example" },
    redirect: "manual",
  });
  const cookie = (entered.headers.get("Set-Cookie") ?? "").split(";")[0] ?? "";
  const ofOwner = (rest: string) => app(`/owner/report${rest}`, { headers: { Cookie: cookie } });
  expect(await (await ofOwner("")).text()).toContain("+25 %");
  const files = [
    await ofOwner("?month=2037-02&format=csv"),
    await get(`/console${path}?month=2037-02&format=csv`),
  ];
  for (const file of files) {
    expect(file.headers.get("Content-Disposition")).toBe(
      'attachment; filename="usage-muller-sohne-2037-02.csv"',
    );
    const rows = (await file.text()).trim().split("\r\n");
    expect(rows).toHaveLength(3);
    for (const row of rows.slice(1)) expect(row).toMatch(/^2037-02,.*Müller & Söhne/);
  }
});

it("lists all keys, page by page, and at once as a file", async ({ expect }) => {
  const id = await giveKeys("Many");
  await env.DB.prepare(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < 501)
     insert into api_keys (id, name, plan, customer_id, created_at) select printf('key_%012d', i), i, 'pro', ?, 0 from n`,
  )
    .bind(id)
    .run();
  await env.DB.prepare(
    "insert into usage select unixepoch('2037-02-05'), id, customer_id, plan, 1, 0, 0, 1000, '{}', '[1]' from api_keys where customer_id = ?",
  )
    .bind(id)
    .run();
  const path = `/customers/${id}/report`;
  const first = (await operator("GET", path)).body;
  expect(first).toMatchObject({ keyCount: 501, keys: { length: 500 } });
  const second = (await operator("GET", `${path}?after=${first.next}`)).body;
  expect(second).toMatchObject({ keyCount: 501, keys: { length: 1 }, next: null });

  const file = await app(`/admin${path}?format=csv`, { key: env.ADMIN_TOKEN });
  expect(new Set((await file.text()).match(/key_\d{12}/g)).size).toBe(501);
});
