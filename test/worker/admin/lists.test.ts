/** Pages of the operator's lists: in each order they have each row once, as one long page has them. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, it } from "vitest";
import { startApp, startEachTestAt } from "../../support/worker.ts";
import { operatorOf } from "./admin-support.ts";

const NOW = Date.UTC(2037, 0, 20, 12) / 1000;
const TODAY = NOW - (NOW % 86_400);
const ROWS = 24;
/** Of 24 rows the last page is full, of 12 and 20 it is not. */
const LIMIT = 8;

const operator = operatorOf(startApp());

startEachTestAt(NOW * 1000);

/** Many rows have the same value in each order, and a third of the keys has no customer and no expiry. */
beforeAll(async () => {
  const tables = ["key_secrets", "usage", "bans", "audit_log", "alerts", "orders", "api_keys", "customers"];
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${ROWS})`;
  const inserts = [
    `insert into customers (id, name, name_key, created_at)
      select printf('cus_%d', i), printf('customer %d', i), printf('customer %d', i), 0 from n where i <= 20`,
    `insert into api_keys (id, name, customer_id, plan, status, expires_at, created_at)
      select printf('key_%012d', i), printf('name %d', i % 7), iif(i % 3, printf('cus_%d', 1 + i % 20), null),
        iif(i % 2, 'pro', 'free'), 'active', iif(i % 3, ${NOW} + i % 5 * 86400, null), 0 from n`,
    `insert into usage (day, key_id, customer_id, plan, admitted, refused, refused_while_banned, limit_per_day, hours)
      select ${TODAY} - i % 4 * 86400, printf('key_%012d', i), iif(i % 3, printf('cus_%d', 1 + i % 20), null), 'pro', i % 4 * 10, i % 3, 0, 10000, '[]' from n`,
    `insert into bans (id, key_id, cause, strikes, started_at, ends_at, lifted_at)
      select printf('ban_%03d', i), printf('key_%012d', 1 + i % 2), 'operator', 0, ${NOW} - 1000 + i / 5,
        ${NOW} + iif(i % 4 = 1, -(i % 3), 1 + i % 7), iif(i % 4 = 2, ${NOW} - i % 3, null) from n`,
    `insert into audit_log (at, request_id, actor, call, object)
      select ${NOW} - i / 9, 'r', 'mo', 'keys.update', iif(i % 2, 'key_000000000001', 'key_000000000002') from n`,
    `insert into orders (id, quantity, status) select i * 3 - 60, 1, iif(i % 4, 'pending', 'shipped') from n`,
    `insert into alerts (id, type, key_id, at, text, data)
      select printf('alert_%03d', i), 'ban.lifted', 'key_000000000001', ${NOW} - i / 9, '', '{}' from n`,
    `insert into cancelled_orders (order_id, cancelled_at, cancelled_by, request_id)
      select i, ${NOW} - i / 9, 'key_000000000001', 'r' from n`,
  ];
  await env.DB.batch([
    ...tables.map((table) => env.DB.prepare(`delete from ${table}`)),
    ...inserts.map((insert) => {
      const [, into = "", select = ""] = /^(insert into .*?\))\s+(select.*)$/s.exec(insert) ?? [];
      return env.DB.prepare(`${into} ${numbers} ${select}`);
    }),
  ]);
});

type Rows = Record<string, unknown>[];

async function pageOf(path: string, member: string) {
  const { status, body, text } = await operator("GET", path);
  if (status !== 200) throw new Error(`${path}: ${text}`);
  return { rows: body[member] as Rows, next: body.next as string | number | null }; // the shape of a list
}

const both = (order: string) => [`${order}&direction=asc`, `${order}&direction=desc`];

type List = {
  readonly path: string;
  readonly member: string;
  readonly orders: readonly string[];
  readonly rows?: number;
};

const LISTS: readonly List[] = [
  {
    path: "/keys",
    member: "keys",
    orders: ["created", "name", "customer", "expiry", "used"].flatMap((sort) => both(`sort=${sort}`)),
  },
  { path: "/bans", member: "bans", orders: ["state=all"] },
  { path: "/bans", member: "bans", orders: ["state=live"], rows: 12 },
  { path: "/bans", member: "bans", orders: ["state=past"], rows: 12 },
  { path: "/bans", member: "bans", orders: ["state=live&key=key_000000000002"], rows: 6 },
  {
    path: "/usage",
    member: "rows",
    orders: ["admitted", "refused", "percent", "near", "peak", "name"].flatMap((sort) =>
      both(`from=30d&sort=${sort}`),
    ),
  },
  {
    path: "/customers",
    member: "customers",
    orders: ["near", "peak", "admitted", "name"].flatMap((sort) => both(`from=30d&sort=${sort}`)),
    rows: 20,
  },
  { path: "/usage", member: "rows", orders: ["from=24h&to=0h&by=hour"] },
  { path: "/alerts", member: "alerts", orders: [""] },
  { path: "/audit", member: "audit", orders: ["actor=mo"] },
  { path: "/audit", member: "audit", orders: ["object=key_000000000001"], rows: 12 },
  { path: "/orders", member: "orders", orders: both("") },
  { path: "/orders", member: "orders", orders: ["status=shipped"], rows: 6 },
  { path: "/orders/cancelled", member: "cancelled", orders: [""] },
];

describe("the pages of a list have each row once", () => {
  it.for(LISTS)("$path $orders", async ({ path, member, orders, rows = ROWS }, { expect }) => {
    for (const order of orders) {
      const { rows: whole } = await pageOf(`${path}?${order}&limit=500`, member);
      expect(new Set(whole.map((row) => JSON.stringify(row))).size, order).toBe(rows);
      const pages: Rows[] = [];
      for (let next = ""; ; ) {
        const page = await pageOf(`${path}?${order}&limit=${LIMIT}${next}`, member);
        pages.push(page.rows);
        if (page.next === null) break;
        next = `&after=${page.next}`;
      }
      expect(pages.flat(), order).toEqual(whole);
      expect(pages.slice(0, -1).every(({ length }) => length === LIMIT)).toBe(true);
    }
  });

  it.for([
    ["/keys", "sort=name", "sort=customer", "sort=name&direction=desc"],
    ["/bans", "state=live", "state=past", "state=all"],
    ["/audit", ""],
    ["/orders", "direction=asc", "direction=desc"],
    ["/orders/cancelled", ""],
    ["/usage", "by=key", "sort=percent", "direction=asc", "by=hour"],
  ] as const)(
    "a cursor of %s?%s is refused in every other order, as any other text",
    async ([path, order, ...others], { expect }) => {
      const { body } = await operator("GET", `${path}?${order}&limit=1`);
      const cursor = `after=${body.next}`;
      expect((await operator("GET", `${path}?${order}&${cursor}`)).status).toBe(200);
      for (const query of [
        ...others.map((other) => `${other}&${cursor}`),
        "after=key_000000000001",
        "after=%00",
        "after=5",
      ])
        expect((await operator("GET", `${path}?${query}`)).status, query).toBe(400);
    },
  );
});
