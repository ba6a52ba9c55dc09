declare namespace Cloudflare {
  interface Env {
    DB: D1Database;
    /** Set in vitest.config.ts. */
    DB_OF_ANOTHER_VERSION: D1Database;
    OWNER_LIMITER: DurableObjectNamespace<import("hono-durable-limiter").RateLimiter>;
    KEY_LIMITER: DurableObjectNamespace<import("../../src/worker/index.ts").KeyLimiter>;
    ADMIN_SIGN_IN_IP_RATE_LIMIT: RateLimit;
    ADMIN_TOKEN: string;
    /** Set in vitest.config.ts. */
    TEST_MIGRATIONS: import("cloudflare:test").D1Migration[];
  }
  interface GlobalProps {
    mainModule: typeof import("../../src/worker/index.ts");
  }
}

/** Vite imports any file as a string. */
declare module "*?raw" {
  const text: string;
  export default text;
}
