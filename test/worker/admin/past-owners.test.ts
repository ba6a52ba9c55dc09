/** After a change of owner or plan, past use stays with the owner and plan of its day. */
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, it } from "vitest";
import { runs } from "../../support/deep.ts";
import { createKey } from "../../support/factories.ts";
import { setClock, startApp, startEachTestAt } from "../../support/worker.ts";
import { operatorOf } from "./admin-support.ts";

const DAY = 86_400_000;
const T0 = Date.UTC(2037, 7, 1, 10);
const DAYS = 6;
const operator = operatorOf(startApp());

startEachTestAt(T0);

type Row = {
  owner?: string | null;
  ownerEmail?: string | null;
  plan?: string;
  start?: string;
  admitted: number;
  keyCount?: number;
  medianPercent?: number;
};

async function usage(
  query: string,
  day = 0,
): Promise<{ rows: Row[]; total: { admitted: number; keyCount: number } }> {
  const { body } = await operator("GET", `/usage?from=${dayName(day)}&to=2037-08-31&${query}`);
  return body as unknown as Awaited<ReturnType<typeof usage>>; // the documented shape
}

const dayName = (day: number) => new Date(T0 + day * DAY).toISOString().slice(0, 10);

const use = (id: string, day: number, admitted: number) =>
  env.DB.prepare(
    `insert into usage values (?, ?, ?, 0, 0, 100, ?)
     on conflict do update set admitted = admitted + excluded.admitted, hours = '[' || (admitted + excluded.admitted) || ']'`,
  )
    .bind(Date.UTC(2037, 7, 1 + day) / 1_000, id, admitted, `[${admitted}]`)
    .run();

describe("past use", () => {
  it("stays with the owner and the plan of its day, also the day of the change", async ({ expect }) => {
    const { id } = await createKey({ plan: "enterprise", perMinute: 100, perDay: 100 });
    await operator("PATCH", `/keys/${id}`, { ownerName: "Old Owner", ownerEmail: "old@example.com" });
    for (const day of [0, 1]) await use(id, day, 10);
    const change = { ownerName: "New Owner", ownerEmail: null, plan: "free" };
    expect((await operator("PATCH", `/keys/${id}`, change)).status).toBe(200);
    await use(id, 1, 5);
    await use(id, 2, 50);
    setClock(T0 + 3 * DAY);
    expect((await usage("by=owner&sort=name")).rows).toMatchObject([
      { owner: "New Owner", ownerEmail: null, plan: "free", admitted: 50, keyCount: 1 },
      { owner: "Old Owner", ownerEmail: "old@example.com", plan: "enterprise", admitted: 25, keyCount: 1 },
    ]);
    expect((await usage("by=plan&sort=name")).rows).toMatchObject([
      { plan: "enterprise", admitted: 25 },
      { plan: "free", admitted: 50 },
    ]);
    const ofOld = await usage("by=day&owner=old%20owner");
    expect(ofOld.rows.filter(({ admitted }) => admitted > 0)).toMatchObject([
      { admitted: 10 },
      { admitted: 15 },
    ]);
    expect(ofOld.total).toMatchObject({ admitted: 25, keyCount: 1 });
    expect((await usage("by=key&plan=free")).rows).toMatchObject([{ admitted: 50, plan: "free" }]);
    expect((await usage("by=key")).rows).toMatchObject([{ admitted: 75, plan: "free" }]);
  });

  it("is the new owner's from the first day on if the key was not in use", async ({ expect }) => {
    const { id } = await createKey({ plan: "free" });
    for (const ownerName of ["First", "Second"]) await operator("PATCH", `/keys/${id}`, { ownerName });
    await use(id, 4, 7);
    setClock(T0 + 5 * DAY);
    const rows = (await usage("by=owner", 4)).rows;
    expect(rows.map(({ owner, admitted }) => [owner, admitted])).toEqual([["Second", 7]]);
  });

  it("adds up by owner, plan and day, through any changes", async ({ expect }) => {
    const plans = ["free", "pro", "business"];
    const owners = [null, "Ada", "Bo"];
    const event = fc.oneof(
      fc.record({ key: fc.nat(1), admitted: fc.integer({ min: 1, max: 9 }) }),
      fc.record({ key: fc.nat(1), owner: fc.constantFrom(...owners), plan: fc.constantFrom(...plans) }),
      fc.record({ days: fc.integer({ min: 1, max: 2 }) }),
    );
    const filter = fc.record({
      owner: fc.constantFrom(undefined, "ada", "bo"),
      plan: fc.constantFrom(undefined, ...plans),
      from: fc.nat(DAYS),
    });
    setClock(T0 + 25 * DAY);
    const property = fc.asyncProperty(fc.array(event, { maxLength: 25 }), filter, async (events, asked) => {
      await env.DB.batch(["usage", "past_owners"].map((table) => env.DB.prepare(`delete from ${table}`)));
      const keys = await Promise.all([0, 1].map(() => createKey({ plan: "free" })));
      const now = keys.map(() => ({ owner: null as string | null, plan: "free" }));
      const days = new Map<
        string,
        { key: number; day: number; owner: string | null; plan: string; admitted: number }
      >();
      let day = 0;
      for (const each of events) {
        if ("days" in each) day += each.days;
        if ("admitted" in each) {
          const { key, admitted } = each;
          const place = days.get(`${key} ${day}`) ?? {
            key,
            day,
            ...(now[key] ?? { owner: null, plan: "" }),
            admitted: 0,
          };
          days.set(`${key} ${day}`, { ...place, admitted: place.admitted + admitted });
          await use(keys[key]?.id ?? "", day, admitted);
        }
        if ("plan" in each) {
          now[each.key] = { owner: each.owner, plan: each.plan };
          const update = env.DB.prepare("update api_keys set owner_name = ?, plan = ? where id = ?");
          await update.bind(each.owner, each.plan, keys[each.key]?.id ?? "").run();
        }
      }
      const query = `${asked.owner ? `&owner=${asked.owner}` : ""}${asked.plan ? `&plan=${asked.plan}` : ""}`;
      const expected = [...days.values()].filter(
        (each) =>
          each.day >= asked.from &&
          (asked.owner === undefined || each.owner?.toLowerCase() === asked.owner) &&
          (asked.plan === undefined || each.plan === asked.plan),
      );
      const sums = (by: (each: (typeof expected)[number]) => string | null) => {
        const all = new Map<string | null, number>();
        for (const each of expected) all.set(by(each), (all.get(by(each)) ?? 0) + each.admitted);
        return all;
      };
      const total = {
        admitted: expected.reduce((sum, { admitted }) => sum + admitted, 0),
        keyCount: new Set(expected.map(({ key }) => key)).size,
      };
      const byOwner = await usage(`by=owner${query}`, asked.from);
      expect(new Map(byOwner.rows.map((row) => [row.owner, row.admitted]))).toEqual(
        sums(({ owner }) => owner),
      );
      expect(byOwner.total).toMatchObject(total);
      const byPlan = await usage(`by=plan${query}`, asked.from);
      expect(new Map(byPlan.rows.map((row) => [row.plan, row.admitted]))).toEqual(sums(({ plan }) => plan));
      const byDay = await usage(`by=day${query}`, asked.from);
      expect(byDay.total).toMatchObject(total);
      const used = byDay.rows.filter(({ admitted }) => admitted > 0);
      expect(new Map(used.map((row) => [row.start ?? null, row.admitted]))).toEqual(
        sums(({ day }) => dayName(day)),
      );
    });
    await fc.assert(property, { numRuns: runs(10) });
  });
});
