/** `GET /admin/customers`: who comes close to a limit. */
import { env } from "cloudflare:workers";
import Papa from "papaparse";
import { beforeEach, describe, it } from "vitest";
import { createKey } from "../../support/factories.ts";
import { setClock, startApp, startEachTestAt } from "../../support/worker.ts";
import { operatorOf } from "./admin-support.ts";

const NOW = Date.UTC(2037, 8, 30, 12, 30);
const app = startApp();
const operator = operatorOf(app);

startEachTestAt(NOW);

beforeEach(async () => {
  await env.DB.batch([env.DB.prepare("delete from usage"), env.DB.prepare("delete from bans")]);
});

type Owner = { name?: string; email?: string };

/** A key on plan free, which has 1,000 requests a day. */
async function keyOf({ name, email }: Owner, perDay?: number): Promise<string> {
  const { id } = await createKey({ plan: "free", ...(perDay === undefined ? {} : { perDay }) });
  await operator("PATCH", `/keys/${id}`, { ownerName: name ?? null, ownerEmail: email ?? null });
  return id;
}

async function used(keyId: string, daysAgo: number, admitted: number, refused = 0, banned = 0) {
  const insert = `insert into usage select unixepoch('2037-09-30') - ? * 86400, k.id, ?, ?, ?,
    coalesce(k.requests_per_day, 1000), '[]' from api_keys k where k.id = ?`;
  await env.DB.prepare(insert).bind(daysAgo, admitted, refused, banned, keyId).run();
}

async function customers(query = "") {
  const { body } = await operator("GET", `/customers?${query}`);
  return body as unknown as { customers: Record<string, unknown>[]; next: string | null }; // the documented shape
}

describe("the customers", () => {
  it("begin with those who come close to their limit of the day, not with who was banned for hammering", async ({
    expect,
  }) => {
    const [growing, hammering, small] = [
      await keyOf({ name: "Growing", email: "g@example.com" }),
      await keyOf({ name: "Hammering" }),
      await keyOf({ name: "Small" }),
    ];
    for (let daysAgo = 0; daysAgo < 10; daysAgo++) {
      await used(growing, daysAgo, daysAgo < 6 ? 900 : 700, daysAgo === 3 ? 50 : 0);
      await used(hammering, daysAgo, 60, 400, 90_000);
      await used(small, daysAgo, 5);
    }
    const ban = env.DB.prepare(
      "insert into bans (id, key_id, cause, strikes, started_at, ends_at) values (?, ?, 'strikes', 20, ?, ?)",
    );
    const start = NOW / 1000;
    await env.DB.batch([
      ...[1, 2, 3].map((day) => ban.bind(`b${day}`, hammering, start - day * 86_400, start)),
      ban.bind("old", hammering, start - 40 * 86_400, start),
    ]);
    const { body } = await operator("GET", "/customers");
    expect(body).toMatchObject({
      days: 30,
      from: "2037-09-01T00:00:00Z",
      to: "2037-09-30T13:00:00Z",
      asOf: "2037-09-30T11:00:00Z",
      next: null,
    });
    expect(body.customers).toEqual([
      {
        owner: "Growing",
        ownerEmail: "g@example.com",
        plans: ["free"],
        keyCount: 1,
        admitted: 8_200,
        refused: 50,
        refusedWhileBanned: 0,
        medianPercent: 0,
        peakPercent: 90,
        peakDay: expect.stringMatching(/^2037-09-2\d$/),
        daysNear: 6,
        daysRefused: 1,
        bans: 0,
      },
      expect.objectContaining({ owner: "Hammering", daysNear: 0, peakPercent: 6, daysRefused: 10, bans: 3 }),
      expect.objectContaining({ owner: "Small", daysNear: 0, peakPercent: 0.5, bans: 0 }),
    ]);
    expect((await customers("days=7")).customers[0]).toMatchObject({
      owner: "Growing",
      medianPercent: 90,
      daysNear: 6,
    });
    expect((await customers("days=1")).customers[0]).toMatchObject({
      admitted: 900,
      medianPercent: 90,
      peakDay: "2037-09-30",
    });
  });

  it("are owners by name or else e-mail in any case, and one row of keys without either; of their keys, the most used one counts", async ({
    expect,
  }) => {
    const [a, b] = [
      await keyOf({ name: "Ada" }),
      await keyOf({ name: "ADA", email: "ada@example.com" }, 100),
    ];
    const [c, d] = [await keyOf({ email: "bö@example.com" }), await keyOf({ email: "BÖ@Example.com" })];
    const [e, f] = [await keyOf({}), await keyOf({})];
    await used(a, 0, 500);
    await used(b, 0, 85);
    await used(a, 1, 700);
    await used(b, 2, 10);
    for (const id of [c, d, e, f]) await used(id, 0, 1);
    const rows = (await customers("days=7&sort=name")).customers;
    expect(rows).toMatchObject([
      { owner: null, keyCount: 2 },
      { keyCount: 2, admitted: 1_295, peakPercent: 85, daysNear: 1, ownerEmail: "ada@example.com" },
      { keyCount: 2, admitted: 2 },
    ]);
    const { rows: usage } = (await operator("GET", "/usage?from=7d&by=owner&owner=BÖ@EXAMPLE.com")).body;
    expect(usage).toMatchObject([{ keyCount: 2, admitted: 2 }]);
  });

  it("have the median of all days of the period", async ({ expect }) => {
    const id = await keyOf({ name: "Steady" });
    // Of 30 days in order, the 15th is at 0 %, and the 16th at 10 %.
    for (let daysAgo = 0; daysAgo < 16; daysAgo++) await used(id, daysAgo, 100 * daysAgo);
    expect((await customers()).customers[0]).toMatchObject({ medianPercent: 5 });
  });

  it("are also CSV, with a link to the next page", async ({ expect }) => {
    for (let i = 0; i < 5; i++) await used(await keyOf({ name: `=Owner ${i}` }), i, 100 * (i % 3), i % 2);
    const response = await app("/admin/customers?sort=name&limit=3&format=csv", { key: env.ADMIN_TOKEN });
    expect(response.headers.get("Link")).toContain('rel="next"');
    const { data } = Papa.parse<Record<string, string>>(await response.text(), {
      header: true,
      skipEmptyLines: true,
    });
    expect(data).toHaveLength(3);
    expect(data[1]).toMatchObject({ owner: "'=Owner 1", plans: "free", admitted: "100", refused: "1" });
  });

  it("are of the day that has begun, also in its first minutes", async ({ expect }) => {
    setClock(Date.UTC(2037, 9, 1, 0, 1));
    expect(await customers("days=1")).toMatchObject({ from: "2037-10-01T00:00:00Z", customers: [] });
  });
});
