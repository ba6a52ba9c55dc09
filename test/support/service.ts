/** The service as clients see it: wrangler's build with the published wrangler.toml, over HTTP, with its own storage. */
import { createHash } from "node:crypto";
import { createTestHarness } from "wrangler";
import { LOCAL_ENV } from "../../src/tools/wrangler.ts";
import { maskKey, mintKey } from "../../src/worker/auth/key-format.ts";
import { publishedConfigurationFile } from "./configuration.ts";

export const ADMIN_TOKEN = "an-admin-token-for-the-tests-only";

export const LIST = "/v1/store/orders";
/** Counts like any other request, and needs no query. */
export const NO_SUCH_PATH = "/v1/no-such-path";

export type KeyOptions = {
  plan?: string;
  perMinute?: number;
  perDay?: number;
  status?: string;
  expiresAt?: number;
};

export type TestKey = { id: string; key: string };

export type AdminAnswer = {
  status: number;
  headers: Headers;
  text: string;
  // Bodies differ from route to route; each test checks the shape that it expects.
  body: Record<string, unknown> & { id: string; key: string; message: string };
};

type ServiceBindings = { DB: D1Database; KEY_LIMITER: DurableObjectNamespace };

/** A service of its own, which the test closes. It takes some 2 s to start: prefer `openService`. */
export async function startService(vars: Record<string, string> = {}) {
  Object.assign(process.env, LOCAL_ENV);
  const harness = createTestHarness({
    workers: [{ configPath: publishedConfigurationFile(), env: "", vars, secrets: { ADMIN_TOKEN } }],
  });
  const { url } = await harness.listen();
  const worker = harness.getWorker<ServiceBindings>();
  await worker.applyD1Migrations("DB");
  const { DB } = await worker.getEnv();

  const service = {
    url,
    db: DB,

    /** A request with a key (`null`: without one), over HTTP. */
    call(key: string | null, path: string, init: RequestInit = {}): Promise<Response> {
      const headers = new Headers(init.headers);
      if (key !== null) headers.set("Authorization", `Bearer ${key}`);
      return fetch(new URL(path, url), { ...init, headers });
    },

    /** A request to the admin API. A string is sent unchanged, any other body as JSON. */
    async admin(method: string, path: string, body?: unknown): Promise<AdminAnswer> {
      const response = await service.call(ADMIN_TOKEN, `/admin${path}`, {
        method,
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
    },

    async createKey(options: KeyOptions = {}): Promise<TestKey> {
      const id = `key_${crypto.randomUUID().replaceAll("-", "")}`;
      await DB.prepare(
        `insert into api_keys (id, name, plan, requests_per_minute, requests_per_day, status, expires_at, created_at)
         values (?, 'test', ?, ?, ?, ?, ?, 0)`,
      )
        .bind(
          id,
          options.plan ?? "business",
          options.perMinute ?? null,
          options.perDay ?? null,
          options.status ?? "active",
          options.expiresAt ?? null,
        )
        .run();
      return { id, key: await service.addSecret(id) };
    },

    async addSecret(keyId: string): Promise<string> {
      const { key, hash, hint } = mintSecret();
      await DB.prepare("insert into key_secrets (hash, key_id, hint, created_at) values (?, ?, ?, 0)")
        .bind(hash, keyId, hint)
        .run();
      return key;
    },

    /** Runs SQL inside a key's limiter: to read it, or to break it. */
    async limiterSql(keyId: string, query: string): Promise<unknown[]> {
      const storage = await worker.getDurableObjectStorage("KEY_LIMITER", { name: keyId });
      return [...(await storage.exec(query))];
    },

    close(): Promise<void> {
      return harness.close();
    },
  };
  return service;
}

export type Service = Awaited<ReturnType<typeof startService>>;

let shared: Promise<Service> | undefined;

/**
 * The service that the test files of one worker process share, with an empty database and the plans as migrated. It is
 * not closed: it ends with the process.
 */
export async function openService(): Promise<Service> {
  shared ??= startService();
  const service = await shared;
  await emptyDatabase(service.db);
  return service;
}

/** Deletes all rows except those that the migrations insert, whose tables keep their rows. */
async function emptyDatabase(db: D1Database): Promise<void> {
  const { results } = await db
    .prepare(
      `select name from sqlite_master where type = 'table'
       and name not in ('plans', 'order_changes', 'd1_migrations') and name not glob '_cf_*' and name not glob 'sqlite_*'`,
    )
    .all<{ name: string }>();
  const keepAudit = await db
    .prepare("select sql from sqlite_master where name = 'audit_log_is_kept'")
    .first<string>("sql");
  if (keepAudit === null) throw new Error("the trigger that keeps the audit log has another name");
  await db.batch([
    // The tables come in any order.
    db.prepare("pragma defer_foreign_keys = on"),
    db.prepare("drop trigger audit_log_is_kept"),
    ...results.map(({ name }) => db.prepare(`delete from ${name}`)),
    db.prepare(keepAudit),
  ]);
}

/** A new secret, with the columns that the database stores of it. */
export function mintSecret(): { key: string; hash: string; hint: string } {
  const key = mintKey((count) => crypto.getRandomValues(new Uint8Array(count)));
  return { key, hash: createHash("sha256").update(key).digest("hex"), hint: maskKey(key) };
}

/** Resolves when at least `seconds` of the current UTC minute are left, so that a burst stays within one minute. */
export async function untilMinuteHas(seconds: number): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < seconds * 1000) await new Promise((resolve) => setTimeout(resolve, leftMs + 20));
}
