/** Changes, ships and deletes orders. Orders are JSON text of SQLite, with all digits of their integers. */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import type { Author } from "../../context.ts";
import { type Database, openDatabase, transact } from "../../db/database.ts";
import { orders } from "../../db/schema.ts";
import { ORDER_STATUSES, UNSHIPPED } from "../../db/values.ts";
import { conflict, invalidRequest } from "../../platform/errors.ts";
import type { AuditView } from "../audit/schema.ts";
import { audit, rowsOf } from "../audit/sql.ts";
import { type ChangeInput, make, updateRow } from "../change.ts";
import type { orderShipment, orderUpdate, Shipment } from "./schema.ts";
import { ORDER_JSON, type OrderText, orderTarget } from "./sql.ts";

/** A status goes backwards only if the operator says so. */
export async function updateOrder(input: ChangeInput<v.InferOutput<typeof orderUpdate>>): Promise<OrderText> {
  const { id, body } = input;
  const { allowBackwards, ...changes } = body;
  const target = orderTarget(id);
  if (Object.keys(changes).length === 0) throw invalidRequest("This changes nothing.");
  const { status } = changes;
  // Without a new status, every status is allowed.
  const earlier = ORDER_STATUSES.slice(0, status && ORDER_STATUSES.indexOf(status) + 1);
  const { now, isMade } = await make(input, target, {
    call: "orders.update",
    before: Object.keys(changes),
    after: changes,
    onlyIf: sql`(${allowBackwards} or status in (select value from json_each(${JSON.stringify(earlier)})))`,
    statements: [updateRow(orders, id, changes)],
  });
  if (isMade) return now;
  // The console and the command show the text too, so the text names no member.
  throw conflict(`This would set the status back from ${now.status} to ${status}, which was not allowed.`);
}

type Found = { readonly id: string; readonly status: OrderText["status"] | null };

/**
 * Ships the orders that have not left the store, each with its audit row. `make` changes one object only.
 * Here the statements of the batch have the same condition, and no other change comes between them.
 */
export async function shipOrders({
  env,
  author,
  body: { ids },
}: Pick<ChangeInput<v.InferOutput<typeof orderShipment>>, "env" | "author" | "body">): Promise<Shipment> {
  const db = openDatabase(env.DB);
  const sent = sql`(select distinct value as id from json_each(${JSON.stringify(ids)}))`;
  const leaving = sql`
    select cast(orders.id as text) as id, status from ${sent} sent join orders on orders.id = cast(sent.id as integer)
    where status in ${UNSHIPPED}`;
  const change = {
    call: "orders.ship",
    object: sql`id`,
    before: sql`json_object('status', status)`,
    after: { status: "shipped" },
  } as const;
  const [found] = await transact<[Found, unknown, unknown]>(db, [
    sql`select sent.id, status from ${sent} sent left join orders on orders.id = cast(sent.id as integer)`,
    audit(db, author, change, sql`true`, leaving),
    sql`
      update orders set status = 'shipped', version = version + 1
      where id in (select cast(id as integer) from (${leaving}))`,
  ]);
  const shipped = found.filter(({ status }) => status !== null && UNSHIPPED.includes(status));
  return {
    shipped: shipped.map(({ id }) => id),
    unchanged: found.flatMap(({ id, status }) =>
      status === null || UNSHIPPED.includes(status) ? [] : [{ id, status }],
    ),
    missing: found.flatMap(({ id, status }) => (status === null ? [id] : [])),
  };
}

type Sent = { readonly id: string; readonly isUndone: number };

/**
 * Gives the orders of a shipment their earlier status, each with its audit row. Orders that are not `shipped` any
 * more, or that an operator has changed since, are left.
 */
export async function undoShipment(
  db: Database,
  author: Author,
  { at, requestId }: Pick<AuditView, "at" | "requestId">,
  isDryRun: boolean,
): Promise<{ readonly undone: string[]; readonly left: string[] }> {
  const entries = rowsOf({ at: Date.parse(at) / 1_000, requestId }, "orders.ship");
  const sent = sql`(select id as entry, object as id, json_extract(before, '$.status') as was from ${entries}) sent`;
  const isUndone = sql`
    exists (select 1 from orders where orders.id = cast(sent.id as integer) and status = 'shipped')
    and not exists (select 1 from audit_log later where later.object = sent.id and later.id > entry)`;
  const change = {
    call: "orders.update",
    object: sql`id`,
    before: { status: "shipped" },
    after: sql`json_object('status', was)`,
  } as const;
  // The update reads the audit rows, because with them the orders have changed since.
  const [found = []] = await transact<Sent[]>(db, [
    sql`select id, ${isUndone} as "isUndone" from ${sent} order by entry`,
    ...(isDryRun
      ? []
      : [
          audit(db, author, change, sql`true`, sql`select id, was from ${sent} where ${isUndone}`),
          sql`
            update orders set status = json_extract(after, '$.status'), version = version + 1
            from (select object, after from ${rowsOf(author, change.call)})
            where orders.id = cast(object as integer)`,
        ]),
  ]);
  const [undone = [], left = []] = [1, 0].map((is) =>
    found.filter((order) => order.isUndone === is).map(({ id }) => id),
  );
  return { undone, left };
}

/** Deletes an order in any status, and returns it. Its audit row has the whole order. */
export async function deleteOrder(input: ChangeInput): Promise<OrderText> {
  const target = orderTarget(input.id);
  const { now } = await make(input, target, {
    call: "orders.delete",
    before: sql`(select ${ORDER_JSON} from ${target.row})`,
    statements: [{ head: sql`delete from orders`, where: sql`id = ${input.id}` }],
    removes: true,
  });
  return now;
}
