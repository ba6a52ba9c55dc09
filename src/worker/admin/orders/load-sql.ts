/** D1: loads orders. The transaction that stores an order also decides what happens to it. */
import { type SQL, sql } from "drizzle-orm";
import type { Author } from "../../context.ts";
import { type Database, transact } from "../../db/database.ts";
import { ORDER_STATUSES } from "../../db/values.ts";
import { audit } from "../audit/sql.ts";
import type { LoadFigures, LoadQuery } from "./schema.ts";

const MAX_AUDITED_ORDERS = 100;

/**
 * Loads the orders of a JSON array, which has no id twice, in one transaction. The audit row has the figures
 * and the first orders whose status changes. A further row keeps what the orders were (ADR-20). A load that
 * changes nothing writes nothing. A dry run only counts.
 */
export async function runLoad(
  db: Database,
  json: string,
  query: LoadQuery,
  author: Author,
): Promise<LoadFigures> {
  const fates = fatesOf(json, query);
  const figures = figuresOf(fates);
  const statuses = sql`
    (select json_group_array(json(value)) from json_each(statuses) where key < ${MAX_AUDITED_ORDERS})`;
  const load = query.load ?? author.requestId;
  const after = sql`json_object('file', ${query.file ?? null}, 'load', ${load}, 'inserted', inserted, 'updated', updated,
    'unchanged', unchanged, 'cancelled', cancelled, 'kept', kept, 'statuses', json(${statuses}))`;
  const change = { call: "orders.load", object: "orders", after } as const;
  const entry = audit(db, author, change, sql`inserted + updated > 0`, figures);
  const [[found] = []] = await transact<LoadFigures[]>(db, [
    sql`select inserted, updated, unchanged, cancelled, kept from (${figures})`,
    ...(query["dry-run"] ? [] : [entry, keep(fates, load, author.at), upsert(fates)]),
  ]);
  if (!found) throw new Error("the batch returned no figures");
  return found;
}

/**
 * Keeps what the orders were, under the id of the audit row, which is the last one. If retention has emptied the
 * audit log, an id comes again: nobody can undo the load that had the id before.
 */
function keep(fates: SQL, load: string, at: number): SQL {
  return sql`
    insert or replace into loads (id, load, at, orders)
    select (select max(id) from audit_log), ${load}, cast(${at} as integer), json_group_array(json(iif(fate = 'inserted',
      json_array(id, 1), json_array(id, was_version + 1, was_pet_id, was_quantity, was_ship_date, was_complete, was_status))))
    from (${fates}) where fate in ('inserted', 'updated') having count(*) > 0`;
}

function upsert(fates: SQL): SQL {
  return sql`
    insert into orders (id, pet_id, quantity, ship_date, complete, status)
    select id, pet_id, quantity, ship_date, complete, status
    from (${fates}) where fate in ('inserted', 'updated')
    on conflict (id) do update set pet_id = excluded.pet_id, quantity = excluded.quantity,
      ship_date = excluded.ship_date, complete = excluded.complete, status = excluded.status,
      version = orders.version + 1`;
}

/** Counts what happens to the orders. `statuses` is a JSON array of the orders whose status changes. */
function figuresOf(fates: SQL): SQL {
  return sql`
    select count(*) filter (where fate = 'inserted') as inserted,
      count(*) filter (where fate = 'updated') as updated,
      count(*) filter (where fate = 'unchanged') as unchanged,
      count(*) filter (where fate = 'cancelled') as cancelled,
      count(*) filter (where is_kept) as kept,
      json_group_array(json_object('id', id, 'from', was_status, 'to', status))
        filter (where status <> was_status) as statuses
    from (${fates})`;
}

/**
 * Returns the orders as the load will store them, each with its fate. SQLite reads all digits of the integers.
 * With `->`, an absent member is SQL's null, and a null is JSON's.
 */
function fatesOf(json: string, query: LoadQuery): SQL {
  const isCancelled = query["restore-cancelled"]
    ? sql`false`
    : sql`exists (select 1 from cancelled_orders where order_id = line.id)`;
  const position = (status: SQL) => sql`instr(${ORDER_STATUSES.join()}, ${status})`;
  const goesBack = query["allow-backwards"]
    ? sql`false`
    : sql`${position(sql`line.status`)} < ${position(sql`o.status`)}`;
  return sql`
    with line as materialized (
      select cast(value ->> 'id' as integer) as id, value as members, value ->> 'status' as status
      from json_each(${json})),
    merged as (
      select line.id,
        iif(members -> 'petId' is null, o.pet_id, cast(members ->> 'petId' as integer)) as pet_id,
        iif(members -> 'quantity' is null, o.quantity, cast(members ->> 'quantity' as integer)) as quantity,
        iif(members -> 'shipDate' is null, o.ship_date, members ->> 'shipDate') as ship_date,
        iif(members -> 'complete' is null, o.complete, members ->> 'complete') as complete,
        iif(${goesBack}, o.status, coalesce(line.status, o.status, 'pending')) as status,
        ${goesBack} as is_kept, ${isCancelled} as is_cancelled,
        o.pet_id as was_pet_id, o.quantity as was_quantity, o.ship_date as was_ship_date,
        o.complete as was_complete, o.status as was_status, o.version as was_version
      from line left join orders o on o.id = line.id)
    select *,
      case
        when was_status is null then iif(is_cancelled, 'cancelled', 'inserted')
        when (was_pet_id, was_quantity, was_ship_date, was_complete, was_status)
          is (pet_id, quantity, ship_date, complete, status) then 'unchanged'
        else 'updated'
      end as fate
    from merged`;
}
