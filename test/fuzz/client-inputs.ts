/** Requests of clients: paths, methods, queries, headers, credentials, framing, and broken HTTP. */
import fc from "fast-check";
import { anyAddress, bytes, HOST, type Kinds, long, request, type Target, withBody, word } from "./input.ts";

const LIST = "/v1/store/orders";
/** No order with this id exists: a cancel whose answer is lost would be a change that no answer explains. */
const NO_ORDER = `${LIST}/5`;
const path = word(`${LIST} ${NO_ORDER} /v1/pets/1 /v1/x / /openapi.json /health /admin/keys /docs`);
const method = word("GET HEAD DELETE OPTIONS POST PUT PATCH TRACE PROPFIND SEARCH");
/** workerd knows none of them. */
const otherMethod = fc.oneof(
  word("CONNECT FOO get GET/ DELETEDELETE \xd0\x9f"),
  fc.constantFrom("", "G\tT", "\x00"),
);

/** The first one is empty. */
const pathPart = word(
  " . .. %2e%2e %2E%2e%2f ..%2f ..%5c %00 %0d%0aX-Injected:%201 % %z %c0%af %e0%80%af %ed%a0%80 %ff%fe %25%32%65",
  "%u0041 * :orderId ? ;a=b store orders v1 admin keys __proto__ constructor \\ ~ %EF%BB%BF1 %D9%A1",
  "0 -1 1.0 1e3 0x1 00 9223372036854775807 9223372036854775808 -9223372036854775809 1%20or%201=1",
  "'%20or%20''=' 1;drop%20table%20orders",
);

const anyPath = fc
  .tuple(
    fc.constantFrom("", "/v1", LIST, "/admin/keys", "/"),
    fc.array(pathPart, { minLength: 1, maxLength: 6 }),
  )
  .map(([prefix, parts]) => `${prefix}/${parts.join("/")}`);

const queryPart = fc.oneof(
  pathPart,
  fc.constantFrom("limit=1", "dry-run", "a=b=c", "a[]=1", "a[b]=c", "&", "=", "+", "\x7f"),
);
const query = fc
  .tuple(fc.array(queryPart, { maxLength: 6 }), fc.constantFrom("&", "&&", ";", ""))
  .map(([parts, separator]) => parts.join(separator));

const headerName = word(
  "Accept Accept-Encoding Access-Control-Request-Method CF-Connecting-IP CF-Worker Content-Type Cookie",
  "Forwarded If-Match If-Modified-Since If-None-Match Origin Range Sec-Fetch-Site TE Trailer Via",
  "X-Forwarded-For X-HTTP-Method-Override X-Operator X-Original-URL X-Request-Id __proto__",
);
const headerValue = fc.oneof(
  word('* é %00 a,b " null undefined \x80\xff bytes=0-0 bytes=9-1 DELETE 1.2.3.4:5 [::1]:5 g::1 /admin/keys'),
  fc.constantFrom("", " ", "\t", "[object Object]", "1.2.3.4, ::1", "a".repeat(300)),
);
const header = fc.tuple(headerName, headerValue).map(([name, value]) => `${name}: ${value}`);

const FRAMINGS: readonly string[][] = [
  ...["500", "-1", "+5", "5x", "5, 5", "99999999999999999999999"].map((each) => [`Content-Length: ${each}`]),
  ["Content-Length: 5", "Content-Length: 6"],
  ["Content-Length: 5", "Transfer-Encoding: chunked"],
  ...["chunked", "identity, chunked", "gzip, chunked", "\x0bchunked", "chunked;q=1", "xchunked"].map(
    (each) => [`Transfer-Encoding: ${each}`],
  ),
  ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
  ["Expect: 100-continue", "Content-Length: 5"],
  ["Expect: 200-ok"],
  ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"],
  ["Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABkAAQAAP__"],
  ["Connection: close"],
  ["Connection: Authorization, X-Request-Id"],
];

const REQUEST_LINES = [
  `GET ${LIST}`,
  `GET  ${LIST}  HTTP/1.1`,
  ...["1.0", "0.9", "2.0", "1.1 x"].map((version) => `GET ${LIST} HTTP/${version}`),
  `GET http://other.example${LIST} HTTP/1.1`,
  `GET //other.example${LIST} HTTP/1.1`,
  "OPTIONS * HTTP/1.1",
  "GET * HTTP/1.1",
  `GET ${LIST}#part HTTP/1.1`,
  `\r\n\r\nGET ${LIST} HTTP/1.1`,
  "PRI * HTTP/2.0",
];

/** No request is admitted with one of these. */
function wrongCredential({ key, adminToken, unknownKeys }: Target): fc.Arbitrary<string[]> {
  const right = `Authorization: Bearer ${key}`;
  const wrongBearer = fc.oneof(
    fc.constantFrom(adminToken, `"${key}"`, `${key}, Bearer ${key}`, key.toUpperCase(), key.slice(0, -1)),
    fc.constantFrom(`${key}0`, `${key}\xa0`, ...unknownKeys, "' or 1=1 --", ""),
    fc.stringMatching(new RegExp(`^[0-9A-Za-z]{${key.length - 10}}$`)).map((end) => key.slice(0, 10) + end),
    long("a", 20_000),
    bytes(30, 30).map((text) => text.replace(/[\r\n\0]/g, "x")),
  );
  return fc.oneof(
    { weight: 2, arbitrary: wrongBearer.map((text) => [`Authorization: Bearer ${text}`]) },
    fc.constantFrom(
      ...[[], [right, right], [right, "Authorization: Bearer x"], [`Authorization: Basic ${key}`]],
      ...[[`Authorization: ${key}`], ["Authorization:"], [`X-Api-Key: ${key}`], [`Cookie: key=${key}`]],
    ),
  );
}

export function clientKinds(target: Target): Kinds {
  const bearer = `Authorization: Bearer ${target.key}`;
  const list = `GET ${LIST} HTTP/1.1`;
  const ended = { ending: "ended" } as const;
  return {
    path: fc.tuple(method, anyPath).map(([verb, at]) => request(`${verb} ${at} HTTP/1.1`, [bearer])),
    "path of any bytes": bytes(1, 40).map((text) => request(`GET /v1/${text} HTTP/1.1`, [bearer], ended)),
    "path, long": fc
      .tuple(
        method,
        fc.constantFrom("1", "%2e", "a/", "%").chain((text) => long(text, 10_000)),
      )
      .map(([verb, end]) => request(`${verb} ${LIST}/${end} HTTP/1.1`, [bearer])),
    query: fc.tuple(path, query).map(([at, text]) => request(`GET ${at}?${text} HTTP/1.1`, [bearer])),
    method: fc
      .tuple(fc.oneof(method, otherMethod), path)
      .map(([verb, at]) => request(`${verb} ${at} HTTP/1.1`, [bearer], ended)),
    "request line": fc
      .oneof(fc.constantFrom(...REQUEST_LINES), bytes(1, 200))
      .map((line) => request(line, [bearer], ended)),
    host: fc
      .tuple(
        path,
        fc.subarray([
          "Host:",
          "Host: a b\\",
          "Host: [::1",
          "Host: x:99999",
          "Host: ü",
          "Host: a/b?c#d",
          HOST,
        ]),
        fc.subarray(["Host: user:pass@host", "Host: %00", "Host: xn--a", HOST], { maxLength: 1 }),
      )
      .map(([at, ...hosts]) => ({
        ...request(`GET ${at} HTTP/1.1`, [], ended),
        headers: [...hosts.flat(), bearer],
      })),
    headers: fc
      .tuple(fc.constantFrom("GET", "HEAD", "DELETE"), path, fc.array(header, { maxLength: 8 }))
      .map(([verb, at, headers]) => request(`${verb} ${at} HTTP/1.1`, [bearer, ...headers])),
    "header, malformed": fc
      .oneof(
        fc.constantFrom("no colon", "Space : x", ": no name", " Folded: x", "A: b\r\n folded", "A: b\nB: c"),
        fc.constantFrom("A: b\rB: c", "A\x00: b", "A: \x00"),
        bytes(20, 20).map((text) => `A: ${text}`),
        bytes(5, 5).map((text) => `${text}: b`),
      )
      .map((line) => request(list, [bearer, line], ended)),
    "header, huge": fc
      .oneof(
        long("a", 100_000).map((text) => [`X: ${text}`]),
        fc.nat(300).map((count) => Array.from({ length: count }, (_, i) => `X-${i}: ${i}`)),
        long('"a",', 40_000).map((text) => [`If-None-Match: ${text}`]),
      )
      .map((headers) => request(list, [bearer, ...headers])),
    "If-None-Match": fc
      .constantFrom('"', 'W/"', "W/", '"0-0"', '"1-', "*, *", '"a" "b"', ",,,", '"\\""', "\xff", '"1-x", *')
      .map((tags) => request(list, [bearer, `If-None-Match: ${tags}`])),
    "Authorization, wrong": fc
      .tuple(fc.constantFrom("GET", "DELETE"), anyAddress, wrongCredential(target))
      .map(([verb, address, headers]) => request(`${verb} ${LIST} HTTP/1.1`, [address, ...headers], ended)),
    "body that is not wanted": fc
      .tuple(method, path, bytes(0, 2_000))
      .map(([verb, at, body]) => withBody(`${verb} ${at} HTTP/1.1`, [bearer], body)),
    framing: fc
      .record({
        line: fc.tuple(fc.constantFrom("GET", "DELETE", "POST"), path),
        headers: fc.constantFrom(...FRAMINGS),
        body: fc.constantFrom(
          "",
          "0\r\n\r\n",
          "5\r\nhello\r\n0\r\n\r\n",
          "zz\r\n",
          "5\r\nhel",
          "hello",
          `${list}\r\n\r\n`,
        ),
        ending: fc.constantFrom("ended", "cut", "stalled"),
      })
      .map(({ line: [verb, at], headers, ...rest }) =>
        request(`${verb} ${at} HTTP/1.1`, [bearer, ...headers], rest),
      ),
    "no HTTP": fc.record({
      requestLine: fc.oneof(
        fc.constantFrom("\x16\x03\x01\x02\x00\x01", "SSH-2.0-x", "EHLO x", ""),
        bytes(500, 500),
      ),
      headers: fc.constant([]),
      body: bytes(0, 100),
      ending: fc.constantFrom("ended", "cut"),
    }),
    "connection cut": fc.double({ min: 0, max: 1, noNaN: true }).map((share) => {
      const whole = `${list}\r\n${HOST}\r\n${bearer}\r\nX: y`;
      return { requestLine: whole.slice(0, whole.length * share), headers: [], body: "", ending: "cut" };
    }),
    "response not read": fc.constant(request(list, [bearer], { ending: "cut" })),
  };
}
