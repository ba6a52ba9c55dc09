/** D1: undoes an import, the last chunk first. An order that changed since is left alone. */
import { type SQL, sql } from "drizzle-orm";
import { type Author, audit } from "./audit-repository.ts";
import { type Database, transact } from "./database.ts";

/** The number of the last chunk that is not undone; null if none is left. */
export async function findLastChunk(db: Database, importId: string): Promise<number | null> {
  const row = await db.get<{ number: number } | undefined>(lastChunkOf(importId));
  return row?.number ?? null;
}

/**
 * One transaction: the orders of the last chunk, the figures of the import, and the first time the audit row. Without a
 * chunk it ends the import. Which chunk is the last one is read in the transaction, since the import may be storing another.
 */
export async function undoLastChunk(db: Database, author: Author, importId: string): Promise<void> {
  const isFirst = sql`exists (select 1 from order_imports where id = ${importId} and undone_at is null)`;
  const changes = changesOfLastChunk(importId);
  await transact(db, [
    audit(db, author, { call: "orders.undo-import", object: importId }, isFirst),
    sql`
      update order_imports set undone_at = coalesce(undone_at, cast(${author.at} as integer)),
        deleted = order_imports.deleted + figures.deleted, restored = order_imports.restored + figures.restored,
        left_alone = order_imports.left_alone + figures.left_alone
      from (
        select coalesce(sum(change.is_as_left and change.before is null), 0) as deleted,
          coalesce(sum(change.is_as_left and change.before is not null), 0) as restored,
          coalesce(sum(not change.is_as_left), 0) as left_alone
        from (${changes}) as change
      ) as figures
      where id = ${importId}`,
    sql`
      insert into orders_left_alone (undone_at, import_id, order_id)
      select (${undoneAtOf(importId)}), ${importId}, id from (${changes}) where not is_as_left`,
    sql`
      update orders set pet_id = change.before ->> 0, quantity = change.before ->> 1,
        ship_date = change.before ->> 2, complete = change.before ->> 3, status = change.before ->> 4
      from (${changes}) as change
      where orders.id = change.id and change.is_as_left and change.before is not null`,
    sql`delete from orders where id in (select id from (${changes}) where is_as_left and before is null)`,
    sql`delete from order_import_chunks where number = (${lastChunkOf(importId)})`,
  ]);
}

/** The first ids of the orders that undoing the import left alone so far. */
export async function findLeftAlone(db: Database, importId: string, limit: number): Promise<string[]> {
  const rows = await db.all<{ id: string }>(sql`
    select cast(order_id as text) as id from orders_left_alone
    where undone_at = (${undoneAtOf(importId)}) and import_id = ${importId} order by order_id limit ${limit}`);
  return rows.map(({ id }) => id);
}

function lastChunkOf(importId: string): SQL {
  return sql`select number from order_import_chunks where import_id = ${importId} order by number desc limit 1`;
}

function undoneAtOf(importId: string): SQL {
  return sql`select undone_at from order_imports where id = ${importId}`;
}

/**
 * Each changed order of the last chunk, and whether it still is as the import left it. `before` is JSON text, null for a
 * new order. Materialised, so that the update does not see its own changes. Without the orders that undoing a later chunk
 * left alone.
 *
 * Only values are compared. That an order was deleted and loaded again as it was can only be read from all later chunks,
 * which makes an undo ten times slower after an import of 100,000 orders.
 */
function changesOfLastChunk(importId: string): SQL {
  return sql`
    with changed as materialized (
      select value ->> 0 as id, value -> 1 as before, coalesce(
        (o.pet_id, o.quantity, o.ship_date, o.complete, o.status)
          is (value ->> '$[2][0]', value ->> '$[2][1]', value ->> '$[2][2]', value ->> '$[2][3]', value ->> '$[2][4]')
          and o.id is not null, 0) as is_as_left
      from order_import_chunks k cross join json_each(k.changes) left join orders o on o.id = value ->> 0
      where k.number = (${lastChunkOf(importId)}) and not exists (
        select 1 from orders_left_alone
        where undone_at = (${undoneAtOf(importId)}) and import_id = ${importId} and order_id = value ->> 0)
    )
    select id, nullif(before, 'null') as before, is_as_left from changed`;
}
