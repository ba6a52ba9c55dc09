/** Deletes rows that nobody needs any more, so that no table grows for ever. Runs every hour. */
import { logError, logEvent } from "../platform/log.ts";
import { settingsOf } from "../platform/settings.ts";
import { DAY_SECONDS, toUnixSeconds } from "../text/time.ts";
import { type DatabaseEnv, openDatabase } from "./database.ts";
import {
  type DeleteBatch,
  deleteBatch,
  deleteEndedLinks,
  deleteEndedSessions,
  deleteOldAlerts,
  deleteOldAuditRows,
  deleteOldBans,
  deleteOldCancelledOrders,
  deleteOldOrderChanges,
  deleteOldOwners,
  deleteOldSecrets,
  deleteOldUsage,
} from "./retention-sql.ts";

/** An isolate with a list that is not older reads only the changes since. */
const ORDER_CHANGES_RETENTION_DAYS = 1;

/** Counted from a secret's end. Later, nobody asks whose secret it was. */
const SECRETS_RETENTION_DAYS = 90;

const ALERTS_RETENTION_DAYS = 30;

/** 40,000 rows an hour. On the free plan an invocation may make 50 queries, and the cron makes one more. */
const MAX_BATCHES = 40;

/** Takes a batch of each table in turn, so that a failure or many rows in a table delay no other table. */
export async function deleteExpiredRows(env: DatabaseEnv, nowMs: number): Promise<void> {
  const db = openDatabase(env.DB);
  const { retentionDays } = settingsOf(env);
  const retentions: readonly [table: string, days: number | null, statementOf: DeleteBatch][] = [
    ["order_changes", ORDER_CHANGES_RETENTION_DAYS, deleteOldOrderChanges],
    ["alerts", ALERTS_RETENTION_DAYS, deleteOldAlerts],
    ["audit_log", retentionDays.audit, deleteOldAuditRows],
    ["bans", retentionDays.bans, deleteOldBans],
    ["console_sessions", 0, deleteEndedSessions],
    ["owner_links", 0, deleteEndedLinks],
    ["cancelled_orders", retentionDays.cancelledOrders, deleteOldCancelledOrders],
    ["key_secrets", SECRETS_RETENTION_DAYS, deleteOldSecrets],
    ["usage", retentionDays.usage, deleteOldUsage],
    ["past_owners", retentionDays.usage, deleteOldOwners],
  ];
  const tables = retentions.flatMap(([table, days, statementOf]) =>
    days === null
      ? []
      : [{ table, statementOf, beforeSeconds: toUnixSeconds(nowMs) - days * DAY_SECONDS, deleted: 0 }],
  );
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const next = tables.shift();
    if (next === undefined) return;
    const { table, statementOf, beforeSeconds } = next;
    try {
      const count = await deleteBatch(db, statementOf, beforeSeconds);
      const deleted = next.deleted + count;
      if (count > 0) tables.push({ ...next, deleted });
      else if (deleted > 0) logEvent("expired_rows_deleted", { table, deleted });
    } catch (thrown) {
      logError("expired_rows_not_deleted", thrown, { table, deleted: next.deleted });
    }
  }
  for (const { table, deleted } of tables) logEvent("expired_rows_left", { table, deleted });
}
