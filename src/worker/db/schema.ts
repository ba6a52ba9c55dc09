/**
 * The D1 tables as drizzle sees them. drizzle cannot express STRICT, COLLATE, triggers and WITHOUT ROWID, so
 * the migration is written by hand. A test compares both column by column.
 *
 * Times are Unix seconds unless the name ends in `Ms`. The tables of orders are in order-schema.ts.
 */
import { isNotNull, sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { BAN_CAUSES, KEY_STATUSES, LOCATIONS, STORED_ALERT_TYPES } from "./values.ts";

export const plans = sqliteTable(
  "plans",
  {
    id: text().primaryKey(),
    requestsPerMinute: integer("requests_per_minute"),
    requestsPerDay: integer("requests_per_day"),
    /** JSON: the shares of a key's day, in percent, that cause an alert. */
    alertPercents: text("alert_percents").default("[80,100]"),
    keyCount: integer("key_count").notNull().default(0),
    keysWithoutMinuteLimit: integer("keys_without_minute_limit").notNull().default(0),
    keysWithoutDayLimit: integer("keys_without_day_limit").notNull().default(0),
    version: integer().notNull().default(1),
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
    /** The four texts above in the form for searches, one text a line. */
    search: text().notNull().default(""),
    /** The owner's name, or else the owner's e-mail, folded. Empty: no owner. */
    ownerKey: text("owner_key").notNull().default(""),
    plan: text()
      .notNull()
      .references(() => plans.id),
    requestsPerMinute: integer("requests_per_minute"),
    requestsPerDay: integer("requests_per_day"),
    /** Temporary limits replace the key's and the plan's limits until `temporary_until`, a UTC midnight. */
    temporaryRequestsPerMinute: integer("temporary_requests_per_minute"),
    temporaryRequestsPerDay: integer("temporary_requests_per_day"),
    temporaryUntil: integer("temporary_until"),
    status: text({ enum: KEY_STATUSES }).notNull().default("active"),
    /** False: the key may only list orders. */
    mayCancel: integer("may_cancel", { mode: "boolean" }).notNull().default(true),
    expiresAt: integer("expires_at"),
    version: integer().notNull().default(1),
    createdAt: integer("created_at").notNull(),
    firstUsedAt: integer("first_used_at"),
    location: text({ enum: LOCATIONS }),
    /** A ban that an operator set. */
    bannedUntil: integer("banned_until"),
    banReason: text("ban_reason"),
    /** The last ban for strikes, if an operator has lifted or replaced that ban. */
    pardonedBanId: text("pardoned_ban_id"),
  },
  (table) => [
    index("api_keys_by_plan").on(table.plan),
    index("api_keys_by_name").on(table.name, table.id),
    index("api_keys_by_owner").on(table.ownerName, table.id),
    index("api_keys_by_owner_key").on(table.ownerKey),
    index("api_keys_by_expiry").on(table.expiresAt, table.id),
    check("api_keys_status", sql`${table.status} in ('active', 'disabled', 'revoked')`),
    check(
      "api_keys_temporary_limits",
      sql`(${table.temporaryUntil} is null) = (coalesce(${table.temporaryRequestsPerMinute}, ${table.temporaryRequestsPerDay}) is null)`,
    ),
  ],
);

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
  },
  (table) => [
    index("key_secrets_by_key").on(table.keyId),
    index("key_secrets_by_last_chars").on(sql`substr(${table.hint}, -4) collate nocase`),
    index("key_secrets_by_end").on(table.expiresAt).where(isNotNull(table.expiresAt)),
  ],
);

/** The keys whose limiters have read a policy, and must be told of a change. */
export const limiters = sqliteTable("limiters", { keyId: text("key_id").primaryKey() });

/** The keys whose limiters have not been told of a change. Triggers write the rows (ADR-4). */
export const outdatedKeys = sqliteTable("outdated_keys", {
  keyId: text("key_id").primaryKey(),
  token: text().notNull().default(sql`(lower(hex(randomblob(8))))`),
});

/** A limiter's report of a UTC day. `day` is the day's start. */
export const usage = sqliteTable(
  "usage",
  {
    day: integer().notNull(),
    keyId: text("key_id").notNull(),
    admitted: integer().notNull(),
    refused: integer().notNull(),
    refusedWhileBanned: integer("refused_while_banned").notNull(),
    limitPerDay: integer("limit_per_day").notNull(),
    /** JSON: the figures of each hour. */
    hours: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.day, table.keyId] }),
    index("usage_by_key").on(table.keyId, table.day),
  ],
);

/** Whose a key was, and under which plan, on its days before `until_day`. A trigger writes the rows. */
export const pastOwners = sqliteTable(
  "past_owners",
  {
    keyId: text("key_id").notNull(),
    untilDay: integer("until_day").notNull(),
    ownerName: text("owner_name"),
    ownerEmail: text("owner_email"),
    ownerKey: text("owner_key").notNull(),
    plan: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.keyId, table.untilDay] })],
);

/** The MAC keys, in hex. The newest MAC key signs API keys, and the MAC of every row is accepted. */
export const macKeys = sqliteTable("mac_keys", {
  id: integer().primaryKey(),
  key: text().notNull(),
});

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
  ],
);

/** The alerts for the webhook. An alert that has a next attempt was not delivered or given up. */
export const alerts = sqliteTable(
  "alerts",
  {
    id: text().primaryKey(),
    type: text({ enum: STORED_ALERT_TYPES }).notNull(),
    keyId: text("key_id").notNull(),
    at: integer().notNull(),
    text: text().notNull(),
    /** JSON. */
    data: text().notNull(),
    attempts: integer().notNull().default(0),
    nextAttemptAt: integer("next_attempt_at"),
    deliveredAt: integer("delivered_at"),
    lastError: text("last_error"),
  },
  (table) => [
    index("alerts_by_next_attempt").on(table.nextAttemptAt).where(isNotNull(table.nextAttemptAt)),
    index("alerts_by_time").on(table.at, table.id),
  ],
);

/** What a receiver of alerts answered last. */
export const alertReceivers = sqliteTable("alert_receivers", {
  /** An HMAC of the address with the webhook's secret. */
  address: text().primaryKey(),
  answeredAt: integer("answered_at").notNull(),
  error: text(),
  deliveredAt: integer("delivered_at"),
  failingSince: integer("failing_since"),
  pausedUntil: integer("paused_until").notNull().default(0),
  goneAt: integer("gone_at"),
});

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
  },
  (table) => [
    index("audit_log_by_object").on(table.object, table.id),
    index("audit_log_by_actor").on(table.actor, table.id),
    index("audit_log_by_call").on(table.call, table.id),
    index("audit_log_by_time").on(table.at),
  ],
);

/** Sessions of operators who signed in to the console with a token. */
export const consoleSessions = sqliteTable("console_sessions", {
  /** The hash of the cookie's value. */
  idHash: text("id_hash").primaryKey(),
  /** What the operator typed. */
  name: text(),
  /** The hash of the cookie's value and the token. */
  tokenHash: text("token_hash").notNull(),
  endsAt: integer("ends_at").notNull(),
  seenAt: integer("seen_at").notNull(),
});

/** The links of owners' pages. */
export const ownerLinks = sqliteTable("owner_links", {
  id: text().primaryKey(),
  /** The hash of the link's code. */
  hash: text().notNull(),
  owner: text().notNull(),
  ownerKey: text("owner_key").notNull(),
  createdAt: integer("created_at").notNull(),
  createdBy: text("created_by").notNull(),
  endsAt: integer("ends_at").notNull(),
});
