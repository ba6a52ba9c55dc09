/** Creates keys and orders in D1. Each has its own id, because storage is shared within a test file. */
import { env } from "cloudflare:workers";
import { mintKey, newKeyId } from "./mint.ts";

export type TestKey = { id: string; key: string };

type KeyOptions = {
  plan?: string;
  perMinute?: number;
  perDay?: number;
  status?: "active" | "disabled" | "revoked";
  expiresAt?: number;
  /** Whether the key has been used before, so that the admin API calls its limiter. */
  used?: boolean;
};

export async function createKey(options: KeyOptions = {}): Promise<TestKey> {
  const id = newKeyId();
  await env.DB.prepare(
    `insert into api_keys (id, name, plan, requests_per_minute, requests_per_day, status, expires_at, created_at, first_used_at)
     values (?, 'test', ?, ?, ?, ?, ?, 0, ?)`,
  )
    .bind(
      id,
      options.plan ?? "business",
      options.perMinute ?? null,
      options.perDay ?? null,
      options.status ?? "active",
      options.expiresAt ?? null,
      options.used === true ? 1 : null,
    )
    .run();
  return { id, key: await addSecret(id) };
}

export async function addSecret(keyId: string, expiresAt: number | null = null): Promise<string> {
  const { key, hash, hint } = await mintKey(keyId);
  await env.DB.prepare(
    "insert into key_secrets (hash, key_id, hint, created_at, expires_at) values (?, ?, ?, 0, ?)",
  )
    .bind(hash, keyId, hint, expiresAt)
    .run();
  return key;
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
