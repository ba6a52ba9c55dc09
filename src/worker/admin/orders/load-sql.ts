/** D1: loads orders. The transaction that stores an order also decides what happens to it. */
import { type SQL, sql } from "drizzle-orm";
import type { Author, Bindings } from "../../context.ts";
import type { Conditional } from "../../db/database.ts";
import { ORDER_STATUSES } from "../../db/values.ts";
import { conflict } from "../../platform/errors.ts";
import { sentenceOf } from "../../text/says.ts";
import { commit, type Made, versionOf } from "../change.ts";
import { batchRefusal } from "../refusal-sql.ts";
import { SAYS } from "../says.ts";
import type { LoadCounts, LoadFigures, LoadQuery } from "./schema.ts";

const MAX_AUDITED_ORDERS = 100;

type Found = LoadCounts & { readonly refused: string | null };

/**
 * Loads the orders of a JSON array, which has no id twice, in one transaction. The audit row has the figures
 * and the first orders whose status changes. A further row keeps what the orders were (ADR-20). A load that
 * changes nothing writes nothing.
 */
export async function runLoad(
  env: Bindings,
  json: string,
  query: LoadQuery,
  author: Author,
): Promise<LoadFigures> {
  const fates = fatesOf(json, query);
  const figures = figuresOf(fates);
  const { file = null, "dry-run": isDryRun } = query;
  const load = query.load ?? author.requestId;
  const refused = batchRefusal("orders.load", query.load, author, file);
  const { found } = await commit<Found>(
    { env, author, isDryRun },
    {
      ...{ call: "orders.load", batch: load, object: sql`'orders'` },
      find: sql`select inserted, updated, unchanged, cancelled, kept, ${refused} as refused from (${figures})`,
      from: sql`(${figures})`,
      onlyIf: sql`inserted + updated > 0 and ${refused} is null`,
      after: sql`json_object('file', ${file}, 'load', ${load}, 'inserted', inserted, 'updated', updated,
        'unchanged', unchanged, 'cancelled', cancelled, 'kept', kept, 'statuses', ${firstOf(sql`statuses`)})`,
      statements: (made) => storeFates(fates, load, author.at, made),
    },
  );
  const [figuresFound] = found;
  if (figuresFound === undefined) throw new Error("the batch returned no figures");
  const { refused: reason, ...counts } = figuresFound;
  if (reason !== null) throw conflict(`Nothing was loaded: the load ${reason}.`);
  return { ...counts, says: sentenceOf("Orders", SAYS["orders.load"]({}, { file, ...counts })) };
}

/** The first items of a JSON array, for the audit log. */
export function firstOf(array: SQL): SQL {
  return sql`json((select json_group_array(json(value)) from json_each(${array}) where key < ${MAX_AUDITED_ORDERS}))`;
}

/** Keeps what the orders were, under the id of the entry, and stores them as they become. */
export function storeFates(fates: SQL, load: string, at: number, made: Made): Conditional[] {
  return [
    {
      head: sql`
        insert into loads (id, load, at, orders)
        select ${versionOf(made)}, ${load}, cast(${at} as integer), json_group_array(json(iif(was_status is null,
          json_array(id), json_array(id, was_pet_id, was_quantity, was_ship_date, was_complete, was_status))))
        from (${fates})`,
      where: sql`fate in ('inserted', 'updated', 'removed')`,
      tail: sql`having count(*) > 0`,
    },
    {
      head: sql`
        insert into orders (id, pet_id, quantity, ship_date, complete, status, version)
        select id, pet_id, quantity, ship_date, complete, status, ${versionOf(made)} from (${fates})`,
      where: sql`fate in ('inserted', 'updated')`,
      tail: sql`
        on conflict (id) do update set pet_id = excluded.pet_id, quantity = excluded.quantity, ship_date = excluded.ship_date,
          complete = excluded.complete, status = excluded.status, version = excluded.version`,
    },
  ];
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
        o.complete as was_complete, o.status as was_status
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
