/** Changes, ships and deletes orders. */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import { ORDER_STATUSES, UNSHIPPED } from "../../db/values.ts";
import { conflict, invalidRequest } from "../../platform/errors.ts";
import { type ChangeInput, type ChangeOfRows, make, makeEach, updateRows } from "../change.ts";
import { batchRefusal } from "../refusal-sql.ts";
import { missingSays, shippedSays } from "../says.ts";
import type { changedOrder, orderShipment, orderUpdate, Shipment } from "./schema.ts";
import { ORDERS, orderTarget } from "./sql.ts";

type SaidOrder = v.InferOutput<typeof changedOrder>;

/** The change of these members. `after` is a value, or SQL of a JSON text. */
export function orderUpdateTo(names: readonly string[], after: unknown) {
  return {
    ...{ call: "orders.update", before: names, after },
    statements: (made) => [updateRows(ORDERS, made, names)],
  } as const satisfies ChangeOfRows;
}

/** A status goes backwards only if the operator says so. */
export async function updateOrder(input: ChangeInput<v.InferOutput<typeof orderUpdate>>): Promise<SaidOrder> {
  const { allowBackwards, ...changes } = input.body;
  const { status } = changes;
  if (Object.keys(changes).length === 0) throw invalidRequest("This changes nothing.");
  const later = ORDER_STATUSES.slice(ORDER_STATUSES.indexOf(status ?? "delivered") + 1);
  const isLater = sql`status in (select value from json_each(${JSON.stringify(allowBackwards ? [] : later)}))`;
  const { now, says } = await make(input, orderTarget(input.id), {
    ...orderUpdateTo(Object.keys(changes), changes),
    // The console and the command show the text too, so the text names no member.
    refused: sql`iif(${isLater}, 'would go back from ' || status || ${` to ${status}, which was not allowed`}, null)`,
  });
  return { ...now, says: says() };
}

/** Ships the orders that have not left the store. */
export async function shipOrders({
  env,
  author,
  body: { ids, shipment },
}: Pick<ChangeInput<v.InferOutput<typeof orderShipment>>, "env" | "author" | "body">): Promise<Shipment> {
  const chosen = [...new Set(ids)].map((object) => ({ object }));
  const { changed, kept } = await makeEach({ env, author }, ORDERS, chosen, {
    ...{ call: "orders.ship", batch: shipment ?? author.requestId },
    ...{ before: ["status"], after: { status: "shipped" } },
    refused: batchRefusal("orders.ship", shipment, author),
    keeps: sql`iif(status in ${UNSHIPPED}, null, status)`,
    statements: (made) => [updateRows(ORDERS, made, ["status"])],
  });
  const refused = kept[0]?.refused ?? null;
  if (refused !== null) throw conflict(`Nothing was shipped: the shipment ${refused}.`);
  const shipped = changed.map(({ object }) => object);
  const unchanged = kept.flatMap(({ object, keeps }) => {
    const status = ORDER_STATUSES.find((each) => each === keeps);
    return status === undefined ? [] : [{ id: object, status }];
  });
  const missing = kept.flatMap(({ object, isThere }) => (isThere ? [] : [object]));
  const says = [shippedSays({ shipped, unchanged }), ...(missing.length > 0 ? [missingSays(missing)] : [])];
  return { shipped, unchanged, missing, says: says.join(" ") };
}
