/** Pages of `GET /admin/bans`: together they have every ban that matches once, in order. */
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, it, vi } from "vitest";
import type { BanView } from "../../../src/worker/admin/bans/schema.ts";
import { captureLog, setClock, startApp } from "../../support/worker.ts";
import { operatorOf } from "./admin-support.ts";

const NOW_MS = Date.UTC(2037, 0, 1, 12);
const NOW = NOW_MS / 1000;
const BANS = 60;

const operator = operatorOf(startApp());

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

  it("refuse a cursor of another list", async ({ expect }) => {
    const { body } = await operator("GET", "/bans?state=live&limit=1");
    for (const query of [`state=past&after=${body.next}`, `after=${body.next}`, "after=ban_001"]) {
      expect((await operator("GET", `/bans?${query}`)).status).toBe(400);
    }
  });
});
