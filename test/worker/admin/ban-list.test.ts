/** Pages of `GET /admin/bans`: together they have every ban that matches once, in order. */
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, it, vi } from "vitest";
import type { BanView } from "../../../src/worker/db/ban-repository.ts";
import { createKey } from "../../support/factories.ts";
import { captureLog, setClock, startApp } from "../../support/worker.ts";
import { banByStrikes, operatorOf, withoutReportsTo } from "./admin-support.ts";

const NOW_MS = Date.UTC(2037, 0, 1, 12);
const NOW = NOW_MS / 1000;
const BANS = 60;

const app = startApp();
const operator = operatorOf(app);

beforeEach(() => {
  setClock(NOW_MS);
  captureLog();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Five start at the same time. A third are live, a third over, a third lifted; half of them are of one key. */
beforeAll(async () => {
  await env.DB.exec("delete from bans");
  await env.DB.prepare(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
     insert into bans (id, key_id, cause, strikes, started_at, ends_at, lifted_at)
     select printf('ban_%03d', i), iif(i % 2, 'key_odd', 'key_even'), 'operator', 0, ${NOW} - 1000 + i / 5,
       ${NOW} + iif(i % 3 = 1, -(i % 7), 1 + i % 7), iif(i % 3 = 2, ${NOW} - i % 11, null) from n`,
  )
    .bind(BANS)
    .run();
});

async function pagesOf(query: string): Promise<BanView[][]> {
  const pages: BanView[][] = [];
  let after = "";
  for (;;) {
    const { body } = await operator("GET", `/bans?${query}${after}`);
    const page = body as unknown as { bans: BanView[]; next: string | null }; // the body of this route
    pages.push([...page.bans]);
    if (page.next === null) return pages;
    after = `&after=${page.next}`;
  }
}

describe("the pages of bans", () => {
  it.for([
    { query: "state=all", bans: 60 },
    { query: "state=live", bans: 20 },
    { query: "state=past", bans: 40 },
    { query: "state=all&key=key_odd", bans: 30 },
    { query: "state=live&key=key_odd", bans: 10 },
    { query: "state=past&key=key_even", bans: 20 },
  ])("with $query have each ban once, in the order of one page", async ({ query, bans }, { expect }) => {
    const [whole = []] = await pagesOf(`${query}&limit=500`);
    expect(new Set(whole.map(({ id }) => id)).size).toBe(bans);
    for (const limit of [3, 20]) {
      const pages = await pagesOf(`${query}&limit=${limit}`);
      expect(pages.flat(), `limit ${limit}`).toEqual(whole);
      expect(pages.slice(0, -1).every(({ length }) => length === limit)).toBe(true);
    }
  });

  it("have a ban that only its limiter has once, whether it is reported between two pages or not", async ({
    expect,
  }) => {
    const key = await createKey({ perMinute: 1 });
    await withoutReportsTo(["bans"], () => banByStrikes(key, app, NOW_MS - 2_000));
    setClock(NOW_MS);
    for (const query of ["state=all&limit=7", "state=live&limit=7"]) {
      const shown = (await pagesOf(query)).flat().map(({ id }) => id);
      expect(shown.filter((id) => id.includes(key.id))).toHaveLength(1);
      expect(new Set(shown).size).toBe(shown.length);
    }
    const first = await operator("GET", "/bans?limit=1");
    expect(first.body.bans).toMatchObject([{ keyId: key.id }]);
    await operator("DELETE", `/keys/${key.id}/ban`); // reports it
    const second = await operator("GET", `/bans?limit=1&after=${first.body.next}`);
    expect(second.body.bans).toMatchObject([{ id: "ban_060" }]);
  });

  it("have bans that only their limiter has, also those of days ago", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await withoutReportsTo(["bans"], async () => {
      for (const hoursAgo of [50, 49, 48]) await banByStrikes(key, app, NOW_MS - hoursAgo * 3_600_000);
      setClock(NOW_MS);
      for (const query of [`key=${key.id}`, `key=${key.id}&state=past`, "state=all"]) {
        const ofKey = (await pagesOf(`${query}&limit=1`)).flat().filter(({ keyId }) => keyId === key.id);
        expect(new Set(ofKey.map(({ id }) => id)).size, query).toBe(3);
        expect(ofKey, query).toHaveLength(3);
      }
    });
  });

  it("have no ban that was replaced after its limiter was asked", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await banByStrikes(key, app, NOW_MS - 2_000);
    setClock(NOW_MS);
    const batch = async (statements: D1PreparedStatement[]) => {
      await operator("PUT", `/keys/${key.id}/ban`, { seconds: 60, reason: "instead" });
      return env.DB.batch(statements);
    };
    // The list uses these two members only.
    const DB = { prepare: (query: string) => env.DB.prepare(query), batch } as unknown as D1Database;
    const { body } = await operatorOf(startApp({ DB }))("GET", `/bans?state=live&key=${key.id}`);
    expect(body).toMatchObject({ bans: [{ reason: "instead" }], complete: true });
    expect(body.bans).toHaveLength(1);
  });

  it("refuse a cursor of another list", async ({ expect }) => {
    const { body } = await operator("GET", "/bans?state=live&limit=1");
    for (const query of [`state=past&after=${body.next}`, `after=${body.next}`, "after=ban_001"]) {
      expect((await operator("GET", `/bans?${query}`)).status).toBe(400);
    }
  });
});

describe("a ban that only its limiter has, last on its page", () => {
  it("is not on the next page", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await withoutReportsTo(["bans"], () => banByStrikes(key, app, NOW_MS - 2_000));
    setClock(NOW_MS);
    const query = `/bans?key=${key.id}&limit=1`;
    const first = await operator("GET", query);
    expect(first.body.bans).toMatchObject([{ keyId: key.id, cause: "strikes" }]);
    expect((await operator("GET", `${query}&after=${first.body.next}`)).body).toMatchObject({
      bans: [],
      next: null,
    });
  });
});
