/** The response headers of the document, and which of them come with which answer. */

import { MAX_OPERATOR_BAN_SECONDS } from "../worker/limiter/core/ban.ts";
import { MAX_LIMIT } from "../worker/limiter/core/quota.ts";
import type { JsonObject } from "./json.ts";
import { deprecationHeaders, type Lifecycle } from "./lifecycle.ts";

/** The end of the year 9999, in Unix seconds. */
const MAX_UNIX_SECONDS = 253_402_300_799;

const ITEM = '"(minute|day)"';

const HEADERS = {
  "X-RateLimit-Limit": {
    description:
      "Requests that the shown window allows. 0 where there is no quota to show: without a valid key, or while the limiter cannot be asked.",
    required: true,
    schema: { type: "integer", format: "int32", minimum: 0, maximum: MAX_LIMIT },
    example: 60,
  },
  "X-RateLimit-Remaining": {
    description: "Requests that are left in the shown window.",
    required: true,
    schema: { type: "integer", format: "int32", minimum: 0, maximum: MAX_LIMIT },
    example: 59,
  },
  "X-RateLimit-Reset": {
    description: "When the shown window or the ban ends: a Unix timestamp in seconds.",
    required: true,
    schema: { type: "integer", format: "int64", minimum: 0, maximum: MAX_UNIX_SECONDS },
    example: 1_795_255_260,
  },
  "X-Request-Id": {
    description: "Names this request. Quote it when you ask for help.",
    required: true,
    schema: { type: "string", format: "uuid", maxLength: 36 },
    example: "8fb8fa07-53c3-4d2f-a4a0-5a7a0e2a5d5b",
  },
  "RateLimit-Policy": {
    description: "Both limits: `q` requests in `w` seconds (IETF draft).",
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
      "Both windows: `r` requests remain, `t` seconds until it ends, or until the ban does (IETF draft).",
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
      "Only where the operator lets requests through while the limiter cannot be reached: this one was not counted.",
    schema: { type: "string", enum: ["limiter-unreachable"] },
  },
  "Retry-After": {
    description:
      "Whole seconds to wait. After a 429 the key's next request gets in then, and none earlier; after a 503 it is worth a try.",
    required: true,
    schema: { type: "integer", format: "int32", minimum: 1, maximum: MAX_OPERATOR_BAN_SECONDS },
    example: 17,
  },
  "WWW-Authenticate": {
    description: 'The scheme to use; with `error="invalid_token"` when a credential came and was refused.',
    required: true,
    schema: {
      type: "string",
      maxLength: 60,
      pattern: '^Bearer realm="store-orders"(, error="invalid_token")?$',
    },
    example: 'Bearer realm="store-orders"',
  },
  Allow: {
    description: "The methods that this path has.",
    required: true,
    schema: { type: "string", maxLength: 60, pattern: "^[A-Z]+(, [A-Z]+)*$" },
    example: "GET, HEAD",
  },
  ETag: {
    description:
      "Names this state of the list, with `W/` before it where the answer was compressed on its way. Send it back in `If-None-Match`.",
    required: true,
    schema: { type: "string", maxLength: 60, pattern: '^(W/)?"[0-9a-f-]+"$' },
    example: '"251-8d2f0b1c9e7a6543"',
  },
} as const satisfies Record<string, JsonObject>;

export type HeaderName = keyof typeof HEADERS;

const ALWAYS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"] as const;

/** On every answer to a known key; optional, as an answer without the limiter's verdict has none to show. */
const COUNTED = [...ALWAYS, "RateLimit-Policy", "RateLimit", "X-RateLimit-Degraded"] as const;

/** By status: what comes besides the headers of every answer. */
const SPECIAL: Readonly<Record<number, readonly HeaderName[]>> = {
  200: [...COUNTED, "ETag"],
  304: [...COUNTED, "ETag"],
  401: [...ALWAYS, "WWW-Authenticate"],
  405: [...COUNTED, "Allow"],
  429: [...ALWAYS, "RateLimit-Policy", "RateLimit", "Retry-After"],
  503: [...COUNTED, "Retry-After"],
};

/** `components.headers`; the lifecycle's two have the values of the one deprecated operation. */
export function headerComponents(lifecycle: Lifecycle): JsonObject {
  if (!lifecycle.deprecation) return HEADERS;
  const { Deprecation, Sunset } = deprecationHeaders(lifecycle.deprecation);
  return {
    ...HEADERS,
    Deprecation: {
      description: "Since when the operation is deprecated: `@` and a Unix timestamp (RFC 9745).",
      required: true,
      schema: { type: "string", const: Deprecation },
      example: Deprecation,
    },
    Sunset: {
      description: "From when on the operation is gone: an HTTP date (RFC 8594).",
      required: true,
      schema: { type: "string", const: Sunset },
      example: Sunset,
    },
  };
}

export function headersOfStatus(status: number, lifecycle: Lifecycle): JsonObject {
  const names: string[] = [...(SPECIAL[status] ?? COUNTED)];
  if (lifecycle.deprecation) names.push("Deprecation", "Sunset");
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
