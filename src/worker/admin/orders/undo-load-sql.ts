/** D1: undoes a load. Its orders get back what they were, and those that it has inserted are deleted. */
import { type SQL, sql } from "drizzle-orm";
import type { Author } from "../../context.ts";
import { type Database, transact } from "../../db/database.ts";
import { conflict } from "../../platform/errors.ts";
import { LOADS_RETENTION_DAYS } from "../../platform/settings.ts";
import { membersOf } from "../../text/says.ts";
import type { AuditView } from "../audit/schema.ts";
import { audit } from "../audit/sql.ts";
import type { UndoneLoad } from "./schema.ts";

/**
 * Each batch is a transaction of some 100 ms. On the free plan an invocation may make 50 queries: an undo
 * that ends there goes on when it is repeated.
 */
const MAX_BATCHES = 40;
const LEFT_SHOWN = 100;

type Batch = { readonly id: number; readonly orders: number };
type Figures = Omit<UndoneLoad, "waiting"> & { readonly ids: string };

/**
 * Undoes the first batches of a load, the newest first. The call can be repeated until none waits. An order
 * that was changed, cancelled or deleted since is left as it is.
 */
export async function undoLoad(
  db: Database,
  author: Author,
  { after }: Pick<AuditView, "after">,
  isDryRun: boolean,
): Promise<{ readonly left: string[]; readonly load: UndoneLoad }> {
  const { load, file = null } = membersOf(after);
  const batches = await db.all<Batch>(
    sql`select id, json_array_length(orders) as orders from loads where load = ${load} order by id desc`,
  );
  if (batches.length === 0) {
    throw conflict(
      `Nothing was undone: this load was undone before, or is older than ${LOADS_RETENTION_DAYS} days.`,
    );
  }
  const left: string[] = [];
  let [restored, removed, changed] = [0, 0, 0];
  for (const { id } of batches.slice(0, MAX_BATCHES)) {
    const figures = await undoBatch(db, author, { id, load, file }, isDryRun);
    restored += figures.restored;
    removed += figures.removed;
    changed += figures.changed;
    left.push(...(JSON.parse(figures.ids) as string[]).slice(0, LEFT_SHOWN - left.length)); // of cast texts
  }
  const waiting = batches.slice(MAX_BATCHES).reduce((sum, { orders }) => sum + orders, 0);
  return { left, load: { restored, removed, changed, waiting } };
}

async function undoBatch(
  db: Database,
  author: Author,
  { id, load, file }: { readonly id: number; readonly load: unknown; readonly file: unknown },
  isDryRun: boolean,
): Promise<Figures> {
  const orders = ordersOf(id);
  const figures = sql`
    select count(*) filter (where is_same and not is_new) as restored,
      count(*) filter (where is_same and is_new) as removed, count(*) filter (where not is_same) as changed,
      json_group_array(cast(id as text)) filter (where not is_same) as ids
    from (${orders})`;
  const after = sql`json_object('load', ${load}, 'file', ${file},
    'restored', restored, 'removed', removed, 'changed', changed)`;
  const change = { call: "audit.undo", object: "orders", after } as const;
  const [[found] = []] = await transact<Figures[]>(db, [
    figures,
    ...(isDryRun
      ? []
      : [
          audit(db, author, change, sql`restored + removed > 0`, figures),
          sql`
            update orders set pet_id = was.pet_id, quantity = was.quantity, ship_date = was.ship_date,
              complete = was.complete, status = was.status, version = orders.version + 1
            from (${orders}) was where orders.id = was.id and is_same and not is_new`,
          sql`delete from orders where id in (select id from (${orders}) where is_same and is_new)`,
          sql`delete from loads where id = ${id}`,
        ]),
  ]);
  if (!found) throw new Error("the batch returned no figures");
  return found;
}

/**
 * The orders of a batch. A version comes again when an order was cancelled or deleted and is loaded again, so
 * the cancels and the audit log count too.
 */
function ordersOf(batch: number): SQL {
  return sql`
    with kept as materialized (
      select value ->> 0 as id, value ->> 1 as version, json_array_length(value) = 2 as is_new, value ->> 2 as pet_id,
        value ->> 3 as quantity, value ->> 4 as ship_date, value ->> 5 as complete, value ->> 6 as status, at
      from loads, json_each(loads.orders) where loads.id = ${batch})
    select kept.*,
      o.version is kept.version
        and not exists (select 1 from cancelled_orders where order_id = kept.id and cancelled_at >= at)
        and not exists (
          select 1 from audit_log later where later.object = cast(kept.id as text) and later.id > ${batch}
        ) as is_same
    from kept left join orders o on o.id = kept.id`;
}
