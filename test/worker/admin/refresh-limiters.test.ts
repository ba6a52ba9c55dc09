/** Whose limiter is told of a change, and when. That each change is told: changes.test.ts. */
import { env } from "cloudflare:workers";
import { afterEach, describe, it } from "vitest";
import runbook from "../../../docs/runbook.md?raw";
import {
  MAX_KEYS_A_RUN,
  MAX_KEYS_AT_ONCE,
  refreshLimiters,
} from "../../../src/worker/admin/refresh-limiters.ts";
import type { Bindings } from "../../../src/worker/context.ts";
import { createKey } from "../../support/factories.ts";
import {
  limiters,
  log,
  runMinuteCron,
  startApp,
  startEachTestAt,
  watchDatabase,
} from "../../support/worker.ts";
import { browserWith } from "../console/browser.ts";
import { countingLimiters, operatorOf, unreachableLimiters } from "./admin-support.ts";

const app = startApp();

startEachTestAt(Date.UTC(2035, 0, 1, 12));
afterEach(async () => {
  await env.DB.exec("update plans set requests_per_minute = 300 where id = 'pro'");
  await env.DB.exec("delete from api_keys where id glob 'key_many*'");
  await env.DB.exec("delete from outdated_keys");
});

const run = (sql: string, ...values: string[]) =>
  env.DB.prepare(sql)
    .bind(...values)
    .run();

async function outdatedKeys(): Promise<string[]> {
  const { results } = await env.DB.prepare("select key_id as id from outdated_keys").all<{ id: string }>();
  return results.map(({ id }) => id);
}

/** The status of a request without a route, and the limit of a minute if the request was admitted. */
async function seenBy(key: string): Promise<string> {
  const { status, headers } = await app("/v1/none", { key });
  return status === 404 ? `404 ${headers.get("RateLimit-Policy")?.match(/q=(\d+);w=60/)?.[1]}` : `${status}`;
}

/** With the ids `key_many<from>` and so on. */
async function insertUsedKeys(plan: string, from: number, count: number): Promise<void> {
  await env.DB.prepare(
    `with recursive n (i) as (select cast(?1 as int) union all select i + 1 from n where i + 1 < ?1 + ?2)
     insert into api_keys (id, name, plan, created_at)
     select 'key_many' || i, 'many', ?3, i from n`,
  )
    .bind(from, count, plan)
    .run();
  await run("insert or ignore into limiters select id from api_keys where id like 'key_many%'");
}

/** Real limiters, except those with these ids. */
function limitersWithout(ids: readonly string[]): Bindings["KEY_LIMITER"] {
  return limiters((id) => (ids.includes(id) ? unreachableLimiters() : env.KEY_LIMITER).getByName(id));
}

describe("plain SQL is obeyed after the next run of the minute's cron", () => {
  it.for([
    ["on a key", ["update api_keys set requests_per_minute = 7 where id = ?"], "404 7"],
    ["on a secret", ["update key_secrets set expires_at = 1 where key_id = ?"], "401"],
    ["on a plan", ["update plans set requests_per_minute = 222 where id = 'pro' and ? <> ''"], "404 222"],
    [
      "that replaces a key",
      [
        `insert or replace into api_keys (id, name, plan, requests_per_minute, created_at)
         select id, name, plan, 7, created_at from api_keys where id = ?`,
      ],
      "404 7",
    ],
    [
      "that replaces a plan",
      [
        `insert or replace into plans (id, requests_per_minute, requests_per_day, key_count)
         select id, 222, requests_per_day, key_count from plans where id = 'pro' and ? <> ''`,
      ],
      "404 222",
    ],
    [
      "that deletes a key",
      ["delete from key_secrets where key_id = ?", "delete from api_keys where id = ?"],
      "401",
    ],
  ] as const)("%s", async ([, statements, after], { expect }) => {
    const { id, key } = await createKey({ plan: "pro" });
    expect(await seenBy(key)).toBe("404 300");
    for (const sql of statements) await run(sql, id);
    expect(await seenBy(key)).toBe("404 300");
    await runMinuteCron();
    expect([await seenBy(key), await outdatedKeys()]).toEqual([after, []]);
  });
});

describe("a limiter that cannot be reached", () => {
  it("keeps no other waiting, though a run takes fewer keys than cannot be told", async ({ expect }) => {
    const keys = await Promise.all(Array.from({ length: 4 }, () => createKey({ plan: "free", used: true })));
    const [alive, ...dead] = keys.map(({ id }) => id).sort();
    await run("update api_keys set expires_at = 9000000000 where plan = ?", "free");
    const bindings = { ...env, KEY_LIMITER: limitersWithout(dead) };
    // Each run takes two of the four.
    for (let runs = 0; runs < 60 && (await outdatedKeys()).includes(alive ?? ""); runs++) {
      await refreshLimiters(bindings, "all", 2);
    }
    expect((await outdatedKeys()).sort()).toEqual(dead);
    expect(await (await startApp()("/health")).json()).toMatchObject({ outdatedKeys: 3 });
    const overview = await (await browserWith(env.ADMIN_TOKEN)).get("/console");
    expect(await overview.text()).toContain("A change has not reached 3 keys yet.");
  });
});

describe("a change that comes while the limiter is told of another", () => {
  it("is told, too", async ({ expect }) => {
    const { id, key } = await createKey({ plan: "pro" });
    await seenBy(key);
    const setLimit = (limit: number) =>
      run(`update api_keys set requests_per_minute = ${limit} where id = ?`, id);
    await setLimit(8);
    const forget = async () => {
      await env.KEY_LIMITER.getByName(id).forget();
      expect(await seenBy(key)).toBe("404 8");
      await setLimit(9);
    };
    await runMinuteCron({ KEY_LIMITER: limiters(() => ({ forget })) });
    expect([await seenBy(key), await outdatedKeys()]).toEqual(["404 8", [id]]);
    await runMinuteCron();
    expect([await seenBy(key), await outdatedKeys()]).toEqual(["404 9", []]);
  });
});

describe("a change of a plan", () => {
  it("tells the limiter of each used key that is not revoked, 50 at the same time", async ({ expect }) => {
    await insertUsedKeys("pro", 1, 60);
    await createKey({ plan: "pro", status: "revoked", used: true });
    await createKey({ plan: "pro" });
    const { KEY_LIMITER, names, maxConcurrent } = countingLimiters();
    const change = { requestsPerMinute: 299 };
    const { body } = await operatorOf(startApp({ KEY_LIMITER }))("PATCH", "/plans/pro", change);
    expect(body).toMatchObject({ id: "pro", requestsPerMinute: 299, effective: "immediately" });
    const used = Array.from({ length: 60 }, (_, i) => `key_many${1 + i}`);
    expect(
      names()
        .filter((name) => name.startsWith("key_many"))
        .sort(),
    ).toEqual(used.sort());
    expect([maxConcurrent(), await outdatedKeys()]).toEqual([50, []]);
  });

  it("reaches 9,000 keys within the limits of each invocation", async ({ expect }) => {
    await insertUsedKeys("business", 1, 9_000);
    const names: string[] = [];
    const KEY_LIMITER = limiters((name) => {
      names.push(name);
      return { forget: async () => {} };
    });
    const { DB, queries } = watchDatabase();
    const change = { requestsPerMinute: 999 };
    const { body } = await operatorOf(startApp({ KEY_LIMITER, DB }))("PATCH", "/plans/business", change);
    expect([body.effective, names.length]).toEqual(["within minutes", MAX_KEYS_AT_ONCE]);
    queries();
    let runs = 0;
    for (; (await outdatedKeys()).length > 0; runs++) {
      const before = names.length;
      await runMinuteCron({ KEY_LIMITER, DB });
      expect(names.length - before).toBeLessThanOrEqual(MAX_KEYS_A_RUN);
      expect(queries().length).toBeLessThanOrEqual(81);
    }
    expect([runs, new Set(names).size, names.length]).toEqual([3, 9_000, 9_000]);
  });

  it("is stored and told later, if D1 fails after the change", async ({ expect }) => {
    const { key } = await createKey({ plan: "pro" });
    await seenBy(key);
    const { DB, failWith } = watchDatabase();
    failWith("D1_ERROR: Network connection lost.", /from outdated_keys/);
    const change = { requestsPerMinute: 298 };
    const { status, body } = await operatorOf(startApp({ DB }))("PATCH", "/plans/pro", change);
    expect([status, body.effective]).toEqual([200, "within minutes"]);
    expect(log.lines()).toContainEqual(expect.objectContaining({ event: "keys_not_refreshed" }));
    await runMinuteCron();
    expect(await seenBy(key)).toBe("404 298");
  });
});

describe("after a restore that has forgotten the limiter", () => {
  it("the statement of the runbook tells all keys", async ({ expect }) => {
    const { id, key } = await createKey({ plan: "pro" });
    await seenBy(key);
    await run("delete from limiters where key_id = ?", id);
    await run("update api_keys set requests_per_minute = 6 where id = ?", id);
    expect([await seenBy(key), await outdatedKeys()]).toEqual(["404 300", []]);
    const [, statement = ""] = /--command "(insert into outdated_keys [^"]+)"/.exec(runbook) ?? [];
    await run(statement);
    await runMinuteCron();
    expect(await seenBy(key)).toBe("404 6");
  });
});
