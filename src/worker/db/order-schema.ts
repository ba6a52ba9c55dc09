/**
 * The D1 tables of orders, as schema.ts has the others. int64 columns are read and written as decimal text,
 * because a JavaScript number silently rounds past 2^53 (ADR-5).
 */
import { sql } from "drizzle-orm";
import { check, customType, index, integer, sqliteTable, sqliteView, text } from "drizzle-orm/sqlite-core";
import { ORDER_STATUSES } from "./values.ts";

/** An INTEGER of 64 bits, bound as text. The column's affinity makes an exact integer of the text. */
const int64Column = customType<{ data: string; driverData: string }>({
  dataType: () => "integer",
  toDriver: (value) => value,
});

export const orders = sqliteTable(
  "orders",
  {
    id: int64Column().primaryKey(),
    petId: int64Column("pet_id"),
    quantity: int64Column(),
    shipDate: text("ship_date"),
    complete: integer({ mode: "boolean" }),
    status: text({ enum: ORDER_STATUSES }).notNull().default("pending"),
    version: integer().notNull().default(1),
  },
  (table) => [
    check("orders_status", sql`${table.status} in ('pending', 'processing', 'shipped', 'delivered')`),
  ],
);

export const cancelledOrders = sqliteTable(
  "cancelled_orders",
  {
    id: integer().primaryKey(),
    orderId: int64Column("order_id").notNull(),
    petId: int64Column("pet_id"),
    quantity: int64Column(),
    shipDate: text("ship_date"),
    complete: integer({ mode: "boolean" }),
    cancelledAt: integer("cancelled_at").notNull(),
    cancelledBy: text("cancelled_by").notNull(),
    requestId: text("request_id").notNull(),
  },
  (table) => [index("cancelled_orders_by_order").on(table.orderId)],
);

/** The change feed of the orders. The last row is the current revision of the list. */
export const orderChanges = sqliteTable("order_changes", {
  revision: integer().primaryKey(),
  orderId: int64Column("order_id").notNull(),
  token: text().notNull().default(sql`(lower(hex(randomblob(8))))`),
  changedAt: integer("changed_at").notNull().default(sql`(unixepoch())`),
});

/** Each public order as JSON text. */
export const orderJson = sqliteView("order_json", {
  id: int64Column().notNull(),
  json: text().notNull(),
}).existing();
