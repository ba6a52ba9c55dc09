/** `GET /admin/keys`: which keys match, and their order. Pages are in lists.test.ts. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, it } from "vitest";
import type { KeyView } from "../../../src/worker/admin/keys/schema.ts";
import { createKey } from "../../support/factories.ts";
import { startApp, startEachTestAt } from "../../support/worker.ts";
import { operatorOf, writingAfter } from "./admin-support.ts";

const KEYS = 50;
const NOW = Date.UTC(2036, 4, 1, 12) / 1000;
const DAY = 86_400;
const operator = operatorOf(startApp());

startEachTestAt(NOW * 1000);

/** Every 17th is revoked, every 5th is "fifth"; each 3rd has a customer, each 4th an expiry, each 6th usage; each 7th is new. */
async function insertKeys(): Promise<void> {
  await env.DB.exec("delete from key_secrets");
  await env.DB.exec("delete from api_keys");
  await env.DB.exec("delete from usage");
  await env.DB.exec(
    "insert into customers (id, name, name_key, search, created_at) values ('cus_ada', 'Ada', 'ada', 'ada', 0), ('cus_ben', 'ben', 'ben', 'ben o9@example.test', 0) on conflict do nothing",
  );
  await env.DB.prepare(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
     insert into api_keys (id, name, customer_id, plan, status, expires_at, created_at)
     select printf('key_%03d', i), iif(i % 5 = 0, 'Fifth', printf('other %d', i % 7)),
       iif(i % 3 = 0, iif(i % 2 = 0, 'cus_ada', 'cus_ben'), null),
       iif(i % 2 = 0, 'pro', 'free'), iif(i % 17 = 0, 'revoked', 'active'),
       iif(i % 4 = 0, ${NOW} - 20 * ${DAY} + (i * 7 % 40) * ${DAY}, null), iif(i % 7 = 0, unixepoch('2036-04-20'), 0) from n order by i * 7 % 40, i`,
  )
    .bind(KEYS)
    .run();
  await env.DB.exec(
    `update api_keys set requests_per_minute = iif(substr(id, -1) = '1', 5, null), requests_per_day = iif(substr(id, -1) in ('1', '2'), 9, null),
      temporary_requests_per_day = iif(substr(id, -1) in ('3', '4'), 7, null), may_cancel = substr(id, -1) <> '5', temporary_until = iif(substr(id, -1) in ('3', '4'), ${NOW - (NOW % DAY)} + (substr(id, -1) = '3') * ${DAY}, null)`.replaceAll(
      "\n",
      " ",
    ),
  );
  await env.DB.prepare(
    `with recursive n(i) as (select 6 union all select i + 6 from n where i < 44)
     insert into usage (day, key_id, plan, admitted, refused, refused_while_banned, limit_per_day, hours)
       select unixepoch(iif(i % 12 = 0, '2036-04-30', '2036-04-10')), printf('key_%03d', i), 'pro', 1, 0, 0, 10, '[1]' from n`,
  ).run();
}

async function listed(query: string): Promise<KeyView[]> {
  return (await operator("GET", `/keys?${query}`)).body.keys as KeyView[]; // the body of this route
}

const numbersOf = async (query: string) => (await listed(query)).map(({ id }) => Number(id.slice(4)));

const numbers = Array.from({ length: KEYS }, (_, i) => i + 1);

const expiryOf = (i: number) => (i % 4 === 0 ? NOW - 20 * DAY + ((i * 7) % 40) * DAY : undefined);
/** The ids do not tell the age: a client can have made them. */
const createdOf = (i: number) => (i * 7) % 40;
const isActive = (i: number) => i % 17 !== 0 && (expiryOf(i) ?? NOW + 1) > NOW;
const customerOf = (i: number) => (i % 3 === 0 ? (i % 2 === 0 ? "ada" : "ben") : undefined);
const nameOf = (i: number) => (i % 5 === 0 ? "fifth" : `other ${i % 7}`);

/** As the list sorts: keys without the value last, ties by id in the same direction. */
function sorted(valueAt: (i: number) => number | string | undefined, sign: 1 | -1): number[] {
  return numbers.toSorted((a, b) => {
    const [left, right] = [valueAt(a), valueAt(b)];
    if (left !== undefined && right !== undefined && left !== right) return left < right ? -sign : sign;
    if ((left === undefined) !== (right === undefined)) return left === undefined ? 1 : -1;
    return sign * (a - b);
  });
}

describe("the list of keys", () => {
  beforeAll(insertKeys);

  it.for([
    { query: "", matches: () => true },
    { query: "&plan=pro", matches: (i: number) => i % 2 === 0 },
    { query: "&status=revoked", matches: (i: number) => i % 17 === 0 },
    { query: "&search=fiFTH", matches: (i: number) => i % 5 === 0 },
    { query: "&search=%25", matches: () => false },
    { query: "&search=ADA", matches: (i: number) => i % 6 === 0 },
    { query: "&search=o9%40example", matches: (i: number) => i % 6 === 3 },
    {
      query: "&status=active&search=other&plan=pro",
      matches: (i: number) => i % 5 !== 0 && i % 2 === 0 && isActive(i),
    },
    { query: "&status=expired", matches: (i: number) => i % 17 !== 0 && (expiryOf(i) ?? NOW + 1) <= NOW },
    {
      query: "&expiringBefore=2036-05-05T12:00:00Z",
      matches: (i: number) => (expiryOf(i) ?? Number.POSITIVE_INFINITY) < NOW + 4 * DAY,
    },
    { query: "&mayCancel=false", matches: (i: number) => i % 10 === 5 },
    { query: "&unusedSince=2036-04-30", matches: (i: number) => i % 12 !== 0 },
    { query: "&unusedSince=2036-04-11", matches: (i: number) => i % 12 !== 0 && i % 7 !== 0 },
    { query: "&unusedSince=2036-04-10", matches: (i: number) => i % 6 !== 0 && i % 7 !== 0 },
  ])("with$query has each matching key, in each order", async ({ query, matches }, { expect }) => {
    for (const [sort, valueAt] of [
      ["created", createdOf],
      ["name", nameOf],
      ["customer", customerOf],
      ["expiry", expiryOf],
    ] as const) {
      for (const [direction, sign] of [
        ["asc", 1],
        ["desc", -1],
      ] as const) {
        const expected = sorted(valueAt, sign).filter(matches);
        const order = `sort=${sort}&direction=${direction}`;
        expect(await numbersOf(order + query), order).toEqual(expected);
      }
    }
  });
});

it("a key with a live ban is banned, and its id and the last four characters of its secret find it", async ({
  expect,
}) => {
  const { id, key } = await createKey();
  await operator("PUT", `/keys/${id}/ban`, { seconds: 600, reason: "test" });
  const statuses = async (query: string) => (await listed(query)).map((shown) => [shown.id, shown.status]);
  expect(await statuses("status=banned")).toEqual([[id, "banned"]]);
  expect(await statuses("status=usable&limit=500")).toContainEqual([id, "banned"]);
  expect(await statuses(`search=${id}`)).toEqual([[id, "banned"]]);
  expect(await statuses(`search=${key.slice(-4)}`)).toEqual([[id, "banned"]]);
  await operator("DELETE", `/keys/${id}/ban`);
  expect(await statuses("status=banned")).toEqual([]);
});

it("`ref` names keys by id, the beginning of the id, whole name, or the last four characters of a secret", async ({
  expect,
}) => {
  await insertKeys();
  const { id, key } = await createKey();
  await env.DB.prepare("update api_keys set name = 'Only this' where id = ?").bind(id).run();
  const named = async (ref: string) =>
    (await listed(`ref=${encodeURIComponent(ref)}`)).map((shown) => shown.id);
  for (const ref of [id, id.slice(0, 12), "Only this", "only THIS", key.slice(-4)])
    expect(await named(ref), ref).toEqual([id]);
  for (const ref of ["", "Only", id.slice(1), "_"]) expect(await named(ref), ref).toEqual([]);
  expect(await named("key_")).toHaveLength(10);
});

it("names, customers and notes are found in any case and with or without accents, after each change", async ({
  expect,
}) => {
  const customer = { name: "MÜLLER", email: "Info@Émile.example" };
  expect((await operator("POST", "/customers", customer)).status).toBe(201);
  const made = { name: "Zoë", plan: "free", customer: "müller" };
  const { id } = (await operator("POST", "/keys", made)).body;
  const found = async (query: string) => (await listed(query)).map((key) => key.id);
  for (const query of ["search=zoe", "search=ZOË", "search=müller", "search=@emile", "ref=zoe"])
    expect(await found(query), query).toEqual([id]);
  const late = writingAfter(() => operator("PATCH", `/keys/${id}`, { note: "ΣΟΦΌΣ" }));
  await late("PATCH", `/keys/${id}`, { name: "Żółw", customer: null });
  for (const query of ["search=zółw", "search=σοφός", "ref=żółw"])
    expect(await found(query), query).toEqual([id]);
  for (const query of ["search=zoe", "search=müller", "ref=żół"])
    expect(await found(query), query).toEqual([]);
});
