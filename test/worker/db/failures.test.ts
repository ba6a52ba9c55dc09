/** The real errors of D1 for a wrong statement or wrong data. They are bugs, not outages. */
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { describe, it } from "vitest";
import { isDatabaseOutage, openDatabase } from "../../../src/worker/db/database.ts";
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
