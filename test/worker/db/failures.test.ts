/** The real errors of D1 for a wrong statement or wrong data. They are bugs, not outages. */
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { describe, it } from "vitest";
import { isDatabaseOutage, openDatabase, transact } from "../../../src/worker/db/database.ts";
import { insertOrders } from "../../support/factories.ts";

async function thrownBy(action: () => Promise<unknown>): Promise<unknown> {
  try {
    await action();
  } catch (thrown) {
    return thrown;
  }
  throw new Error("nothing was thrown");
}

const run = (query: string, ...bindings: unknown[]) => {
  return () =>
    env.DB.prepare(query)
      .bind(...bindings)
      .run();
};

describe("a D1 error that is not an outage", () => {
  const bugs: [what: string, action: () => Promise<unknown>][] = [
    ["a column that does not exist", run("select nothing from orders")],
    ["a statement that is none", run("selekt 1")],
    ["two rows with one key", () => insertOrders({ id: "1" }, { id: "1" })],
    ["a value that a check forbids", () => insertOrders({ id: "1", status: "lost" })],
    ["a text where a STRICT table wants an integer", run("insert into orders (id, pet_id) values (1, 'x')")],
    ["too few values", run("select ?, ?", 1)],
    ["a value of a type that cannot be bound", run("select ?", 1n)],
    ["a trigger that objects", run("update plans set requests_per_day = -1")],
    [
      "a statement with too many variables",
      run(`select ${Array(101).fill("?").join()}`, ...Array(101).fill(1)),
    ],
    ["drizzle's own words around it", () => openDatabase(env.DB).all(sql`select nothing from orders`)],
  ];
  for (const [what, action] of bugs) {
    it(`is seen in ${what}`, async ({ expect }) => {
      const thrown = await thrownBy(action);
      expect(thrown).toBeInstanceOf(Error);
      expect(isDatabaseOutage(thrown), String(thrown)).toBe(false);
    });
  }
});

describe("a transaction", () => {
  it("returns each statement's rows, with parameters bound in order", async ({ expect }) => {
    const db = openDatabase(env.DB);
    const [first, second] = await transact<[{ a: string; b: string }, { c: string }]>(db, [
      sql`select ${"1"} as a, ${"2"} as b`,
      sql`select ${"3"} as c union all select ${"4"}`,
    ]);
    expect(first).toEqual([{ a: "1", b: "2" }]);
    expect(second).toEqual([{ c: "3" }, { c: "4" }]);
  });

  it("changes nothing if one of its statements fails", async ({ expect }) => {
    const db = openDatabase(env.DB);
    const statements = [
      sql`insert into orders (id) values (${"31"})`,
      sql`insert into orders (id) values (${"x"})`,
    ];
    await thrownBy(() => transact(db, statements));
    expect(await env.DB.prepare("select count(*) as n from orders where id = 31").first("n")).toBe(0);
  });
});
