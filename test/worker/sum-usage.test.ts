/** The hourly sum of the day before: by plan and hour, in pages, and again after a late report. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it } from "vitest";
import { openDatabase } from "../../src/worker/db/database.ts";
import { findUsageTotals } from "../../src/worker/db/usage-totals-repository.ts";
import { sumUsageOfYesterday } from "../../src/worker/sum-usage.ts";
import { createKey } from "../support/factories.ts";
import { captureLog } from "../support/worker.ts";

const DAY = "2035-06-14";
const NOW = Date.UTC(2035, 5, 15, 0, 23);

let log: ReturnType<typeof captureLog>;
beforeEach(async () => {
  log = captureLog();
  await env.DB.batch(["daily_usage", "usage_totals"].map((table) => env.DB.prepare(`delete from ${table}`)));
});
afterEach(() => {
  log.restore();
});

async function report(keyId: string, figures: [number, number, number], hours: number[][]) {
  await env.DB.prepare("insert or replace into daily_usage values (?, ?, ?, ?, ?, ?, null)")
    .bind(DAY, keyId, ...figures, JSON.stringify(hours))
    .run();
}

const totals = () => findUsageTotals(openDatabase(env.DB), DAY);

describe("the sum of a day", () => {
  it("has each plan's keys, figures and hours", async ({ expect }) => {
    const [a, b, free] = [await createKey(), await createKey(), await createKey({ plan: "free" })];
    await report(
      a.id,
      [3, 1, 0],
      [
        [9, 1, 1, 0],
        [10, 2, 0, 0],
      ],
    );
    await report(b.id, [5, 0, 2], [[10, 5, 0, 2]]);
    await report(free.id, [7, 0, 0], []);
    await sumUsageOfYesterday(env, NOW);
    expect(await totals()).toEqual([
      {
        plan: "business",
        keyCount: 2,
        admitted: 8,
        refused: 1,
        refusedWhileBanned: 2,
        hours: [
          [9, 1, 1, 0],
          [10, 7, 0, 2],
        ],
      },
      { plan: "free", keyCount: 1, admitted: 7, refused: 0, refusedWhileBanned: 0, hours: [] },
    ]);
  });

  it("is replaced in the next hour: a late report is added, and a key counts for its current plan", async ({
    expect,
  }) => {
    const [a, b] = [await createKey({ plan: "free" }), await createKey()];
    await report(a.id, [1, 0, 0], [[0, 1, 0, 0]]);
    await sumUsageOfYesterday(env, NOW);
    await report(b.id, [2, 0, 0], [[0, 2, 0, 0]]);
    await env.DB.prepare("update api_keys set plan = 'business' where id = ?").bind(a.id).run();
    await sumUsageOfYesterday(env, NOW + 3_600_000);
    expect(await totals()).toMatchObject([
      { plan: "business", keyCount: 2, admitted: 3, hours: [[0, 3, 0, 0]] },
    ]);
  });

  it("has more keys than one statement sums", async ({ expect }) => {
    await env.DB.batch(
      [
        "insert into api_keys (id, name, plan, created_at) select printf('sum_%05d', i), 'test', 'pro', 0 from n",
        `insert into daily_usage select '${DAY}', printf('sum_%05d', i), 2, 1, 0, '[[1,1,1,0],[2,1,0,0]]', null from n`,
      ].map((statement) =>
        env.DB.prepare(
          statement.replace(
            / select/,
            " with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000) select",
          ),
        ),
      ),
    );
    await sumUsageOfYesterday(env, NOW);
    expect(await totals()).toMatchObject([
      {
        plan: "pro",
        keyCount: 4_000,
        admitted: 8_000,
        refused: 4_000,
        hours: [
          [1, 4_000, 4_000, 0],
          [2, 4_000, 0, 0],
        ],
      },
    ]);
  });

  it("that fails is logged, and the totals stay as they were", async ({ expect }) => {
    const { id } = await createKey();
    await report(id, [1, 0, 0], []);
    await sumUsageOfYesterday(env, NOW);
    await env.DB.prepare(
      "create trigger no_totals before insert on usage_totals begin select raise(abort, 'no'); end",
    ).run();
    await sumUsageOfYesterday(env, NOW);
    await env.DB.exec("drop trigger no_totals");
    expect(await totals()).toMatchObject([{ keyCount: 1 }]);
    expect(log.lines()).toContainEqual(expect.objectContaining({ event: "usage_not_summed", day: DAY }));
  });
});
