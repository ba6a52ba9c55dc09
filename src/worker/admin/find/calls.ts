/** The call that finds things of all kinds. */
import * as v from "valibot";
import type { Bindings } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { counted, formatTime, planName } from "../../text/format.ts";
import { isInt64 } from "../../text/int64.ts";
import { nowSeconds } from "../../text/time.ts";
import { call } from "../call.ts";
import { findTarget } from "../change.ts";
import { searchCustomers } from "../customers/sql.ts";
import { described } from "../http/answer-schemas.ts";
import { soughtText } from "../http/text-schemas.ts";
import { listKeys } from "../keys/list-sql.ts";
import type { KeyView } from "../keys/schema.ts";
import { orderTarget } from "../orders/sql.ts";
import { type Cancelled, findCancelled, findLink } from "./sql.ts";

const findQuery = v.strictObject({
  text: described(
    v.pipe(soughtText, v.trim(), v.minLength(1, "must not be empty")),
    "A part of a name, e-mail address or note; an id; the end of a secret; or the id of a secret, the first 16 digits of its SHA-256.",
  ),
});

/** The form in which lists show a secret. */
export const IS_MASKED = /^(?:sok_\w*)?(?:…|\.{3})\w{4}$/;

const foundThing = v.strictObject({
  kind: v.picklist(["key", "customer", "order", "cancelled", "link"]),
  id: described(v.string(), "Of a link, that of its customer."),
  name: v.string(),
  detail: v.string(),
});
export type FoundThing = v.InferOutput<typeof foundThing>;

const foundThings = v.strictObject({
  found: described(v.array(foundThing), "First what the text names, if it is an id."),
});

export const find = call({
  id: "find",
  route: "GET /find",
  summary: "Find keys, customers, orders and links by a text",
  description:
    "Up to 8 keys, 5 customers, an order, also a cancelled one, and a link by its id. A secret is found by its id, and is never sent.",
  query: findQuery,
  answer: foundThings,

  run: ({ env, query }) => findThings(env, query.text),
});

const MAX_KEYS = 8;
const MAX_CUSTOMERS = 5;

export async function findThings(env: Bindings, text: string): Promise<{ found: FoundThing[] }> {
  const db = openDatabase(env.DB);
  // A masked secret is found by its end.
  const part = IS_MASKED.test(text) ? text.slice(-4) : text;
  const filter = { search: part, sort: "name", direction: "asc", limit: MAX_KEYS } as const;
  const orderId = text.replace(/^(order )?#?/i, "");
  const [order, cancelled, link, { keys }, customers] = await Promise.all([
    isInt64(orderId) ? findTarget(db, orderTarget(orderId)) : undefined,
    isInt64(orderId) ? findCancelled(db, orderId) : undefined,
    /^link_\w+$/.test(text) ? findLink(db, text) : undefined,
    listKeys(db, filter, nowSeconds()),
    searchCustomers(db, text, MAX_CUSTOMERS),
  ]);
  const foundCustomers = customers.map(({ id, name, email, keys: count }) => {
    const detail = [counted(count, "key"), email ?? []].flat().join(", ");
    return { kind: "customer", id, name, detail } as const;
  });
  const isAddress = text.includes("@");
  return {
    found: [
      ...(order ? [{ kind: "order", id: orderId, name: orderId, detail: order.status } as const] : []),
      ...(cancelled
        ? [{ kind: "cancelled", id: orderId, name: orderId, detail: byWhom(cancelled) } as const]
        : []),
      ...(link ? [{ kind: "link", ...link } as const] : []),
      // Keys have no address.
      ...(isAddress ? foundCustomers : []),
      ...keys.map(foundKey),
      ...(isAddress ? [] : foundCustomers),
    ],
  };
}

function byWhom({ at, keyName }: Cancelled): string {
  return `cancelled by ${keyName ?? "a deleted key"}, ${formatTime(at)}`;
}

function foundKey({ id, name, customer, plan, status }: KeyView): FoundThing {
  const detail = [customer?.name ?? [], planName(plan), status].flat().join(", ");
  return { kind: "key", id, name, detail };
}
