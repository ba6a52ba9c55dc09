/** The order list as most projects write it: drizzle's rows, and Hono's `c.json`. */
import { drizzle } from "drizzle-orm/d1";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { Hono } from "hono";

/** The public columns of the project's table, with drizzle's usual types. */
const orders = sqliteTable("orders", {
  id: integer().primaryKey(),
  petId: integer("pet_id"),
  quantity: integer(),
  shipDate: text("ship_date"),
  complete: integer({ mode: "boolean" }),
});

export default new Hono<{ Bindings: { DB: D1Database } }>().get("/orders", async (c) =>
  c.json(await drizzle(c.env.DB).select().from(orders)),
);
