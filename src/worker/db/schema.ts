/**
 * The columns of the tables that code names with drizzle. The migration makes all tables, and says what their
 * columns mean. A test compares both. Times are Unix seconds.
 */
import { customType, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { BAN_CAUSES, KEY_STATUSES, LOCATIONS, ORDER_STATUSES } from "./values.ts";

export const plans = sqliteTable("plans", {
  id: text().primaryKey(),
  requestsPerMinute: integer("requests_per_minute"),
  requestsPerDay: integer("requests_per_day"),
  alertPercents: text("alert_percents").default("[80,100]"),
  keyCount: integer("key_count").notNull().default(0),
  keysWithoutMinuteLimit: integer("keys_without_minute_limit").notNull().default(0),
  keysWithoutDayLimit: integer("keys_without_day_limit").notNull().default(0),
  version: integer().notNull().default(0),
});

export const apiKeys = sqliteTable("api_keys", {
  id: text().primaryKey(),
  name: text().notNull(),
  note: text(),
  search: text().notNull().default(""),
  plan: text().notNull(),
  requestsPerMinute: integer("requests_per_minute"),
  requestsPerDay: integer("requests_per_day"),
  temporaryRequestsPerMinute: integer("temporary_requests_per_minute"),
  temporaryRequestsPerDay: integer("temporary_requests_per_day"),
  temporaryUntil: integer("temporary_until"),
  status: text({ enum: KEY_STATUSES }).notNull().default("active"),
  mayCancel: integer("may_cancel", { mode: "boolean" }).notNull().default(true),
  expiresAt: integer("expires_at"),
  createdAt: integer("created_at").notNull(),
  firstUsedAt: integer("first_used_at"),
  location: text({ enum: LOCATIONS }),
  bannedUntil: integer("banned_until"),
  banReason: text("ban_reason"),
  pardonedBanId: text("pardoned_ban_id"),
  customer: text("customer_id"),
  nextPlan: text("next_plan"),
  nextPlanFrom: integer("next_plan_from"),
  version: integer().notNull().default(0),
});

export const customers = sqliteTable("customers", {
  id: text().primaryKey(),
  name: text().notNull(),
  nameKey: text("name_key").notNull(),
  search: text().notNull().default(""),
  email: text(),
  note: text(),
  requestsPerMinute: integer("requests_per_minute"),
  requestsPerDay: integer("requests_per_day"),
  createdAt: integer("created_at").notNull(),
  version: integer().notNull().default(0),
  erasedAt: integer("erased_at"),
});

export const keySecrets = sqliteTable("key_secrets", {
  hash: text().primaryKey(),
  keyId: text("key_id").notNull(),
  hint: text().notNull(),
  createdAt: integer("created_at").notNull(),
  expiresAt: integer("expires_at"),
});

/** An INTEGER of 64 bits, bound as text. The column's affinity makes an exact integer of the text. */
const int64Column = customType<{ data: string; driverData: string }>({
  dataType: () => "integer",
  toDriver: (value) => value,
});

export const orders = sqliteTable("orders", {
  id: int64Column().primaryKey(),
  petId: int64Column("pet_id"),
  quantity: int64Column(),
  shipDate: text("ship_date"),
  complete: integer({ mode: "boolean" }),
  status: text({ enum: ORDER_STATUSES }).notNull().default("pending"),
  version: integer().notNull().default(0),
});

export const bans = sqliteTable("bans", {
  id: text().primaryKey(),
  keyId: text("key_id").notNull(),
  cause: text({ enum: BAN_CAUSES }).notNull(),
  reason: text(),
  strikes: integer().notNull(),
  startedAt: integer("started_at").notNull(),
  endsAt: integer("ends_at").notNull(),
  liftedAt: integer("lifted_at"),
  liftedBy: text("lifted_by"),
  customerId: text("customer_id"),
});

export const auditLog = sqliteTable("audit_log", {
  id: integer().primaryKey(),
  at: integer().notNull(),
  requestId: text("request_id").notNull(),
  actor: text().notNull(),
  call: text().notNull(),
  object: text().notNull(),
  before: text(),
  after: text(),
  batch: text(),
  transactionId: integer("transaction_id"),
});

export const consoleSessions = sqliteTable("console_sessions", {
  idHash: text("id_hash").primaryKey(),
  name: text(),
  tokenHash: text("token_hash").notNull(),
  endsAt: integer("ends_at").notNull(),
  seenAt: integer("seen_at").notNull(),
});

export const ownerLinks = sqliteTable("owner_links", {
  id: text().primaryKey(),
  hash: text().notNull(),
  customerId: text("customer_id").notNull(),
  createdAt: integer("created_at").notNull(),
  createdBy: text("created_by").notNull(),
  endsAt: integer("ends_at").notNull(),
  openedAt: integer("opened_at"),
});
