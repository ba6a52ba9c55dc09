/** The response headers in the document, and the headers of each response. */

import { petsHeaders } from "../worker/text/lifecycle.ts";
import type { JsonObject } from "./json.ts";

const TEXT = { type: "string" };
const COUNT = { type: "integer", format: "int32", minimum: 0 };
const UNIX_SECONDS = { type: "integer", format: "int64", minimum: 0 };
const NO_QUOTA = "0 if the request has no quota, as on a 401.";

const HEADERS = {
  "X-RateLimit-Limit": always(`The limit of the window that is shown. ${NO_QUOTA}`, COUNT, 60),
  "X-RateLimit-Remaining": always(`Requests that remain in the window that is shown. ${NO_QUOTA}`, COUNT, 59),
  "X-RateLimit-Reset": always(
    "When the window that is shown, or the ban, ends: a Unix timestamp in seconds. Without a quota, the end of the minute.",
    UNIX_SECONDS,
    1_795_255_260,
  ),
  "X-Request-Id": always(
    "Identifies this request. Quote it when you ask for help.",
    { type: "string", format: "uuid" },
    "8fb8fa07-53c3-4d2f-a4a0-5a7a0e2a5d5b",
  ),
  "RateLimit-Policy": experimental(
    "Both limits: `q` requests in `w` seconds (IETF draft). Absent if the request has no quota.",
    '"minute";q=60;w=60, "day";q=1000;w=86400',
  ),
  RateLimit: experimental(
    "Both windows: `r` requests remain, and the window ends in `t` seconds. During a ban, `t` is the whole wait (IETF draft). Absent if the request has no quota.",
    '"minute";r=59;t=42, "day";r=991;t=35262',
  ),
  "Retry-After": always(
    "Seconds to wait before the next request, at most a day.",
    { ...COUNT, minimum: 1, maximum: 86_400 },
    17,
  ),
  "WWW-Authenticate": always(
    'The authentication scheme, with `error="invalid_token"` if a key was sent and refused.',
    TEXT,
    'Bearer realm="store-orders"',
  ),
  Link: always("The documentation.", TEXT, '</docs>; rel="service-doc"'),
  ETag: {
    description:
      "Identifies this version of the list; send it in `If-None-Match`. It starts with `W/` if Cloudflare has compressed the response. Absent if the list is no snapshot: beyond 32 MB, or while it changes very fast.",
    schema: TEXT,
    example: '"251-8d2f0b1c9e7a6543"',
  },
};

type HeaderName = keyof typeof HEADERS;

const EVERYWHERE = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"];
const OF_A_QUOTA = ["RateLimit-Policy", "RateLimit"];
const STATUSES_WITHOUT_QUOTA = [401, 403];

const BY_STATUS: Readonly<Record<number, readonly HeaderName[]>> = {
  200: ["ETag"],
  304: ["ETag"],
  401: ["WWW-Authenticate", "Link"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

/** `components.headers`. */
export function headerComponents(petsSunsetDate: string): JsonObject {
  const { Deprecation, Sunset } = petsHeaders(petsSunsetDate);
  return {
    ...HEADERS,
    Deprecation: always(
      "When the operation became deprecated: `@` and a Unix timestamp (RFC 9745).",
      TEXT,
      Deprecation,
    ),
    Sunset: always("When the operation stops working: an HTTP date (RFC 8594).", TEXT, Sunset),
  };
}

export function headersOfStatus(status: number, isDeprecated: boolean): JsonObject {
  const names = [
    ...EVERYWHERE,
    ...(STATUSES_WITHOUT_QUOTA.includes(status) ? [] : OF_A_QUOTA),
    ...(BY_STATUS[status] ?? []),
    ...(isDeprecated ? ["Deprecation", "Sunset"] : []),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function always(description: string, schema: JsonObject, example: string | number): JsonObject {
  return { description, required: true, schema, example };
}

function experimental(description: string, example: string): JsonObject {
  return { description, "x-stability": "experimental", schema: TEXT, example };
}
