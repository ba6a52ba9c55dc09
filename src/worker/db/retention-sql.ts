/** D1: deletes old rows. A statement deletes 1,000 rows in some 80 ms, so other queries do not wait long. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "./database.ts";

const ROWS_PER_BATCH = 1_000;

/** Deletes a batch of rows from before a time. */
export type DeleteBatch = (beforeSeconds: number) => SQL;

/** Returns how many rows it deleted: 0 when none are left. */
export async function deleteBatch(
  db: Database,
  statementOf: DeleteBatch,
  beforeSeconds: number,
): Promise<number> {
  return (await db.run(statementOf(beforeSeconds))).meta.changes;
}

/**
 * Deletes the first revisions, up to a revision that is not old. A reader that finds its revision relies on
 * every later revision, and D1's clock can be set back. The last row stays: it is the current revision.
 */
export const deleteOldOrderChanges: DeleteBatch = (beforeSeconds) =>
  sql`with oldest as (select revision, changed_at from order_changes order by revision limit ${ROWS_PER_BATCH})
      delete from order_changes where revision in (select revision from oldest) and revision < coalesce(
        (select min(revision) from oldest where changed_at >= ${beforeSeconds}), (select max(revision) from order_changes))`;

/** A trigger protects the rows of the last day by D1's clock. One such row would refuse the whole batch. */
export const deleteOldAuditRows: DeleteBatch = (beforeSeconds) =>
  sql`delete from audit_log where id in (
      select id from (select id, at from audit_log order by id limit ${ROWS_PER_BATCH})
      where at < ${beforeSeconds} and at <= unixepoch() - 86400)`;

/** Deletes bans by their planned end: a live ban, and a ban that the next ban would double, stay. */
export const deleteOldBans: DeleteBatch = (beforeSeconds) =>
  sql`delete from bans where id in (
      select id from bans where ends_at < ${beforeSeconds} order by ends_at limit ${ROWS_PER_BATCH})`;

/** An old alert was delivered or given up. An alert is pending for so long only without a webhook. */
export const deleteOldAlerts: DeleteBatch = (beforeSeconds) =>
  sql`delete from alerts where id in (
      select id from alerts where at < ${beforeSeconds} order by at limit ${ROWS_PER_BATCH})`;

export const deleteOldCancelledOrders: DeleteBatch = (beforeSeconds) =>
  sql`delete from cancelled_orders where id in (
      select id from (select id, cancelled_at from cancelled_orders order by id limit ${ROWS_PER_BATCH})
      where cancelled_at < ${beforeSeconds})`;

export const deleteOldUsage: DeleteBatch = (beforeSeconds) =>
  sql`delete from usage where (day, key_id) in (
      select day, key_id from usage where day < ${beforeSeconds} order by day limit ${ROWS_PER_BATCH})`;

export const deleteOldOwners: DeleteBatch = (beforeSeconds) =>
  sql`delete from past_owners where (key_id, until_day) in (
      select key_id, until_day from past_owners where until_day < ${beforeSeconds} limit ${ROWS_PER_BATCH})`;

export const deleteEndedSessions: DeleteBatch = (beforeSeconds) =>
  sql`delete from console_sessions where id_hash in (
      select id_hash from console_sessions where ends_at < ${beforeSeconds} limit ${ROWS_PER_BATCH})`;

export const deleteEndedLinks: DeleteBatch = (beforeSeconds) =>
  sql`delete from owner_links where id in (
      select id from owner_links where ends_at < ${beforeSeconds} limit ${ROWS_PER_BATCH})`;

/** A key keeps its newest secret, so that a key without a valid secret shows its last secret. */
export const deleteOldSecrets: DeleteBatch = (beforeSeconds) =>
  sql`delete from key_secrets where hash in (
      select hash from key_secrets as old where expires_at < ${beforeSeconds} and exists (
        select 1 from key_secrets as newer where newer.key_id = old.key_id
          and (newer.created_at, newer.hash) > (old.created_at, old.hash))
      order by expires_at limit ${ROWS_PER_BATCH})`;
