/** D1: loads orders. What happens to each order is decided in the transaction that stores it. */
import { type SQL, sql } from "drizzle-orm";
import type { Author } from "../../context.ts";
import { type Database, transact } from "../../db/database.ts";
import type { LoadFigures } from "../../orders/loaded-order.ts";
import { audit } from "../audit/sql.ts";

export type LoadOptions = {
  /** For the audit log. */
  readonly file?: string | undefined;
  /** The figures only: nothing is stored. */
  readonly isDryRun: boolean;
  /** Whether an order that a client cancelled is inserted again. */
  readonly restoresCancelled: boolean;
};

/** `json`: the orders as a JSON array, no id twice. */
type Load = LoadOptions & { readonly json: string };

/**
 * One transaction: all orders, and the audit row with the figures. A load that changes nothing writes nothing. A
 * dry run only counts.
 */
export async function runLoad(db: Database, load: Load, author: Author): Promise<LoadFigures> {
  const after = sql`json_object('file', ${load.file ?? null}, 'inserted', inserted, 'updated', updated,
    'unchanged', unchanged, 'cancelled', cancelled)`;
  const change = { call: "orders.load", object: "orders", after } as const;
  const entry = audit(db, author, change, sql`inserted + updated > 0`, figuresOf(load));
  const [[figures] = []] = await transact<LoadFigures[]>(db, [
    figuresOf(load),
    ...(load.isDryRun ? [] : [entry, upsert(load)]),
  ]);
  if (!figures) throw new Error("the batch returned no figures");
  return figures;
}

function upsert(load: Load): SQL {
  return sql`
    insert into orders (id, pet_id, quantity, ship_date, complete, status)
    select id, pet_id, quantity, ship_date, complete, status
    from (${fatesOf(load)}) where fate in ('inserted', 'updated')
    on conflict (id) do update set pet_id = excluded.pet_id, quantity = excluded.quantity,
      ship_date = excluded.ship_date, complete = excluded.complete, status = excluded.status,
      version = orders.version + 1`;
}

function figuresOf(load: Load): SQL {
  return sql`
    select count(*) filter (where fate = 'inserted') as inserted,
      count(*) filter (where fate = 'updated') as updated,
      count(*) filter (where fate = 'unchanged') as unchanged,
      count(*) filter (where fate = 'cancelled') as cancelled
    from (${fatesOf(load)})`;
}

/** The orders as they will be stored, each with what happens to it. SQLite reads all digits of the integers. */
function fatesOf({ json, restoresCancelled }: Load): SQL {
  const isCancelled = restoresCancelled
    ? sql`false`
    : sql`exists (select 1 from cancelled_orders where order_id = line.id)`;
  return sql`
    with line as materialized (
      select value ->> 'id' as id, value ->> 'petId' as pet_id, value ->> 'quantity' as quantity,
        value ->> 'shipDate' as ship_date, value ->> 'complete' as complete, value ->> 'status' as status
      from json_each(${json}))
    select line.id, line.pet_id, line.quantity, line.ship_date, line.complete,
      coalesce(line.status, o.status, 'pending') as status,
      case
        when o.id is null then iif(${isCancelled}, 'cancelled', 'inserted')
        when (o.pet_id, o.quantity, o.ship_date, o.complete, o.status)
          is (line.pet_id, line.quantity, line.ship_date, line.complete, coalesce(line.status, o.status))
          then 'unchanged'
        else 'updated'
      end as fate
    from line left join orders o on o.id = line.id`;
}
