/** The response headers in the document, and which response has which of them. */

import { MAX_OPERATOR_BAN_SECONDS } from "../worker/limiter/core/ban.ts";
import { MAX_REQUESTS_PER_DAY } from "../worker/limiter/core/quota.ts";
import type { JsonObject } from "./json.ts";
import { deprecationHeaders, type Lifecycle } from "./lifecycle.ts";

/** The end of the year 9999, in Unix seconds. */
const MAX_UNIX_SECONDS = 253_402_300_799;

const ITEM = '"(minute|day)"';

const HEADERS = {
  "X-RateLimit-Limit": {
    description:
      "The limit of the window that is shown, or the per-IP rate limit on a 429 of that. 0 if the key's limits were not applied, so that there is no quota to show: on a 401, 403 or 414, on a 500 or 503 from before that, and with `X-RateLimit-Degraded`.",
    required: true,
    schema: { type: "integer", format: "int32", minimum: 0, maximum: MAX_REQUESTS_PER_DAY },
    example: 60,
  },
  "X-RateLimit-Remaining": {
    description: "Requests that remain in the window that is shown.",
    required: true,
    schema: { type: "integer", format: "int32", minimum: 0, maximum: MAX_REQUESTS_PER_DAY },
    example: 59,
  },
  "X-RateLimit-Reset": {
    description:
      "When the window that is shown, or the ban, ends: a Unix timestamp in seconds. On a 429 of the per-IP rate limit, the time until which `Retry-After` waits.",
    required: true,
    schema: { type: "integer", format: "int64", minimum: 0, maximum: MAX_UNIX_SECONDS },
    example: 1_795_255_260,
  },
  "X-Request-Id": {
    description: "Identifies this request. Quote it when you ask for help.",
    required: true,
    schema: { type: "string", format: "uuid", maxLength: 36 },
    example: "8fb8fa07-53c3-4d2f-a4a0-5a7a0e2a5d5b",
  },
  "RateLimit-Policy": {
    description:
      "Both limits: `q` requests in `w` seconds (IETF draft). Absent if the key's limits were not applied.",
    "x-stability": "experimental",
    schema: {
      type: "string",
      maxLength: 100,
      pattern: String.raw`^${ITEM};q=\d{1,10};w=\d{1,5}, ${ITEM};q=\d{1,10};w=\d{1,5}$`,
    },
    example: '"minute";q=60;w=60, "day";q=1000;w=86400',
  },
  RateLimit: {
    description:
      "Both windows: `r` requests remain, and `t` seconds until the window ends, or during a ban the whole wait (IETF draft). Absent if the key's limits were not applied.",
    "x-stability": "experimental",
    schema: {
      type: "string",
      maxLength: 100,
      pattern: String.raw`^${ITEM};r=\d{1,10};t=\d{1,8}, ${ITEM};r=\d{1,10};t=\d{1,8}$`,
    },
    example: '"minute";r=59;t=42, "day";r=991;t=35262',
  },
  "X-RateLimit-Degraded": {
    description:
      "Only if the service admits requests while the rate limiter cannot be reached: this request may not have been counted.",
    schema: { type: "string", enum: ["limiter-unreachable"] },
  },
  "Retry-After": {
    description:
      "Seconds to wait before the next request. After a 429 for a used-up window or a ban, every earlier request is refused, and then the key has requests left again. Only the operator, other clients of the key, and an unreachable rate limiter can change that. After a 503, or a 429 of the per-IP rate limit, an earlier request may be admitted.",
    required: true,
    schema: { type: "integer", format: "int32", minimum: 1, maximum: MAX_OPERATOR_BAN_SECONDS },
    example: 17,
  },
  "WWW-Authenticate": {
    description:
      'The authentication scheme, with `error="invalid_token"` if the request had a credential that was refused.',
    required: true,
    schema: {
      type: "string",
      maxLength: 60,
      pattern: '^Bearer realm="store-orders"(, error="invalid_token")?$',
    },
    example: 'Bearer realm="store-orders"',
  },
  Link: {
    description: "The documentation.",
    required: true,
    schema: { type: "string", const: '</docs>; rel="service-doc"' },
    example: '</docs>; rel="service-doc"',
  },
  Allow: {
    description: "The methods that this path supports.",
    required: true,
    schema: { type: "string", maxLength: 60, pattern: "^[A-Z]+(, [A-Z]+)*$" },
    example: "GET, HEAD",
  },
  ETag: {
    description:
      "Identifies this version of the list. It can start with `W/`, when Cloudflare has compressed the response. Send it back in `If-None-Match`.",
    required: true,
    schema: { type: "string", maxLength: 60, pattern: '^(W/)?"[0-9a-f-]+"$' },
    example: '"251-8d2f0b1c9e7a6543"',
  },
} as const satisfies Record<string, JsonObject>;

export type HeaderName = keyof typeof HEADERS;

const COMMON_HEADERS = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Request-Id",
] as const;

/** On every response to a known key. The last three are optional: they need a verdict of the limiter, or its failure. */
const KNOWN_KEY_HEADERS = [
  ...COMMON_HEADERS,
  "RateLimit-Policy",
  "RateLimit",
  "X-RateLimit-Degraded",
] as const;

/** The statuses whose headers differ from those of `KNOWN_KEY_HEADERS`. */
const HEADERS_BY_STATUS: Readonly<Record<number, readonly HeaderName[]>> = {
  200: [...KNOWN_KEY_HEADERS, "ETag"],
  304: [...KNOWN_KEY_HEADERS.filter((name) => name !== "X-RateLimit-Degraded"), "ETag"],
  401: [...COMMON_HEADERS, "WWW-Authenticate", "Link"],
  403: COMMON_HEADERS,
  404: [...KNOWN_KEY_HEADERS, "Link"],
  405: [...KNOWN_KEY_HEADERS, "Allow", "Link"],
  414: COMMON_HEADERS,
  429: [...COMMON_HEADERS, "RateLimit-Policy", "RateLimit", "Retry-After"],
  503: [...KNOWN_KEY_HEADERS, "Retry-After"],
};

/** `components.headers`. `Deprecation` and `Sunset` have the values of the one deprecated operation. */
export function headerComponents(lifecycle: Lifecycle): JsonObject {
  if (!lifecycle.deprecation) return HEADERS;
  const { Deprecation, Sunset } = deprecationHeaders(lifecycle.deprecation);
  return {
    ...HEADERS,
    Deprecation: {
      description: "When the operation became deprecated: `@` and a Unix timestamp (RFC 9745).",
      required: true,
      schema: { type: "string", const: Deprecation },
      example: Deprecation,
    },
    Sunset: {
      description: "When the operation stops working: an HTTP date (RFC 8594).",
      required: true,
      schema: { type: "string", const: Sunset },
      example: Sunset,
    },
  };
}

export function headersOfStatus(status: number, lifecycle: Lifecycle): JsonObject {
  const names: string[] = [...(HEADERS_BY_STATUS[status] ?? KNOWN_KEY_HEADERS)];
  if (lifecycle.deprecation) names.push("Deprecation", "Sunset");
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
