/**
 * The D1 tables as drizzle sees them. The migrations hold what drizzle cannot express (STRICT, COLLATE, triggers,
 * WITHOUT ROWID); a test compares the two column by column.
 *
 * Times are Unix seconds unless the name ends in `Ms`. The tables of orders are in order-schema.ts.
 */
import { isNotNull, isNull, sql } from "drizzle-orm";
import {
  check,
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  sqliteView,
  text,
} from "drizzle-orm/sqlite-core";
import type { HourFigures } from "../limiter/core/hours.ts";
import { BAN_CAUSES, KEY_STATUSES, LOCATIONS } from "./values.ts";

export const plans = sqliteTable(
  "plans",
  {
    id: text().primaryKey(),
    requestsPerMinute: integer("requests_per_minute"),
    requestsPerDay: integer("requests_per_day"),
    version: integer().notNull().default(1),
    keyCount: integer("key_count").notNull().default(0),
    keysWithoutMinuteLimit: integer("keys_without_minute_limit").notNull().default(0),
    keysWithoutDayLimit: integer("keys_without_day_limit").notNull().default(0),
  },
  (table) => [
    check(
      "plans_limits_of_keys",
      sql`(${table.requestsPerMinute} is not null or ${table.keysWithoutMinuteLimit} = 0) and (${table.requestsPerDay} is not null or ${table.keysWithoutDayLimit} = 0)`,
    ),
  ],
);

export const apiKeys = sqliteTable(
  "api_keys",
  {
    id: text().primaryKey(),
    name: text().notNull(),
    ownerName: text("owner_name"),
    ownerEmail: text("owner_email"),
    note: text(),
    plan: text()
      .notNull()
      .references(() => plans.id),
    requestsPerMinute: integer("requests_per_minute"),
    requestsPerDay: integer("requests_per_day"),
    status: text({ enum: KEY_STATUSES }).notNull().default("active"),
    expiresAt: integer("expires_at"),
    version: integer().notNull().default(1),
    createdAt: integer("created_at").notNull(),
    firstUsedAt: integer("first_used_at"),
    location: text({ enum: LOCATIONS }),
    operatorBanId: text("operator_ban_id"),
    liftedBanId: text("lifted_ban_id"),
    forgivenBanId: text("forgiven_ban_id"),
  },
  (table) => [
    index("api_keys_by_plan").on(table.plan, table.id),
    index("api_keys_by_name").on(table.name, table.id),
    index("api_keys_by_owner").on(table.ownerName, table.id),
    index("api_keys_by_expiry").on(table.expiresAt, table.id),
    index("api_keys_by_plan_and_version").on(table.plan, table.version),
    index("api_keys_by_first_use").on(table.firstUsedAt).where(isNotNull(table.firstUsedAt)),
    index("api_keys_used_by_plan")
      .on(table.plan, table.status, table.firstUsedAt)
      .where(isNotNull(table.firstUsedAt)),
    check("api_keys_status", sql`${table.status} in ('active', 'disabled', 'revoked')`),
  ],
);

/** The effective limits of each key, its own or its plan's, and the version of its record: the higher of the two. */
export const keyLimits = sqliteView("key_limits", {
  keyId: text("key_id").notNull(),
  perMinute: integer("per_minute").notNull(),
  perDay: integer("per_day").notNull(),
  version: integer().notNull(),
}).existing();

export const keySecrets = sqliteTable(
  "key_secrets",
  {
    hash: text().primaryKey(),
    keyId: text("key_id")
      .notNull()
      .references(() => apiKeys.id),
    hint: text().notNull(),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at"),
    isEnded: integer("is_ended", { mode: "boolean" }).notNull().default(false),
  },
  (table) => [
    index("key_secrets_by_key").on(table.keyId),
    index("key_secrets_by_last_chars").on(sql`substr(${table.hint}, -4) collate nocase`),
    index("key_secrets_by_end").on(table.expiresAt).where(isNotNull(table.expiresAt)),
  ],
);

/** A key's usage on a UTC day. The limiter reports it once on that day, and the final figures after its end. */
export const dailyUsage = sqliteTable(
  "daily_usage",
  {
    day: text().notNull(),
    keyId: text("key_id").notNull(),
    admitted: integer().notNull(),
    refused: integer().notNull(),
    refusedWhileBanned: integer("refused_while_banned").notNull(),
    hours: text({ mode: "json" }).$type<readonly HourFigures[]>().notNull(),
    percent: real(),
  },
  (table) => [
    primaryKey({ columns: [table.day, table.keyId] }),
    index("daily_usage_by_key").on(table.keyId, table.day),
    index("daily_usage_by_admitted").on(table.day, table.admitted),
    index("daily_usage_by_refused").on(table.day, table.refused).where(sql`${table.refused} > 0`),
    index("daily_usage_by_percent").on(table.day, table.percent).where(sql`${table.percent} >= 1`),
  ],
);

/** The usage of all keys of a plan on a UTC day that is over. The hourly cron sums it. */
export const usageTotals = sqliteTable(
  "usage_totals",
  {
    day: text().notNull(),
    plan: text().notNull(),
    keyCount: integer("key_count").notNull(),
    admitted: integer().notNull(),
    refused: integer().notNull(),
    refusedWhileBanned: integer("refused_while_banned").notNull(),
    hours: text({ mode: "json" }).$type<readonly HourFigures[]>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.plan] })],
);

export const bans = sqliteTable(
  "bans",
  {
    id: text().primaryKey(),
    keyId: text("key_id").notNull(),
    cause: text({ enum: BAN_CAUSES }).notNull(),
    reason: text(),
    strikes: integer().notNull(),
    startedAt: integer("started_at").notNull(),
    endsAt: integer("ends_at").notNull(),
    liftedAt: integer("lifted_at"),
    liftedBy: text("lifted_by"),
  },
  (table) => [
    index("bans_by_end").on(table.endsAt),
    index("bans_by_key").on(table.keyId, table.startedAt, table.id),
    index("bans_by_start").on(table.startedAt, table.id),
    index("bans_unlifted_by_end").on(table.endsAt, table.id).where(isNull(table.liftedAt)),
    index("bans_lifted").on(table.liftedAt, table.id).where(isNotNull(table.liftedAt)),
  ],
);

export const auditLog = sqliteTable(
  "audit_log",
  {
    id: integer().primaryKey(),
    at: integer().notNull(),
    requestId: text("request_id").notNull(),
    actor: text().notNull(),
    call: text().notNull(),
    object: text().notNull(),
    before: text(),
    after: text(),
    /** Of the call that made the change, if it had one. A trigger refuses a second entry with it. */
    idempotencyKey: text("idempotency_key"),
  },
  (table) => [
    index("audit_log_by_object").on(table.object, table.id),
    index("audit_log_by_actor").on(table.actor, table.id),
    index("audit_log_by_call").on(table.call, table.id),
    index("audit_log_by_time").on(table.at),
    index("audit_log_by_idempotency_key").on(table.idempotencyKey).where(sql`idempotency_key is not null`),
  ],
);
