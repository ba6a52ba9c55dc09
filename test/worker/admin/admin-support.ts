/** What tests of the operator's surface in workerd share: speaking to it, isolates with warm caches, limiters out of reach. */
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import type { Bindings } from "../../../src/worker/context.ts";
import { type App, startApp } from "../../support/app.ts";
import type { TestKey } from "../../support/factories.ts";

export const LIST = "/v1/store/orders";

export type Answer = {
  status: number;
  // Tests look into bodies of every shape; what they expect of them is what is tested.
  body: Record<string, unknown> & { id: string; key: string; effective: string };
  text: string;
};

export type Operator = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** Speaks to /admin with the token. A string is sent as it is, anything else as JSON. */
export function operatorOf(app: App): Operator {
  return async (method, path, body) => {
    const response = await app(`/admin${path}`, {
      method,
      headers: { Authorization: `Bearer ${env.ADMIN_TOKEN}`, "X-Operator": "mo" },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: JSON.parse(text), text };
  };
}

/** Two isolates that have the key cached, and a third that the operator happens to reach. */
export async function warmIsolates(key: string): Promise<App[]> {
  const isolates = [startApp(), startApp()];
  for (const call of isolates) await call("/v1/nothing", { key });
  return isolates;
}

/** What each isolate answers to a request with this key. */
export function statusesAt(isolates: readonly App[], key: string): Promise<number[]> {
  return Promise.all(isolates.map(async (call) => (await call(LIST, { key })).status));
}

/** The requests per minute that each isolate holds the key to. */
export function minuteLimitsAt(isolates: readonly App[], key: string): Promise<(string | undefined)[]> {
  return Promise.all(
    isolates.map(async (call) => {
      const policy = (await call(LIST, { key })).headers.get("RateLimit-Policy");
      return policy?.match(/q=(\d+);w=60/)?.[1];
    }),
  );
}

/** Every limiter is out of reach: of its methods, all the operator's surface calls, each call fails. */
export function limitersOutOfReach(): Bindings["KEY_LIMITER"] {
  const fail = () => Promise.reject(new Error("the object is gone"));
  const stub = { admit: fail, inspect: fail, raiseMinVersion: fail, applyBanOverride: fail };
  return { getByName: () => stub } as unknown as Bindings["KEY_LIMITER"]; // addressed by name only
}

/** Sets the clock of the Worker and of its objects; timers stay real. Far in the future, or alarms would ring. */
export function setClock(atMs: number): void {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(atMs);
}

/** A key with one request a minute is used, refused, and polls on past the first second until it is banned. */
export async function strikeOut({ key }: TestKey, app: App, startMs: number): Promise<void> {
  setClock(startMs);
  for (let i = 0; i < 2; i++) await app("/v1/nothing", { key });
  setClock(startMs + 1_000);
  for (let i = 0; i < 20; i++) await app("/v1/nothing", { key });
}

/** Until D1 has a row that the query finds: limiters tell it after they answered. */
export function untilStored(query: string, ...values: unknown[]): Promise<unknown> {
  return vi.waitFor(
    async () => {
      const row = await env.DB.prepare(query)
        .bind(...values)
        .first();
      if (!row) throw new Error(`no row: ${query}`);
      return row;
    },
    { timeout: 3_000, interval: 10 },
  );
}

/** D1 without these tables for as long as `body` runs. */
export async function withoutTables(tables: readonly string[], body: () => Promise<void>): Promise<void> {
  for (const table of tables) await env.DB.exec(`alter table ${table} rename to ${table}_away`);
  try {
    await body();
  } finally {
    for (const table of tables) await env.DB.exec(`alter table ${table}_away rename to ${table}`);
  }
}
