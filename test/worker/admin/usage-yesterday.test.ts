/** The usage of the day before, while limiters report their final figures of it. */
import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { MAX_LIMITERS_INSPECTED } from "../../../src/worker/admin/live-usage.ts";
import type { Bindings } from "../../../src/worker/context.ts";
import type { KeyPolicy } from "../../../src/worker/limiter/core/decide.ts";
import { sumUsageOfYesterday } from "../../../src/worker/sum-usage.ts";
import { createKey, type TestKey } from "../../support/factories.ts";
import { limiterOf, setClock, startApp, startEachTestAt } from "../../support/worker.ts";
import {
  countingLimiters,
  operatorOf,
  unreachableLimiters,
  untilStored,
  withoutReportsTo,
} from "./admin-support.ts";

const DAY = 86_400_000;
const MINUTE = 60_000;
/** Each test takes days of its own, because limiters and D1 are shared within the file. */
const NOON = Date.UTC(2038, 2, 1, 12);

const app = startApp();
const operator = operatorOf(app);
const offline = operatorOf(startApp({ KEY_LIMITER: unreachableLimiters() }));

startEachTestAt(NOON);

/** A key with 5 requests on this day, of which D1 has the first one. The clock is then at the end of the reports. */
async function usedOn(dayMs: number): Promise<TestKey> {
  setClock(dayMs);
  const key = await createKey();
  for (let i = 0; i < 5; i++) {
    await app("/v1/nothing", { key: key.key });
    await untilStored("select 1 from daily_usage where key_id = ?", key.id);
  }
  setClock(dayMs + DAY / 2 + 15 * MINUTE);
  return key;
}

describe("a limiter that reports the day before while an operator reads it", () => {
  /** Limiters that report all that is due before they are inspected. */
  const getByName = (name: string) => ({
    inspect: async (policy: KeyPolicy) => {
      await runDurableObjectAlarm(limiterOf(name));
      return limiterOf(name).inspect(policy);
    },
  });
  // The admin API addresses limiters by name only.
  const KEY_LIMITER = { getByName } as unknown as Bindings["KEY_LIMITER"];
  const reader = operatorOf(startApp({ KEY_LIMITER }));

  it("is read with its final figures, of all keys", async ({ expect }) => {
    await usedOn(NOON);
    const { body } = await reader("GET", "/usage?day=2038-03-01");
    expect(body).toMatchObject({ complete: true, total: { admitted: 5 }, keys: [{ admitted: 5 }] });
  });

  it("is read with its final figures, of one key", async ({ expect }) => {
    const { id } = await usedOn(NOON + 10 * DAY);
    const { body } = await reader("GET", `/keys/${id}/usage?days=2`);
    expect(body.days).toMatchObject([{ admitted: 5 }, { admitted: 0 }]);
  });
});

describe("the sums of the day before, once the cron has made them", () => {
  it("are those of the limiters, if one has not reported", async ({ expect }) => {
    const reported = await usedOn(NOON + 20 * DAY);
    await usedOn(NOON + 20 * DAY);
    await runDurableObjectAlarm(limiterOf(reported.id));
    await sumUsageOfYesterday(env, Date.now());
    const sums = { total: { keyCount: 2, admitted: 10 }, plans: [{ keyCount: 2, admitted: 10 }] };
    expect((await operator("GET", "/usage?day=2038-03-21&limit=1")).body).toMatchObject({
      ...{ complete: true, ...sums },
      keys: [{ admitted: 5 }],
    });
  });

  it("are not complete if a limiter cannot be reached, and have what was reported since", async ({
    expect,
  }) => {
    const key = await usedOn(NOON + 30 * DAY);
    await sumUsageOfYesterday(env, Date.now());
    const read = async () => (await offline("GET", "/usage?day=2038-03-31")).body;
    expect(await read()).toMatchObject({ complete: false, total: { admitted: 1 } });
    await runDurableObjectAlarm(limiterOf(key.id));
    expect(await read()).toMatchObject({ complete: false, total: { admitted: 5 }, keys: [{ admitted: 5 }] });
    setClock(NOON + 32 * DAY);
    await sumUsageOfYesterday(env, NOON + 31 * DAY);
    expect(await read()).toMatchObject({ complete: true, total: { admitted: 5 } });
  });

  it("are not complete if D1 has no figure of a key that cannot be reached", async ({ expect }) => {
    const reported = await usedOn(NOON + 40 * DAY);
    const other = await usedOn(NOON + 40 * DAY);
    await runDurableObjectAlarm(limiterOf(reported.id));
    await env.DB.prepare("delete from daily_usage where key_id = ?").bind(other.id).run();
    await sumUsageOfYesterday(env, Date.now());
    const unreachable = unreachableLimiters();
    const getByName = (name: string) => (name === other.id ? unreachable : env.KEY_LIMITER).getByName(name);
    // The admin API addresses limiters by name only.
    const KEY_LIMITER = { getByName } as unknown as Bindings["KEY_LIMITER"];
    const { body } = await operatorOf(startApp({ KEY_LIMITER }))("GET", "/usage?day=2038-04-10");
    expect(body).toMatchObject({ complete: false, total: { admitted: 5 } });
  });
});

describe("the sums of more keys than limiters are inspected", () => {
  it("have all keys, and are complete of days before yesterday", async ({ expect }) => {
    const count = MAX_LIMITERS_INSPECTED + 1;
    const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`;
    await env.DB.batch([
      env.DB.prepare(
        `insert into api_keys (id, name, plan, created_at) ${numbers} select 'key_many_' || i, 'k', 'free', 0 from n`,
      ),
      env.DB.prepare(
        `insert into daily_usage ${numbers} select '2038-04-20', 'key_many_' || i, 2, 0, 0, '[]', 0.2 from n`,
      ),
    ]);
    setClock(NOON + 51 * DAY);
    const { KEY_LIMITER } = countingLimiters();
    const read = async () =>
      (await operatorOf(startApp({ KEY_LIMITER }))("GET", "/usage?day=2038-04-20&limit=1")).body;
    const total = { keyCount: count, admitted: 2 * count };
    await sumUsageOfYesterday(env, Date.now());
    expect(await read()).toMatchObject({ complete: false, total });
    setClock(NOON + 52 * DAY);
    expect(await read()).toMatchObject({ complete: true, total });
    await env.DB.prepare("delete from usage_totals where day = '2038-04-20'").run();
    expect(await read()).toMatchObject({ complete: false, total: { keyCount: MAX_LIMITERS_INSPECTED } });
  });
});

describe("a day before yesterday without sums", () => {
  const read = async (query: string, by = operator) => (await by("GET", `/usage?day=${query}`)).body;

  it("has what limiters could not report for two days, or is not complete", async ({ expect }) => {
    setClock(NOON + 60 * DAY);
    const [often, seldom] = [await createKey(), await createKey()];
    await withoutReportsTo(["daily_usage"], async () => {
      for (const { key } of [often, seldom, often]) await app("/v1/nothing", { key });
      setClock(NOON + 62 * DAY);
      const keys = [
        { keyId: often.id, admitted: 2 },
        { keyId: seldom.id, admitted: 1 },
      ];
      const total = { keyCount: 2, admitted: 3 };
      expect(await read("2038-04-30")).toMatchObject({ complete: true, total, keys });
      const first = { complete: true, total, keys: keys.slice(0, 1), next: null };
      expect(await read("2038-04-30&limit=1")).toMatchObject(first);
      const none = { complete: false, total: { keyCount: 0 }, keys: [] };
      expect(await read("2038-04-30", offline)).toMatchObject(none);
    });
  });

  it("is complete with what D1 has if no limiter has more of it, on pages too", async ({ expect }) => {
    const keys = [await usedOn(NOON + 70 * DAY), await usedOn(NOON + 70 * DAY)];
    for (const { id } of keys) await runDurableObjectAlarm(limiterOf(id));
    setClock(NOON + 72 * DAY);
    const first = await read("2038-05-10&limit=1");
    expect(first).toMatchObject({ complete: true, total: { keyCount: 2, admitted: 10 }, keys: [{}] });
    const second = await read(`2038-05-10&limit=1&after=${first.next}`);
    expect(second).toMatchObject({ complete: false, keys: [{ admitted: 5, live: true }] });
    const shown = [first, second].flatMap(({ keys }) => keys as { keyId: string }[]); // of this route
    expect(shown.map(({ keyId }) => keyId).sort()).toEqual(keys.map(({ id }) => id).sort());
  });
});

describe("the sums of a day that is not kept any more", () => {
  it("are not complete", async ({ expect }) => {
    setClock(NOON);
    const usageOf = async (day: string) => (await operator("GET", `/usage?day=${day}`)).body;
    expect(await usageOf("2037-01-25")).toMatchObject({ complete: true, total: { keyCount: 0 } });
    expect(await usageOf("2037-01-24")).toMatchObject({ complete: false, total: { keyCount: 0 } });
  });
});
