/** Requests of clients: paths, methods, queries, headers, credentials, framing, and bytes that are no HTTP. */
import { type Input, type Target, withLength } from "./input.ts";
import type { Random } from "./random.ts";

const LIST = "/v1/store/orders";
/** No order with this id exists: a cancel whose answer is lost would be a change that no answer explains. */
const NO_ORDER = `${LIST}/5`;
const PATHS = [
  LIST,
  NO_ORDER,
  "/v1/pets/1",
  "/v1/x",
  "/",
  "/openapi.json",
  "/health",
  "/admin/keys",
  "/docs",
];
const METHODS = ["GET", "HEAD", "DELETE", "OPTIONS", "POST", "PUT", "PATCH", "TRACE", "PROPFIND", "SEARCH"];
/** workerd knows none of them. */
const OTHER_METHODS = ["CONNECT", "FOO", "get", "G\tT", "", "GET/", "\x00", "DELETEDELETE", "\xd0\x9f"];

const PATH_PARTS = [
  "..",
  ".",
  "",
  "%2e%2e",
  "%2E%2e%2f",
  "..%2f",
  "..%5c",
  "%00",
  "%0d%0aX-Injected:%201",
  "%",
  "%z",
  "%c0%af",
  "%e0%80%af",
  "%ed%a0%80",
  "%ff%fe",
  "%25%32%65",
  "%u0041",
  "*",
  ":orderId",
  "?",
  "#",
  ";a=b",
  "store",
  "orders",
  "v1",
  "admin",
  "keys",
  "__proto__",
  "constructor",
  "0",
  "-1",
  "1.0",
  "1e3",
  "0x1",
  "00",
  "9223372036854775807",
  "9223372036854775808",
  "-9223372036854775809",
  "1%20or%201=1",
  "'%20or%20''='",
  "1;drop%20table%20orders",
  "\\",
  "~",
  "%EF%BB%BF1",
  "%D9%A1",
];

/** `other` is none: such text cannot be in a header. */
const HEADER_VALUES = [
  "",
  " ",
  "\t",
  "*",
  "\x80\xff",
  "é",
  "%00",
  "a,b",
  '"',
  "null",
  "undefined",
  "[object Object]",
];

export type Make = (random: Random, target: Target) => Omit<Input, "kind">;

const host = "Host: localhost";
const bearer = ({ key }: Target) => `Authorization: Bearer ${key}`;

export const CLIENT_KINDS: Readonly<Record<string, Make>> = {
  path: (random, target) => complete(`${random.pick(METHODS)} ${pathOf(random)} HTTP/1.1`, [bearer(target)]),

  "path of any bytes": (random, target) => ({
    requestLine: `GET /v1/${random.bytes(1 + random.below(40))} HTTP/1.1`,
    headers: [host, bearer(target)],
    body: "",
    ending: "ended",
  }),

  "path, long": (random, target) =>
    complete(
      `${random.pick(METHODS)} ${LIST}/${random.pick(["1", "%2e", "a/", "%"]).repeat(1 + random.below(5_000))} HTTP/1.1`,
      [bearer(target)],
    ),

  query: (random, target) =>
    complete(`GET ${random.pick(PATHS)}?${queryOf(random)} HTTP/1.1`, [bearer(target)]),

  method: (random, target) => ({
    ...complete(`${random.pick([...METHODS, ...OTHER_METHODS])} ${random.pick(PATHS)} HTTP/1.1`, [
      bearer(target),
    ]),
    ending: "ended",
  }),

  "request line": (random, target) => ({
    requestLine: random.pick([
      `GET ${LIST}`,
      `GET  ${LIST}  HTTP/1.1`,
      `GET ${LIST} HTTP/1.0`,
      `GET ${LIST} HTTP/0.9`,
      `GET ${LIST} HTTP/2.0`,
      `GET ${LIST} HTTP/1.1 x`,
      `GET http://other.example${LIST} HTTP/1.1`,
      `GET //other.example${LIST} HTTP/1.1`,
      "OPTIONS * HTTP/1.1",
      "GET * HTTP/1.1",
      `GET ${LIST}#part HTTP/1.1`,
      `\r\n\r\nGET ${LIST} HTTP/1.1`,
      "PRI * HTTP/2.0",
      random.bytes(1 + random.below(200)),
    ]),
    headers: [host, bearer(target)],
    body: "",
    ending: "ended",
  }),

  host: (random, target) => ({
    requestLine: `GET ${random.pick(PATHS)} HTTP/1.1`,
    headers: [
      ...random.pick([
        [],
        [host, host],
        ["Host:"],
        ["Host: a b\\"],
        ["Host: [::1"],
        ["Host: x:99999"],
        ["Host: ü"],
      ]),
      ...random.pick([[], ["Host: a/b?c#d"], ["Host: user:pass@host"], ["Host: %00"], ["Host: xn--a"]]),
      bearer(target),
    ],
    body: "",
    ending: "ended",
  }),

  headers: (random, target) =>
    complete(`${random.pick(["GET", "HEAD", "DELETE"])} ${random.pick(PATHS)} HTTP/1.1`, [
      bearer(target),
      ...random.some(8, () => headerOf(random)),
    ]),

  "header, malformed": (random, target) => ({
    requestLine: `GET ${LIST} HTTP/1.1`,
    headers: [
      host,
      bearer(target),
      random.pick([
        "no colon",
        "Space : x",
        ": no name",
        " Folded: x",
        "A: b\r\n folded",
        "A: b\nB: c",
        "A: b\rB: c",
        `A: ${random.bytes(20)}`,
        `${random.bytes(5)}: b`,
        "A\x00: b",
        "A: \x00",
      ]),
    ],
    body: "",
    ending: "ended",
  }),

  "header, huge": (random, target) =>
    complete(`GET ${LIST} HTTP/1.1`, [
      bearer(target),
      ...random.pick([
        [`X: ${"a".repeat(random.below(100_000))}`],
        Array.from({ length: random.below(300) }, (_, i) => `X-${i}: ${i}`),
        [`If-None-Match: ${'"a",'.repeat(random.below(10_000))}`],
      ]),
    ]),

  "If-None-Match": (random, target) =>
    complete(`GET ${LIST} HTTP/1.1`, [
      bearer(target),
      `If-None-Match: ${random.pick(['"', 'W/"', "W/", '"0-0"', '"1-', "*, *", '"a" "b"', ",,,", '"\\""', "\xff", '"1-x", *'])}`,
    ]),

  "Authorization, wrong": (random, target) => ({
    ...complete(`${random.pick(["GET", "DELETE"])} ${LIST} HTTP/1.1`, [
      anyAddress(random),
      ...wrongCredentials(random, target),
    ]),
    ending: "ended",
  }),

  "body that is not wanted": (random, target) => {
    const { headers, body } = withLength(random.bytes(random.below(2_000)));
    return {
      ...complete(`${random.pick(METHODS)} ${random.pick(PATHS)} HTTP/1.1`, [bearer(target), ...headers]),
      body,
    };
  },

  framing: (random, target) => ({
    requestLine: `${random.pick(["GET", "DELETE", "POST"])} ${random.pick(PATHS)} HTTP/1.1`,
    headers: [host, bearer(target), ...random.pick(FRAMINGS)],
    body: random.pick([
      "",
      "0\r\n\r\n",
      "5\r\nhello\r\n0\r\n\r\n",
      "zz\r\n",
      "5\r\nhel",
      "hello",
      `GET ${LIST} HTTP/1.1\r\n\r\n`,
    ]),
    ending: random.pick(["ended", "cut", "stalled"]),
  }),

  "no HTTP": (random) => ({
    requestLine: random.pick(["\x16\x03\x01\x02\x00\x01", "SSH-2.0-x", "EHLO x", "", random.bytes(500)]),
    headers: [],
    body: random.bytes(random.below(100)),
    ending: random.pick(["ended", "cut"]),
  }),

  "connection cut": (random, target) => {
    const whole = `GET ${LIST} HTTP/1.1\r\n${host}\r\n${bearer(target)}\r\nX: y`;
    return { requestLine: whole.slice(0, random.below(whole.length)), headers: [], body: "", ending: "cut" };
  },

  "response not read": (_random, target) => ({
    ...complete(`GET ${LIST} HTTP/1.1`, [bearer(target)]),
    ending: "cut",
  }),

  fetch: (random, target) => ({
    ...complete(
      `${random.pick(["GET", "HEAD", "DELETE", "PUT", "OPTIONS"])} ${pathOf(random)}?${queryOf(random)} HTTP/1.1`,
      [random.pick([bearer(target), "Authorization: Basic eDp5", "Authorization: Bearer sok_x"])],
    ),
    isFetch: true,
  }),
};

const FRAMINGS: readonly string[][] = [
  ["Content-Length: 500"],
  ["Content-Length: -1"],
  ["Content-Length: +5"],
  ["Content-Length: 5x"],
  ["Content-Length: 5", "Content-Length: 6"],
  ["Content-Length: 5, 5"],
  ["Content-Length: 99999999999999999999999"],
  ["Content-Length: 5", "Transfer-Encoding: chunked"],
  ["Transfer-Encoding: chunked"],
  ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
  ["Transfer-Encoding: identity, chunked"],
  ["Transfer-Encoding: gzip, chunked"],
  ["Transfer-Encoding: \x0bchunked"],
  ["Transfer-Encoding: chunked;q=1"],
  ["Transfer-Encoding: xchunked"],
  ["Expect: 100-continue", "Content-Length: 5"],
  ["Expect: 200-ok"],
  ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"],
  ["Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABkAAQAAP__"],
  ["Connection: close"],
  ["Connection: Authorization, X-Request-Id"],
];

/** No request is admitted with one of these. */
function wrongCredentials(random: Random, { key, adminToken, unknownKeys }: Target): string[] {
  const wellFormed = `Authorization: Bearer ${key}`;
  return random.pick([
    [],
    [wellFormed, wellFormed],
    [wellFormed, "Authorization: Bearer x"],
    [`Authorization: Bearer ${adminToken}`],
    [`Authorization: Basic ${key}`],
    [`Authorization: ${key}`],
    ["Authorization:"],
    ["Authorization: Bearer"],
    [`Authorization: Bearer "${key}"`],
    [`Authorization: Bearer ${key}, Bearer ${key}`],
    [`Authorization: Bearer ${key.toUpperCase()}`],
    [`Authorization: Bearer ${key.slice(0, -1)}`],
    [`Authorization: Bearer ${key}0`],
    [`Authorization: Bearer ${key}\xa0`],
    [`Authorization: Bearer ${key.slice(0, 10)}${random.lettersAndDigits(key.length - 10)}`],
    [`Authorization: Bearer ${random.pick(unknownKeys)}`],
    [`Authorization: Bearer ${"a".repeat(random.below(20_000))}`],
    [`Authorization: Bearer ' or 1=1 --`],
    [`Authorization: Bearer ${random.bytes(30).replace(/[\r\n\0]/g, "x")}`],
    [`X-Api-Key: ${key}`],
    [`Cookie: key=${key}`],
  ]);
}

/** So that the limit of failed sign-ins from one address is not reached. */
export function anyAddress(random: Random): string {
  return `CF-Connecting-IP: 10.${random.below(256)}.${random.below(256)}.${random.below(256)}`;
}

function complete(requestLine: string, headers: readonly string[]): Omit<Input, "kind"> {
  return { requestLine, headers: [host, ...headers], body: "", ending: "complete" };
}

function pathOf(random: Random): string {
  const parts = Array.from({ length: 1 + random.below(6) }, () => random.pick(PATH_PARTS));
  const path = `${random.pick(["", "/v1", LIST, "/admin/keys", "/"])}/${parts.join("/")}`;
  return path.replaceAll(/[ #]/g, "%20");
}

function queryOf(random: Random): string {
  const part = () =>
    random.pick([...PATH_PARTS, "limit=1", "dry-run", "a=b=c", "a[]=1", "a[b]=c", "&", "=", "+", "\x7f"]);
  return random
    .some(6, part)
    .join(random.pick(["&", "&&", ";", ""]))
    .replaceAll(/[ #]/g, "%23");
}

function headerOf(random: Random): string {
  const name = random.pick([
    "Accept",
    "Accept-Encoding",
    "Access-Control-Request-Method",
    "CF-Connecting-IP",
    "CF-Worker",
    "Content-Type",
    "Cookie",
    "Forwarded",
    "If-Match",
    "If-Modified-Since",
    "If-None-Match",
    "Origin",
    "Range",
    "Sec-Fetch-Site",
    "TE",
    "Trailer",
    "Via",
    "X-Forwarded-For",
    "X-HTTP-Method-Override",
    "X-Operator",
    "X-Original-URL",
    "X-Request-Id",
    "__proto__",
  ]);
  return `${name}: ${random.pick([...HEADER_VALUES, "bytes=0-0", "bytes=9-1", "DELETE", "1.2.3.4, ::1", "1.2.3.4:5", "[::1]:5", "g::1", "/admin/keys", "a".repeat(300)])}`;
}
