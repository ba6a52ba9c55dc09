/** Pages of `GET /admin/keys`: each reads a bounded number of keys, and together they have every key that matches. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, it } from "vitest";
import type { KeyPage } from "../../../src/worker/db/key-repository.ts";
import { startApp, startEachTestAt } from "../../support/worker.ts";
import { operatorOf } from "./admin-support.ts";

const KEYS = 50;
const operator = operatorOf(startApp());

startEachTestAt(Date.UTC(2036, 4, 1, 12));

/** Every 17th key is revoked, every 5th is named "fifth". */
beforeAll(async () => {
  await env.DB.prepare(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
     insert into api_keys (id, name, plan, status, created_at)
     select printf('key_%03d', i), iif(i % 5 = 0, 'Fifth', 'other'), iif(i % 2 = 0, 'pro', 'free'),
       iif(i % 17 = 0, 'revoked', 'active'), 0 from n`,
  )
    .bind(KEYS)
    .run();
});

async function pagesOf(query: string): Promise<KeyPage[]> {
  const pages: KeyPage[] = [];
  let after = "";
  for (;;) {
    const { body } = await operator("GET", `/keys?${query}${after}`);
    const page = body as unknown as KeyPage; // the body of this route
    pages.push(page);
    if (page.next === null) return pages;
    after = `&after=${page.next}`;
  }
}

const numbersOf = (pages: readonly KeyPage[]) =>
  pages.flatMap(({ keys }) => keys.map(({ id }) => Number(id.slice(4))));

const numbers = Array.from({ length: KEYS }, (_, i) => i + 1);

describe("the pages of keys", () => {
  it.for([
    { query: "", matches: () => true },
    { query: "&plan=pro", matches: (i: number) => i % 2 === 0 },
    { query: "&status=revoked", matches: (i: number) => i % 17 === 0 },
    { query: "&name=fiFTH", matches: (i: number) => i % 5 === 0 },
    { query: "&status=active&name=fifth&plan=free", matches: (i: number) => i % 10 === 5 && i % 17 !== 0 },
    { query: "&status=expired", matches: () => false },
  ])("with$query have each matching key once, in order", async ({ query, matches }, { expect }) => {
    for (const limit of [1, 2, 7, 49, 50, 500]) {
      const pages = await pagesOf(`limit=${limit}${query}`);
      expect(numbersOf(pages), `limit ${limit}`).toEqual(numbers.filter(matches));
      for (const { keys } of pages) expect(keys.length).toBeLessThanOrEqual(limit);
    }
  });

  it("can be empty although more follow, after three times as many keys as they may show", async ({
    expect,
  }) => {
    const { body } = await operator("GET", "/keys?status=revoked&limit=4");
    expect(body).toEqual({ keys: [], next: "key_012" });
    const second = await operator("GET", "/keys?status=revoked&limit=4&after=key_012");
    expect(second.body).toMatchObject({ keys: [{ id: "key_017" }], next: "key_024" });
  });
});
