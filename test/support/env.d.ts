declare namespace Cloudflare {
  interface Env {
    DB: D1Database;
    KEY_LIMITER: DurableObjectNamespace<import("../../src/limits/key-limiter.ts").KeyLimiter>;
    UNKNOWN_KEY_FENCE: RateLimit;
    ADMIN_FENCE: RateLimit;
    ADMIN_TOKEN: string;
    /** Set in vitest.config.ts. */
    TEST_MIGRATIONS: import("cloudflare:test").D1Migration[];
  }
  interface GlobalProps {
    mainModule: typeof import("../../src/index.ts");
  }
}
