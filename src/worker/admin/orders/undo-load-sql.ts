/** D1: undoes a load, or such an undo. Its orders get back what they were, and those that it has inserted are deleted. */
import { type SQL, sql } from "drizzle-orm";
import { openDatabase } from "../../db/database.ts";
import { conflict } from "../../platform/errors.ts";
import { LOADS_RETENTION_DAYS } from "../../platform/settings.ts";
import { type ChangeInput, commit, versionOf } from "../change.ts";
import { undoOf } from "../refusal-sql.ts";
import { firstOf, storeFates } from "./load-sql.ts";
import type { UndoneLoad } from "./schema.ts";

/**
 * Each batch is a transaction of some 100 ms. On the free plan an invocation may make 50 queries: an undo
 * that ends there goes on when it is repeated.
 */
const MAX_BATCHES = 40;
const ORDERS_SHOWN = 100;

type Maker = Pick<ChangeInput, "env" | "author" | "isDryRun">;
type Figures = Pick<UndoneLoad, "restored" | "removed"> & { readonly ids: string };

type Undone = {
  readonly load: UndoneLoad;
  /** The first orders that are as before, and those that are left. */
  readonly undone: string[];
  readonly left: string[];
  /** How many orders wait for a further call. */
  readonly waiting: number;
};

/**
 * Undoes the first batches of a load, the newest first. The call can be repeated until none waits. An order
 * that was changed, cancelled or deleted since is left as it is.
 */
export async function undoLoad(maker: Maker, load: string, file: string | null): Promise<Undone> {
  const { batches, left } = await stateOf(maker, load);
  const undone: string[] = [];
  let [restored, removed] = [0, 0];
  for (const { id } of batches.slice(0, MAX_BATCHES)) {
    const { found } = await undoBatch(maker, id, load, file);
    restored += found[0]?.restored ?? 0;
    removed += found[0]?.removed ?? 0;
    const ids = JSON.parse(found[0]?.ids ?? "[]") as string[]; // of cast texts
    undone.push(...ids.slice(0, ORDERS_SHOWN - undone.length));
  }
  // Somebody else may have undone the load meanwhile.
  if (restored + removed === 0) {
    throw conflict(
      `Nothing was undone: no order is as the load has left it, or the load is older than ${LOADS_RETENTION_DAYS} days.`,
    );
  }
  const waiting = batches.slice(MAX_BATCHES).reduce((sum, { orders }) => sum + orders, 0);
  const figures = { restored, removed, changed: left[0]?.total ?? 0 };
  return { load: figures, undone, left: left.map(({ id }) => id), waiting };
}

/** Finds the batches whose orders are as the load has left them, with their number, and the orders that are not. */
async function stateOf({ env }: Maker, load: string) {
  const db = openDatabase(env.DB);
  // Of several calls of this undo, the later ones do not count what the earlier ones have undone.
  const states = sql`
    select loads.id as batch, ${ID} as id, coalesce(${VERSION} = loads.id, false) as is_same,
      coalesce(${VERSION} in (select id from audit_log where batch = ${undoOf(load)}), false) as is_undone
    from ${KEPT} where load = ${load}`;
  const batches = await db.all<{ id: number; orders: number }>(
    sql`select batch as id, sum(is_same) as orders from (${states}) group by batch having orders > 0 order by batch desc`,
  );
  const left = await db.all<{ id: string; total: number }>(
    sql`select cast(id as text) as id, count(*) over () as total from (${states}) where not is_same and not is_undone limit ${ORDERS_SHOWN}`,
  );
  return { batches, left };
}

function undoBatch(maker: Maker, id: number, load: string, file: string | null) {
  const fates = fatesOf(id);
  const figures = sql`
    select count(*) filter (where fate <> 'removed') as restored, count(*) filter (where fate = 'removed') as removed,
      json_group_array(cast(id as text)) as ids,
      json_group_array(json_object('id', id, 'from', was_status, 'to', status)) as statuses
    from (${fates})`;
  const { at } = maker.author;
  return commit<Figures>(maker, {
    ...{ call: "audit.undo", batch: undoOf(load), object: sql`'orders'` },
    find: sql`select restored, removed, ids from (${figures})`,
    from: sql`(${figures})`,
    onlyIf: sql`restored + removed > 0`,
    after: sql`json_object('load', ${load}, 'file', ${file}, 'restored', restored, 'removed', removed,
      'statuses', ${firstOf(sql`statuses`)})`,
    statements: (made) => [
      ...storeFates(fates, undoOf(load), at, made),
      {
        head: sql`
          insert or replace into removed_orders (id, version, at)
          select id, ${versionOf(made)}, cast(${at} as integer) from (${fates})`,
        where: sql`fate = 'removed'`,
      },
      {
        head: sql`delete from orders`,
        where: sql`id in (select id from (${fates}) where fate = 'removed')`,
      },
    ],
  });
}

/** The orders of a batch, as they are now. An order that an undo has removed has the version of its absence. */
const ID = sql`(kept.value ->> 0)`;
const VERSION = sql`coalesce(o.version, removed.version)`;
const KEPT = sql`
  loads, json_each(loads.orders) kept left join orders o on o.id = ${ID}
  left join removed_orders removed on removed.id = ${ID}`;

/** Those of them that are as the batch has left them, as they become, each with its fate. */
function fatesOf(batch: number): SQL {
  return sql`
    select ${ID} as id, kept.value ->> 1 as pet_id, kept.value ->> 2 as quantity, kept.value ->> 3 as ship_date,
      kept.value ->> 4 as complete, kept.value ->> 5 as status,
      o.pet_id as was_pet_id, o.quantity as was_quantity, o.ship_date as was_ship_date, o.complete as was_complete, o.status as was_status,
      case when json_array_length(kept.value) = 1 then 'removed' when o.id is null then 'inserted' else 'updated' end as fate
    from ${KEPT} where loads.id = ${batch} and ${VERSION} = ${batch}`;
}
