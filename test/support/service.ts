/** The whole service as a stranger meets it: wrangler's own build of the real wrangler.toml, over HTTP, with fresh storage. */
import { createHash } from "node:crypto";
import { createTestHarness } from "wrangler";
import { maskKey, mintKey } from "../../src/worker/auth/key-format.ts";

export const ADMIN_TOKEN = "an-admin-token-for-the-tests-only";

export type KeyOptions = {
  plan?: string;
  perMinute?: number;
  perDay?: number;
  status?: string;
  expiresAt?: number;
};

export type TestKey = { id: string; key: string };

type ServiceBindings = { DB: D1Database; KEY_LIMITER: DurableObjectNamespace };

export async function startService(vars: Record<string, string> = {}) {
  const harness = createTestHarness({
    workers: [
      {
        configPath: new URL("../../wrangler.toml", import.meta.url),
        vars,
        secrets: { ADMIN_TOKEN },
      },
    ],
  });
  const { url } = await harness.listen();
  const worker = harness.getWorker<ServiceBindings>();
  await worker.applyD1Migrations("DB");
  const { DB } = await worker.getEnv();

  return {
    url,
    harness,
    db: DB,

    /** A request with a key (`null`: without), over real HTTP. */
    call(key: string | null, path: string, init: RequestInit = {}): Promise<Response> {
      const headers = new Headers(init.headers);
      if (key !== null) headers.set("Authorization", `Bearer ${key}`);
      return fetch(new URL(path, url), { ...init, headers });
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
      const key = mintKey((count) => crypto.getRandomValues(new Uint8Array(count)));
      await DB.prepare("insert into key_secrets (hash, key_id, hint, created_at) values (?, ?, ?, 0)")
        .bind(createHash("sha256").update(key).digest("hex"), id, maskKey(key))
        .run();
      return { id, key };
    },

    /** Runs SQL inside a key's limiter: to look into it, or to break it. */
    async limiterSql(keyId: string, query: string): Promise<unknown[]> {
      const storage = await worker.getDurableObjectStorage("KEY_LIMITER", { name: keyId });
      return [...(await storage.exec(query))];
    },

    evictLimiter(keyId: string): Promise<void> {
      return worker.evictDurableObject("KEY_LIMITER", { name: keyId });
    },

    close(): Promise<void> {
      return harness.close();
    },
  };
}

export type Service = Awaited<ReturnType<typeof startService>>;

/** Resolves when at least `seconds` of the current UTC minute are left, so that a burst does not straddle its edge. */
export async function untilMinuteHas(seconds: number): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < seconds * 1000) await new Promise((resolve) => setTimeout(resolve, leftMs + 20));
}
