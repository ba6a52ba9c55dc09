/** Every call that changes something: how its object is made, and its request, with the example as body. */
import { env } from "cloudflare:workers";
import { type Call, isConditional, onlyReads, routeOf } from "../../../src/worker/admin/call.ts";
import { CALLS } from "../../../src/worker/admin/calls.ts";
import { hashKey } from "../../../src/worker/key/mac.ts";
import {
  addSecret,
  createKey,
  giveKeys,
  insertOrders,
  newOrderId,
  type TestKey,
} from "../../support/factories.ts";
import { startApp } from "../../support/worker.ts";
import { type Answer, type Operator, operatorOf } from "./admin-support.ts";

const operator = operatorOf(startApp());

/** The parts of the path by name. */
export type Ids = Readonly<Record<string, string>>;

type Row = {
  readonly make: () => Promise<Ids>;
  /** The object of the audit row, if the path does not name it. */
  readonly object?: string;
  /** The change in the audit row, if it is that of another call. */
  readonly audited?: string;
};

/** The key of the examples about several keys. */
const EXAMPLE_KEY = "key_0C8yRw3mQz1T";

/** Disables and enables are of the same key, and a revoked key stays so: the key is made anew. */
function keyOfExample(status: "active" | "disabled"): Row["make"] {
  return async () => {
    await env.DB.prepare("delete from key_secrets where key_id = ?").bind(EXAMPLE_KEY).run();
    await env.DB.prepare("delete from api_keys where id = ?").bind(EXAMPLE_KEY).run();
    await operator("POST", "/keys", { id: EXAMPLE_KEY, name: "several", plan: "free" });
    if (status === "disabled") await operator("PATCH", `/keys/${EXAMPLE_KEY}`, { disabled: true });
    return {};
  };
}

/** With two secrets, a ban and temporary limits. */
async function key(): Promise<Ids> {
  const { id, key } = await createKey();
  await addSecret(id);
  await operator("PUT", `/keys/${id}/ban`, { seconds: 600, reason: "before" });
  await operator("POST", `/keys/${id}/temporary-limits`, { requestsPerDay: 6, days: 2 });
  return { id, secretId: (await hashKey(key)).slice(0, 16) };
}

/** The example makes a link for this customer. */
async function customerWithKey(): Promise<Ids> {
  await operator("POST", "/keys", { name: "of a customer", plan: "free", customer: "Pet Shop" });
  return {};
}

async function link(): Promise<Ids> {
  await customerWithKey();
  return { linkId: (await operator("POST", "/links", { customer: "Pet Shop", days: 7 })).body.id };
}

/** A customer without keys. The examples name the customer of the examples, and others. */
async function customer(): Promise<Ids> {
  await env.DB.prepare("update customers set name = id, name_key = id where name_key like 'pet shop%'").run();
  return { id: (await operator("POST", "/customers", { name: "Pet Shop" })).body.id };
}

async function twoCustomers(): Promise<Ids> {
  await env.DB.prepare(
    "insert into customers (id, name, name_key, created_at) values ('cus_7Kq2mXw81ZtB', 'other', 'other', 0) on conflict do nothing",
  ).run();
  return customer();
}

/** The customer of the examples is there. */
async function exampleCustomer(): Promise<Ids> {
  await operator("POST", "/customers", { name: "Pet Shop" });
  return {};
}

/** The example creates the customer. */
async function noCustomer(): Promise<Ids> {
  await env.DB.prepare("update customers set name = id, name_key = id where name_key like 'pet shop%'").run();
  return {};
}

async function order(): Promise<Ids> {
  const orderId = newOrderId();
  await insertOrders({ id: orderId });
  return { orderId };
}

/** The example creates the order with the id 1. */
async function noOrder(): Promise<Ids> {
  await env.DB.exec("delete from orders where id = 1");
  return {};
}

/** The example ships the order 1. */
async function orderToShip(): Promise<Ids> {
  await env.DB.exec("delete from orders where id in (1, 2, 3)");
  await insertOrders({ id: "1" }, { id: "2", status: "delivered" });
  return {};
}

async function session(): Promise<Ids> {
  const hash = crypto.randomUUID().replaceAll("-", "");
  await env.DB.prepare(
    "insert into console_sessions values (?, 'jo', 'of the token', 9000000000, 9000000000)",
  )
    .bind(hash)
    .run();
  return { sessionId: `session_${hash.slice(0, 16)}` };
}

const ROWS: Readonly<Record<string, Row>> = {
  "keys.create": { make: exampleCustomer },
  "keys.update": { make: key },
  "keys.rotate": { make: key },
  "keys.retire": { make: key },
  "keys.revoke": { make: key },
  "keys.limit_temporarily": { make: key },
  "keys.end_temporary_limits": { make: key },
  "keys.disable": { make: keyOfExample("active"), object: EXAMPLE_KEY, audited: "keys.update" },
  "keys.enable": { make: keyOfExample("disabled"), object: EXAMPLE_KEY, audited: "keys.update" },
  "keys.plan": { make: keyOfExample("active"), object: EXAMPLE_KEY, audited: "keys.update" },
  "keys.revoke_several": { make: keyOfExample("active"), object: EXAMPLE_KEY, audited: "keys.revoke" },
  "bans.set": { make: key },
  "bans.lift": { make: key },
  "customers.create": { make: noCustomer },
  "customers.update": { make: customer },
  "customers.merge": { make: twoCustomers },
  "customers.erase": { make: customer },
  "links.create": { make: customerWithKey },
  "links.revoke": { make: link },
  "sessions.end": { make: session },
  "plans.update": { make: async () => ({ id: "pro" }) },
  "orders.load": { make: noOrder, object: "orders" },
  "orders.ship": { make: orderToShip, object: "1" },
  "orders.update": { make: order },
  "orders.delete": { make: order },
};

export type Change = Row & { readonly call: Call };

export const CHANGES: readonly Change[] = CALLS.flatMap((call) => {
  const row = ROWS[call.id];
  return row === undefined ? [] : [{ ...row, call }];
});

/** The calls that change something and have no row. */
export const MISSING = CALLS.filter((call) => !onlyReads(call) && !(call.id in ROWS)).map(({ id }) => id);

/** The changes of an object that has a version. */
export const CONDITIONAL = CHANGES.filter(({ call }) => isConditional(call));

export function changeOf(id: string): Change {
  const change = CHANGES.find(({ call }) => call.id === id);
  if (change === undefined) throw new Error(`${id} is not in the table`);
  return change;
}

export function pathOf(call: Call, ids: Ids): string {
  return routeOf(call).path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? "1");
}

/** The path of the key, plan or order. */
export function objectPath({ call }: Change, ids: Ids): string {
  return pathOf(call, ids).split("/").slice(0, 3).join("/");
}

/** Sends the call, with its example unless there is a body. */
export function send(
  as: Operator,
  { call }: Pick<Change, "call">,
  ids: Ids,
  { ifMatch, body = call.example }: { readonly ifMatch?: string | null; readonly body?: unknown } = {},
): Promise<Answer> {
  return as(routeOf(call).method, pathOf(call, ids), body, ifMatch ?? undefined);
}

export const T0 = Date.UTC(2033, 0, 1, 12);

/** What a change means to requests of the key: the status, and the limits of a minute if one was admitted. */
export type Effect = {
  readonly what: string;
  readonly call: string;
  readonly key?: Parameters<typeof createKey>[0];
  readonly body?: object;
  readonly before: string;
  readonly after: string;
  /** Another call that changes the key first. */
  readonly first?: string;
  /** How much later the change takes effect, if that is what it says. */
  readonly inMs?: number;
};

const OPEN = "404 1000";

/** Each of them at `T0`. */
export const EFFECTS: readonly Effect[] = [
  { what: "revoking", call: "keys.revoke", before: OPEN, after: "401" },
  { what: "disabling", call: "keys.update", body: { disabled: true }, before: OPEN, after: "401" },
  {
    ...{ what: "enabling", call: "keys.update", body: { disabled: false } },
    ...{ key: { status: "disabled" }, before: "401", after: OPEN },
  },
  {
    ...{ what: "another plan", call: "keys.update", body: { plan: "pro" } },
    ...{ key: { plan: "free" }, before: "404 60", after: "404 300" },
  },
  {
    ...{ what: "own limits", call: "keys.update", body: { requestsPerMinute: 77 } },
    ...{ before: OPEN, after: "404 77" },
  },
  {
    ...{ what: "the right to cancel", call: "keys.update", body: { mayCancel: false } },
    ...{ before: OPEN, after: "403" },
  },
  {
    ...{ what: "an expiry", call: "keys.update", body: { expiresAt: "2033-01-01T12:00:20Z" } },
    ...{ before: OPEN, after: "401", inMs: 20_000 },
  },
  {
    ...{ what: "a later expiry", call: "keys.update", body: { expiresAt: "2033-01-02T12:00:00Z" } },
    ...{ key: { expiresAt: T0 / 1000 + 10 }, before: OPEN, after: OPEN, inMs: 20_000 },
  },
  {
    ...{ what: "a rotation without a grace period", call: "keys.rotate", body: {} },
    ...{ before: OPEN, after: "401" },
  },
  { what: "retiring a secret", call: "keys.retire", before: OPEN, after: "401" },
  { what: "temporary limits", call: "keys.limit_temporarily", before: OPEN, after: "404 600" },
  {
    ...{ what: "the end of temporary limits", call: "keys.end_temporary_limits" },
    ...{ first: "keys.limit_temporarily", before: "404 600", after: OPEN },
  },
  {
    what: "the limits of its plan",
    call: "plans.update",
    key: { plan: "pro" },
    before: "404 300",
    after: "404 600",
  },
  {
    ...{ what: "a limit of its customer", call: "customers.update", body: { requestsPerMinute: 77 } },
    ...{ before: OPEN, after: `${OPEN} 77` },
  },
  {
    ...{
      what: "the end of its customer's limit",
      call: "customers.update",
      body: { requestsPerMinute: null },
    },
    ...{ first: "customers.update", before: `${OPEN} 600`, after: OPEN },
  },
  {
    ...{ what: "another limit of its customer", call: "customers.update", body: { requestsPerMinute: 77 } },
    ...{ first: "customers.update", before: `${OPEN} 600`, after: `${OPEN} 77` },
  },
  {
    ...{ what: "a customer with a limit", call: "keys.update", body: { customer: "limited to 77" } },
    ...{ before: OPEN, after: `${OPEN} 77` },
  },
  {
    ...{ what: "the limit of whom its customer is merged into", call: "customers.merge" },
    ...{ body: { into: "limited to 77" }, before: OPEN, after: `${OPEN} 77` },
  },
  { what: "a ban", call: "bans.set", before: OPEN, after: "429" },
  { what: "a lift", call: "bans.lift", first: "bans.set", before: "429", after: OPEN },
];

/** Makes the key, and the request that changes it. */
export async function prepare({ call, key, body, first }: Effect) {
  // An earlier test may have changed the plan.
  await operator("PATCH", "/plans/pro", { requestsPerMinute: 300 });
  const made = await createKey(key);
  if (call === "keys.retire") await addSecret(made.id);
  const customer = await giveKeys(`of ${made.id}`, made.id);
  const limited = await giveKeys("limited to 77");
  await env.DB.prepare("update customers set requests_per_minute = 77 where id = ?").bind(limited).run();
  const idOf = (id: string) =>
    id === "plans.update" ? "pro" : id.startsWith("customers.") ? customer : made.id;
  if (first) await send(operator, changeOf(first), { id: idOf(first) });
  const secretId = (await hashKey(made.key)).slice(0, 16);
  const ids = { id: idOf(call), secretId };
  return { key: made, change: (as: Operator) => send(as, changeOf(call), ids, { body }) };
}

/** What each isolate answers to a cancel of an order that cannot exist, which counts like any other. */
export function seenAt(
  isolates: readonly ReturnType<typeof startApp>[],
  { key }: TestKey,
): Promise<string[]> {
  return Promise.all(
    isolates.map(async (call) => {
      const { status, headers } = await call("/v1/store/orders/none", { method: "DELETE", key });
      const limits = (headers.get("RateLimit-Policy") ?? "").matchAll(/q=(\d+);w=60/g);
      return [status, ...(status === 404 ? Array.from(limits, ([, limit]) => limit) : [])].join(" ");
    }),
  );
}
