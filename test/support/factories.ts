/** Creates keys and orders in D1. Each has its own id, because storage is shared within a test file. */
import { env } from "cloudflare:workers";
import { insertKey, insertSecret, type KeyOptions, mintKey, type SqlStatement } from "./mint.ts";

export type TestKey = { id: string; key: string };

const prepare = ([sql, ...values]: SqlStatement) => env.DB.prepare(sql).bind(...values);

export async function createKey(options: KeyOptions = {}): Promise<TestKey> {
  const minted = await mintKey();
  await env.DB.batch(insertKey(minted, options).map(prepare));
  return { id: minted.id, key: minted.key };
}

export async function addSecret(keyId: string, expiresAt: number | null = null): Promise<string> {
  const minted = await mintKey(keyId);
  await prepare(insertSecret(minted, expiresAt)).run();
  return minted.key;
}

let lastCustomer = 0;

/** Gives the keys to the customer of this name, who is created if need be. Returns the customer's id. */
export async function giveKeys(name: string, ...keyIds: readonly string[]): Promise<string> {
  const id = `cus_${String(++lastCustomer).padStart(12, "0")}`;
  const insert =
    "insert into customers (id, name, name_key, created_at) values (?, ?2, lower(?2), 0) on conflict do nothing";
  const give =
    "update api_keys set customer_id = (select id from customers where name_key = lower(?1)) where id in (select value from json_each(?2))";
  const find = "select id from customers where name_key = lower(?)";
  const [, , found] = await env.DB.batch<{ id: string }>([
    env.DB.prepare(insert).bind(id, name),
    env.DB.prepare(give).bind(name, JSON.stringify(keyIds)),
    env.DB.prepare(find).bind(name),
  ]);
  return found?.results[0]?.id ?? id;
}

let lastOrderId = 1_000_000;

/** An id that no other order of the test file has, if all of them take theirs from here or stay below. */
export function newOrderId(): string {
  return String(++lastOrderId);
}

export type TestOrder = {
  id: string;
  petId?: string;
  quantity?: string;
  shipDate?: string;
  complete?: boolean;
  status?: string;
};

export async function insertOrders(...orders: TestOrder[]): Promise<void> {
  const insert = env.DB.prepare(
    "insert into orders (id, pet_id, quantity, ship_date, complete, status) values (?, ?, ?, ?, ?, ?)",
  );
  await env.DB.batch(
    orders.map((order) =>
      insert.bind(
        order.id,
        order.petId ?? null,
        order.quantity ?? null,
        order.shipDate ?? null,
        order.complete ?? null,
        order.status ?? "pending",
      ),
    ),
  );
}
