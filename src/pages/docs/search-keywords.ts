/** What people type for a part of the page whose own text says it in other words, by the part's id. A test checks the ids. */
export const SEARCH_KEYWORDS: Readonly<Record<string, string>> = {
  "get-a-key":
    "token credential sign up signup register access contact support help email apikey obtain lost leaked rotate rotation",
  "first-request":
    "curl javascript js node fetch python library example sample code hello start getting started tutorial go java php",
  "what-comes-back": "response answer result output",
  "wait-after-a-429":
    "throttle throttling throttled retry backoff sleep wait rate limit exceeded too many requests 429 code",
  "generate-a-client": "sdk client library codegen generator typescript hey-api orval",
  authentication: "token bearer auth login apikey credential secret password oauth header 401 forbidden 403",
  "rate-limits":
    "throttle throttling quota plan plans price pricing tier free pro business usage burst parallel concurrent concurrency",
  "over-the-limit": "throttle throttling throttled backoff sleep too many requests exceeded 429 timeout",
  bans: "ban banned banning block blocked blacklist suspended penalty abuse lockout key_banned",
  "unknown-keys": "ip address brute force",
  errors: "exception failure problem status codes",
  conventions:
    "date time timezone bigint int64 precision rounding number head trace log id cors browser origin preflight options",
  versions: "v2 changelog breaking compatibility deprecation",
  listOrders:
    "pagination paginate page cursor offset filter sort query get fetch read all cache caching polling conditional 304 not modified status webhook events changes",
  cancelOrder: "delete remove undo void refund revoke withdraw 204 idempotent idempotency status",
  getPet: "animal deprecated",
  "response-headers": "x-ratelimit",
  "header-etag": "cache caching polling conditional 304 version",
  "header-retry-after": "wait sleep backoff seconds",
  "header-x-ratelimit-reset": "timestamp epoch unix when",
  "header-x-request-id": "support trace log correlation",
  "openapi-document":
    "swagger postman schema specification generate codegen json import base url host server",
};
