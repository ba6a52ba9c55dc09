/** Deletes rows that nobody needs any more, so that no table grows for ever. Runs every hour. */
import type { Bindings } from "./context.ts";
import { openDatabase } from "./db/database.ts";
import { logError, logEvent } from "./log.ts";
import {
  type DeleteBatch,
  deleteBatch,
  deleteEndedSessions,
  deleteOldAlerts,
  deleteOldAuditRows,
  deleteOldBans,
  deleteOldCancelledOrders,
  deleteOldOrderChanges,
  deleteOldSecrets,
  deleteOldUsage,
} from "./retention-sql.ts";
import { settingsOf } from "./settings.ts";
import { DAY_SECONDS, toUnixSeconds } from "./time.ts";

/** An isolate updates a list that is not older from the order changes. */
const ORDER_CHANGES_RETENTION_DAYS = 1;

/** Counted from a secret's end. Later, nobody asks whose secret it was. */
const SECRETS_RETENTION_DAYS = 90;

const ALERTS_RETENTION_DAYS = 30;

/** Up to 100,000 rows an hour and table, in 800 of the 1,000 queries that an invocation may make. */
const MAX_BATCHES_PER_TABLE = 100;

/** A failure in one table does not stop the deletion in the other tables. */
export async function deleteExpiredRows(env: Bindings, nowMs: number): Promise<void> {
  const db = openDatabase(env.DB);
  const { retentionDays } = settingsOf(env);
  const tables: readonly [table: string, days: number | null, statementOf: DeleteBatch][] = [
    ["order_changes", ORDER_CHANGES_RETENTION_DAYS, deleteOldOrderChanges],
    ["alerts", ALERTS_RETENTION_DAYS, deleteOldAlerts],
    ["audit_log", retentionDays.audit, deleteOldAuditRows],
    ["bans", retentionDays.bans, deleteOldBans],
    ["console_sessions", 0, deleteEndedSessions],
    ["cancelled_orders", retentionDays.cancelledOrders, deleteOldCancelledOrders],
    ["key_secrets", SECRETS_RETENTION_DAYS, deleteOldSecrets],
    ["usage", retentionDays.usage, deleteOldUsage],
  ];
  for (const [table, days, statementOf] of tables) {
    if (days === null) continue;
    const beforeSeconds = toUnixSeconds(nowMs) - days * DAY_SECONDS;
    let deleted = 0;
    try {
      for (let batch = 0; batch < MAX_BATCHES_PER_TABLE; batch++) {
        const count = await deleteBatch(db, statementOf, beforeSeconds);
        deleted += count;
        if (count === 0) break;
      }
      if (deleted > 0) logEvent("expired_rows_deleted", { table, deleted });
    } catch (thrown) {
      logError("expired_rows_not_deleted", thrown, { table, deleted });
    }
  }
}
