declare namespace Cloudflare {
  interface Env {
    RATE_LIMITER: DurableObjectNamespace<import("./worker.ts").RateLimiter>;
    REPORTING: DurableObjectNamespace<import("./worker.ts").ReportingLimiter>;
    KEEPING: DurableObjectNamespace<import("./worker.ts").KeepingLimiter>;
    EARLIER: DurableObjectNamespace<import("./worker.ts").EarlierLimiter>;
    WRONG: DurableObjectNamespace<import("./worker.ts").WrongLimiter>;
  }
}
