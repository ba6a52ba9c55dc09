/** Deletes rows that nobody needs any more, so that no table grows for ever. Runs every hour. */
import { type SQL, sql } from "drizzle-orm";
import { logError, logEvent } from "../platform/log.ts";
import { LOADS_RETENTION_DAYS, settingsOf } from "../platform/settings.ts";
import { DAY_SECONDS, toUnixSeconds } from "../text/time.ts";
import { type DatabaseEnv, openDatabase } from "./database.ts";

/** An isolate with a list that is not older reads only the changes since. */
const ORDER_CHANGES_RETENTION_DAYS = 1;

/** Counted from a secret's end. Later, nobody asks whose secret it was. */
const SECRETS_RETENTION_DAYS = 90;

const ALERTS_RETENTION_DAYS = 30;

/** 30,000 rows an hour. On the free plan an invocation may make 50 queries, and the cron makes others before. */
const MAX_BATCHES = 30;
/** A statement deletes 1,000 rows in some 80 ms, so other queries do not wait long. */
const ROWS_PER_BATCH = 1_000;

/** Takes a batch of each table in turn, so that a failure or many rows in a table delay no other table. */
export async function deleteExpiredRows(env: DatabaseEnv, nowMs: number): Promise<void> {
  const db = openDatabase(env.DB);
  const { retentionDays } = settingsOf(env);
  const retentions: readonly [table: string, days: number | null, deleteBatch: DeleteBatch][] = [
    ["order_changes", ORDER_CHANGES_RETENTION_DAYS, deleteOrderChanges],
    // An old alert was delivered or given up. An alert is pending for so long only without a webhook.
    ["alerts", ALERTS_RETENTION_DAYS, deleteRows("id", "at")],
    // A trigger protects the rows of the last day by D1's clock. One such row would refuse the whole batch. The
    // last row stays, so that no id comes twice: versions are ids (ADR-35).
    [
      "audit_log",
      retentionDays.audit,
      deleteRows("id", "at", sql`at <= unixepoch() - 86400 and id < (select max(id) from audit_log)`),
    ],
    // By the planned end: a live ban, and a ban that the next ban would double, stay.
    ["bans", retentionDays.bans, deleteRows("id", "ends_at")],
    ["console_sessions", 0, deleteRows("id_hash", "ends_at")],
    ["owner_links", 0, deleteRows("id", "ends_at")],
    ["cancelled_orders", retentionDays.cancelledOrders, deleteCancelledOrders],
    ["loads", LOADS_RETENTION_DAYS, deleteRows("id", "at")],
    ["removed_orders", LOADS_RETENTION_DAYS, deleteRows("id", "at")],
    ["key_secrets", SECRETS_RETENTION_DAYS, deleteRows("hash", "expires_at", HAS_NEWER_SECRET)],
    ["usage", retentionDays.usage, deleteRows("day, key_id", "day")],
  ];
  const tables = retentions.flatMap(([table, days, deleteBatch]) =>
    days === null
      ? []
      : [{ table, deleteBatch, beforeSeconds: toUnixSeconds(nowMs) - days * DAY_SECONDS, deleted: 0 }],
  );
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const next = tables.shift();
    if (next === undefined) return;
    const { table, deleteBatch, beforeSeconds } = next;
    try {
      const count = (await db.run(deleteBatch(beforeSeconds, table))).meta.changes;
      const deleted = next.deleted + count;
      if (count > 0) tables.push({ ...next, deleted });
      else if (deleted > 0) logEvent("expired_rows_deleted", { table, deleted });
    } catch (thrown) {
      logError("expired_rows_not_deleted", thrown, { table, deleted: next.deleted });
    }
  }
  for (const { table, deleted } of tables) logEvent("expired_rows_left", { table, deleted });
}

/** Deletes a batch of rows from before a time. */
type DeleteBatch = (beforeSeconds: number, table: string) => SQL;

/** `key` and `end` name the columns of the primary key and of the time. */
function deleteRows(key: string, end: string, isOver = sql`true`): DeleteBatch {
  return (beforeSeconds, table) => {
    const [rows, columns] = [sql.raw(table), sql.raw(key)];
    return sql`delete from ${rows} where (${columns}) in (
      select ${columns} from ${rows} as old where ${sql.raw(end)} < ${beforeSeconds} and ${isOver} limit ${ROWS_PER_BATCH})`;
  };
}

/** A key keeps its newest secret, so that a key without a valid secret shows its last secret. */
const HAS_NEWER_SECRET = sql`exists (
  select 1 from key_secrets as newer where newer.key_id = old.key_id
    and (newer.created_at, newer.hash) > (old.created_at, old.hash))`;

/**
 * Deletes the first revisions, up to a revision that is not old. A reader that finds its revision relies on
 * every later revision, and D1's clock can be set back. The last row stays: it is the current revision.
 */
const deleteOrderChanges: DeleteBatch = (beforeSeconds) =>
  sql`with oldest as (select revision, changed_at from order_changes order by revision limit ${ROWS_PER_BATCH})
      delete from order_changes where revision in (select revision from oldest) and revision < coalesce(
        (select min(revision) from oldest where changed_at >= ${beforeSeconds}), (select max(revision) from order_changes))`;

/** Looks at the first rows only, because no index has the time. */
const deleteCancelledOrders: DeleteBatch = (beforeSeconds) =>
  sql`delete from cancelled_orders where id in (
      select id from (select id, cancelled_at from cancelled_orders order by id limit ${ROWS_PER_BATCH})
      where cancelled_at < ${beforeSeconds})`;
