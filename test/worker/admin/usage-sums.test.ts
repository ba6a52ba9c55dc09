/** The sums of usage are what a plain sum of the days is, whatever happens in any order (ADR-41). */
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, it } from "vitest";
import { openDatabase } from "../../../src/worker/db/database.ts";
import { deleteExpiredRows } from "../../../src/worker/db/retention.ts";
import { sumFinishedDay } from "../../../src/worker/db/sum-finished-day.ts";
import { writeReport } from "../../../src/worker/key/key-policy-sql.ts";
import { runs } from "../../support/deep.ts";
import { createKey, giveKeys } from "../../support/factories.ts";
import { setClock, startApp } from "../../support/worker.ts";
import { operatorOf } from "./admin-support.ts";

const DAY = 86_400;
const FIRST = Date.UTC(2037, 0, 1) / 1000;
const DAYS = 24;

const operator = operatorOf(startApp());

const rowsOf = async <Row = Record<string, string | number | null>>(sql: string) =>
  (await env.DB.prepare(sql).all<Row>()).results;

const SUMS = {
  plan_days:
    "select day, plan, count(*) as keys, sum(admitted) as admitted, sum(refused) as refused, sum(refused_while_banned) as refused_while_banned from usage group by 1, 2 order by 1, 2",
  key_fortnights: `select day - day % 1209600 as start, key_id, coalesce(customer_id, '') as customer_id, plan, limit_per_day, sum(admitted) as admitted,
    sum(refused) as refused, sum(refused_while_banned) as refused_while_banned, sum(100.0 * admitted / limit_per_day >= 80) as days_near, max(admitted) as peak
    from usage where day < (select day from key_fortnights_end) group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`,
} as const;

type Day = { day: number; key: string; customer: string; plan: string; admitted: number; limit: number };

const event = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      type: fc.constant("report" as const),
      key: fc.nat(3),
      // Late ones are of a day before.
      daysAgo: fc.oneof(fc.constant(0), fc.nat(3), fc.nat(8)),
      hour: fc.nat(23),
      admitted: fc.nat(9),
      refused: fc.nat(2),
      limit: fc.constantFrom(10, 12),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("pass" as const), days: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("cron" as const), times: fc.integer({ min: 1, max: 9 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("move" as const),
      key: fc.nat(3),
      customer: fc.constantFrom("Ada", "Bo", null),
      plan: fc.constantFrom("free", "business"),
    }),
  },
  fc.record({ type: fc.constant("merge" as const) }),
  fc.record({ type: fc.constant("retention" as const) }),
  fc.record({
    type: fc.constant("by hand" as const),
    change: fc.constantFrom(
      ...["plan = 'pro'", "admitted = 3", "limit_per_day = 7", "customer_id = null"],
      "customer_id = (select min(id) from customers), plan = 'free'",
    ),
  }),
  fc.record({ type: fc.constant("delete" as const), key: fc.nat(3) }),
);
const question = fc.record({ from: fc.nat(DAYS - 1), days: fc.integer({ min: 1, max: DAYS }) });

describe("sums of usage", () => {
  it("are those of the days: late reports, changes, merges, retention, and a cron at any time", async ({
    expect,
  }) => {
    const property = fc.asyncProperty(
      fc.array(event, { minLength: 10, maxLength: 40 }),
      question,
      async (events, { from, days }) => {
        for (const sql of ["delete from usage", `update key_fortnights_end set day = ${FIRST}`])
          await env.DB.exec(sql);
        let day = FIRST + 8 * DAY;
        const toNow = () => setClock((day + 3 * 3_600) * 1000);
        toNow();
        const keys = await Promise.all(Array.from({ length: 4 }, () => createKey({ plan: "free" })));
        await giveKeys("Ada", ...keys.slice(0, 2).map(({ id }) => id));
        for (const each of events) {
          const id = "key" in each ? (keys[each.key]?.id ?? "") : "";
          if (each.type === "report") {
            const startMs = (day - each.daysAgo * DAY + each.hour * 3_600) * 1000;
            const { admitted, refused, limit } = each;
            const refusedMinutes = refused === 0 ? [] : [{ minute: 1, by: { minute: refused } }];
            const hour = {
              startMs,
              admitted,
              refused,
              refusedWhileBanned: 0,
              refusedMinutes,
              limits: { day: limit },
            };
            const report = { key: id, hours: [hour], bans: [], thresholds: [], credentials: [] };
            await writeReport(openDatabase(env.DB), report, []);
          }
          if (each.type === "pass") day = Math.min(day + each.days * DAY, FIRST + (DAYS - 1) * DAY);
          if (each.type === "move") {
            const { status } = await operator("PATCH", `/keys/${id}`, {
              customer: each.customer,
              plan: each.plan,
            });
            expect([200, 400]).toContain(status);
          }
          if (each.type === "merge") await operator("POST", "/customers/Bo/merge", { into: "Ada" });
          if (each.type === "by hand")
            await env.DB.exec(`update usage set ${each.change} where day % 172800 = 0`);
          if (each.type === "delete")
            await env.DB.prepare("delete from usage where key_id = ?").bind(id).run();
          toNow();
          if (each.type === "cron") for (let i = 0; i < each.times; i++) await sumFinishedDay(env);
          if (each.type === "retention")
            await deleteExpiredRows({ ...env, USAGE_RETENTION_DAYS: "30" }, Date.now() + 24 * DAY * 1000);
        }
        for (const [table, sums] of Object.entries(SUMS))
          expect(await rowsOf(`select * from ${table}`), table).toEqual(await rowsOf(sums));

        const start = FIRST + from * DAY;
        const end = Math.min(start + days * DAY, day + DAY);
        if (start >= end) return;
        const plain = (
          await rowsOf<Day>(
            "select day, key_id as key, customer_id as customer, plan, admitted, limit_per_day as `limit` from usage",
          )
        ).filter((row) => row.day >= start && row.day < end);
        const iso = (seconds: number) => new Date(seconds * 1000).toISOString();
        const range = `from=${iso(start)}${end > day ? "" : `&to=${iso(end)}`}&limit=100`;
        const get = async (path: string) => (await operator("GET", `${path}${range}`)).body;
        const grouped = (name: "key" | "plan" | "customer") =>
          Object.fromEntries(
            [...Map.groupBy(plain, (row) => row[name])].map(([group, rows]) => {
              const nearest = [...Map.groupBy(rows, ({ key }) => key).values()].map((ofKey) => {
                const percents = ofKey.map(({ admitted, limit }) => (100 * admitted) / limit);
                return {
                  daysNear: percents.filter((each) => each >= 80).length,
                  peak: Math.max(...percents),
                };
              });
              const admitted = rows.reduce((sum, row) => sum + row.admitted, 0);
              return [
                group,
                {
                  admitted,
                  keyCount: nearest.length,
                  daysNear: Math.max(...nearest.map((each) => each.daysNear)),
                },
              ];
            }),
          );
        const byKey = (await get("/usage?by=key&")).rows as {
          keyId: string;
          admitted: number;
          daysNear: number;
        }[];
        expect(
          Object.fromEntries(
            byKey.map(({ keyId, admitted, daysNear }) => [keyId, { admitted, keyCount: 1, daysNear }]),
          ),
        ).toEqual(grouped("key"));
        for (const [plan, { daysNear: _, ...total }] of Object.entries(grouped("plan")))
          expect((await get(`/usage?plan=${plan}&`)).total).toMatchObject(total);
        type Listed = { id: string; usage: { admitted: number; keyCount: number; daysNear: number } };
        const customers = (await get("/customers?")).customers as Listed[];
        const { null: _, ...ofCustomers } = grouped("customer");
        expect(
          Object.fromEntries(
            customers.filter(({ usage }) => usage.keyCount > 0).map(({ id, usage }) => [id, usage]),
          ),
        ).toMatchObject(ofCustomers);
        const byDay = (await get("/usage?by=day&")).rows as { start: string; admitted: number }[];
        const sumOfDay = Map.groupBy(plain, (row) => iso(row.day).slice(0, 10));
        for (const { start: name, admitted } of byDay)
          expect(admitted, name).toBe((sumOfDay.get(name) ?? []).reduce((sum, row) => sum + row.admitted, 0));
      },
    );
    // A key with days of both customers in one fortnight, near the limit, which a merge adds up.
    const report = {
      type: "report",
      key: 0,
      daysAgo: 0,
      hour: 1,
      admitted: 8,
      refused: 1,
      limit: 10,
    } as const;
    const merged = [
      report,
      { type: "pass", days: 1 },
      { type: "move", key: 0, customer: "Bo", plan: "free" },
      report,
      { type: "pass", days: 3 },
      { type: "cron", times: 12 },
      { type: "merge" },
    ] as const;
    await fc.assert(property, { numRuns: runs(10), examples: [[[...merged], { from: 0, days: DAYS }]] });
  });
});
