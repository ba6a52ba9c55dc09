/** Requests of operators with the admin token, or nearly with it: bodies, queries, paths and loads. */
import { anyAddress, type Make } from "./client-inputs.ts";
import { type Input, type Target, utf8, withLength } from "./input.ts";
import type { Random } from "./random.ts";

const TEXTS = [
  "",
  " ",
  "\0",
  "a\0b",
  "\u0007\u001b[2J",
  "\u202eabc",
  "\ud800",
  "\udfff\ud800",
  "😀",
  "é",
  "\ufeff",
  "\uffff",
  "'",
  '"',
  "`",
  "'; drop table orders; --",
  "' or 1=1 --",
  "\\",
  "%",
  "_",
  "?1",
  "$1",
  ":id",
  "__proto__",
  "constructor",
  "toString",
  "null",
  "2026-11-21",
  "2026-02-30",
  "9999-12-31T23:59:59Z",
  "-000001-01-01T00:00:00Z",
  "9223372036854775808",
  "=1+1",
  "<script>alert(1)</script>",
  "a".repeat(101),
  // texts that cannot be seen, that changed on their way, or that have two forms
  ...[
    "\u200b",
    "\u3164",
    "\u0301",
    "\u2800",
    "\u{e0041}",
    "\ufffd",
    "a\u2028b",
    "a\u2066b",
    "e\u0308",
    "👩\u200d💻",
    "＝1+1",
  ],
  // e-mail addresses, and nearly
  ...["a@b.example", "zoë@müller.example", '"a b"@b.example', "a@[192.0.2.1]", "a@b..example", "a@b@c", "@"],
  // times, and nearly
  ...["2026-11-21t10:00:00.5z", "2026-11-21 10:00:00-00:00", "2016-12-31T23:59:60Z", "2026-11-21T10:00:60Z"],
  ...["2026-11-21T10:00:00+0200", "2026-11-21T24:00:00Z", "30m", "99999d", "-1h", "1.5h"],
];

/** No UTF-8, wherever they stand: Latin-1, a surrogate, too long a form, beyond the last character. */
const NOT_UTF8 = ["\xff", "\x80", "\xebx", "\xed\xa0\x80", "\xc0\xaf", "\xf4\x90\x80\x80"];

const NUMBERS = [
  "0",
  "-0",
  "-1",
  "1",
  "1.5",
  "1e3",
  "1E400",
  "-1e400",
  "1e-400",
  "9007199254740991",
  "9007199254740992",
  "9223372036854775807",
  "9223372036854775808",
  "-9223372036854775808",
  "-9223372036854775809",
  "2147483648",
  "4294967296",
  "99999999999999999999999999",
  "00",
  "+1",
  ".5",
  "0x10",
  "NaN",
  "Infinity",
];

const LITERALS = ["true", "false", "null", "{}", "[]", "[[]]", '{"a":1}', "undefined"];

/** The members of each body. */
const BODIES: readonly (readonly [method: string, path: string, members: readonly string[]])[] = [
  [
    "POST",
    "/keys",
    [
      "name",
      "plan",
      "ownerName",
      "ownerEmail",
      "note",
      "requestsPerMinute",
      "requestsPerDay",
      "expiresAt",
      "location",
    ],
  ],
  ["PATCH", "/keys/ID", ["name", "plan", "ownerName", "note", "requestsPerMinute", "expiresAt", "disabled"]],
  ["POST", "/keys/find", ["id", "hash", "hint"]],
  ["POST", "/keys/ID/rotate", ["graceSeconds"]],
  ["POST", "/keys/ID/temporary-limits", ["requestsPerMinute", "requestsPerDay", "days", "reason"]],
  ["PUT", "/keys/ID/ban", ["seconds", "reason"]],
  ["PATCH", "/plans/pro", ["requestsPerMinute", "requestsPerDay"]],
  ["PATCH", "/orders/ORDER", ["status", "complete", "shipDate", "quantity", "allowBackwards"]],
];

/** Each with a value that is accepted, so that a wrong member stands beside right ones. */
const RIGHT_VALUES: Readonly<Record<string, string>> = {
  name: '"fuzz"',
  plan: '"pro"',
  hint: '"abcd"',
  seconds: "1",
  reason: '"fuzz"',
  requestsPerMinute: "300",
  requestsPerDay: "10000",
  status: '"pending"',
  graceSeconds: "60",
  days: "2",
  disabled: "false",
};

const QUERIES: readonly (readonly [path: string, parameters: readonly string[]])[] = [
  [
    "/keys",
    ["plan", "status", "search", "expiringBefore", "unusedSince", "sort", "direction", "after", "limit"],
  ],
  ["/keys/ID/usage", ["from", "to", "by", "format"]],
  ["/usage", ["from", "to", "by", "key", "owner", "plan", "sort", "direction", "limit", "after", "format"]],
  ["/bans", ["state", "key", "after", "limit"]],
  ["/alerts", ["state", "after", "limit"]],
  ["/plans", ["x"]],
  ["/orders", ["status", "petId", "after", "limit"]],
  ["/orders/cancelled", ["before", "limit"]],
  ["/audit", ["object", "before", "limit"]],
];

const RIGHT_PARAMETERS = [
  "pro",
  "active",
  "name",
  "asc",
  "desc",
  "expiry",
  "1",
  "500",
  "live",
  "all",
  "csv",
  "hour",
  "owner",
  "percent",
  "2026-11-19",
];

const CALLS = [
  ["GET", "/keys/ID"],
  ["DELETE", "/keys/ID"],
  ["DELETE", "/keys/ID/ban"],
  ["DELETE", "/keys/ID/secrets/0123456789abcdef"],
  ["GET", "/orders/ORDER"],
  ["DELETE", "/orders/ORDER"],
  ["GET", "/plans/ID"],
] as const;

export const ADMIN_KINDS: Readonly<Record<string, Make>> = {
  "admin: body": (random, target) => withJson(random, target, bodyText),
  "admin: body, one wrong member": (random, target) => withJson(random, target, nearlyRight),
  "admin: JSON bomb": (random, target) => withJson(random, target, bomb),

  "admin: body, wrong framing": (random, target) => {
    const request = withJson(random, target, nearlyRight);
    const end = random.below(request.body.length);
    return { ...request, body: request.body.slice(0, end), ending: random.pick(["ended", "cut", "stalled"]) };
  },

  "admin: body, chunked": (random, target) => {
    const { body, ...request } = withJson(random, target, bodyText);
    const headers = [
      ...request.headers.filter((line) => !/^Content-Length/.test(line)),
      "Transfer-Encoding: chunked",
    ];
    return { ...request, headers, body: chunked(random, body), ending: "ended" };
  },

  "admin: body, not UTF-8": (random, target) => {
    const { body, headers, ...request } = random.pick([
      () => withJson(random, target, nearlyRight),
      () => loadOf(random, target, { headers: [], body: orders(random, target) }),
    ])();
    const at = random.below(body.length + 1);
    const wrong = withLength(`${body.slice(0, at)}${random.pick(NOT_UTF8)}${body.slice(at)}`);
    const others = headers.filter((line) => !line.startsWith("Content-Length"));
    return { ...request, headers: [...others, ...wrong.headers], body: wrong.body };
  },

  "admin: name of the operator": (random, target) => {
    const text = random.pick(TEXTS).replaceAll(/[\r\n\0]/g, "");
    const name = random.pick([
      utf8(text),
      `UTF-8''${encodeURIComponent(text.toWellFormed())}`,
      `UTF-8''${random.pick(["%", "%ff", "%ED%A0%80", "%00", "%0D%0Ax"])}`,
      random.pick(NOT_UTF8),
    ]);
    const request = signed(target, "PATCH /admin/plans/pro HTTP/1.1");
    const { headers, body } = withLength('{"requestsPerDay":10000}');
    return { ...request, headers: [...request.headers, `X-Operator: ${name}`, ...headers], body };
  },

  "admin: fetch": (random, target) => ({ ...withJson(random, target, bodyText), isFetch: true }),

  "admin: query": (random, target) => {
    const [path, parameters] = random.pick(QUERIES);
    const query = random.some(4, () => `${random.pick(parameters)}=${queryValue(random)}`);
    return signed(target, `GET /admin${withIds(random, target, path)}?${query.join("&")} HTTP/1.1`);
  },

  "admin: path": (random, target) => {
    const [method, path] = random.pick(CALLS);
    const id = () => encodeURIComponent(random.pick(TEXTS).toWellFormed()) || "x";
    return signed(target, `${method} /admin${path.replace(/ID|ORDER/, id)} HTTP/1.1`);
  },

  "admin: load": (random, target) => loadOf(random, target, withLength(orders(random, target))),

  "admin: load, cut": (random, target) => {
    const body = orders(random, target);
    const headers = [`Content-Length: ${body.length + 1 + random.below(100)}`];
    const ending = random.pick(["ended", "cut", "stalled"] as const);
    return { ...loadOf(random, target, { headers, body }), ending };
  },

  "admin: wrong token": (random, target) => ({
    ...signed(
      target,
      `${random.pick(["GET", "POST", "DELETE"])} /admin/keys/${random.pick(target.keyIds)} HTTP/1.1`,
    ),
    headers: ["Host: localhost", anyAddress(random), ...random.pick(wrongTokens(target))],
    ending: "ended",
  }),
};

function wrongTokens({ adminToken, key }: Target): string[][] {
  return [
    [],
    [`Authorization: Bearer ${key}`],
    [`Authorization: Bearer ${adminToken.slice(0, -1)}`],
    [`Authorization: Bearer ${adminToken}x`],
    [`Authorization: Bearer ${adminToken} x`],
    [`Authorization: Bearer ${adminToken.toUpperCase()}`],
    [`Authorization: Bearer ${adminToken}`, `Authorization: Bearer ${adminToken}`],
    [`Authorization: Basic ${Buffer.from(`x:${adminToken}`).toString("base64")}`],
    ["Cf-Access-Jwt-Assertion: x.y.z"],
    [`Cookie: CF_Authorization=${adminToken}`],
  ];
}

function signed({ adminToken }: Target, requestLine: string): Omit<Input, "kind"> {
  const headers = ["Host: localhost", `Authorization: Bearer ${adminToken}`];
  return { requestLine, headers, body: "", ending: "complete" };
}

type MakeText = (random: Random, members: readonly string[]) => string;

function withJson(random: Random, target: Target, text: MakeText): Omit<Input, "kind"> {
  const [method, path, members] = random.pick(BODIES);
  const { headers, body } = withLength(utf8(text(random, members)));
  const type = random.pick([
    "application/json",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "é",
    "",
  ]);
  const request = signed(target, `${method} /admin${withIds(random, target, path)} HTTP/1.1`);
  return { ...request, headers: [...request.headers, `Content-Type: ${type}`, ...headers], body };
}

function withIds(random: Random, { keyIds, orderIds }: Target, path: string): string {
  return path
    .replace("ID", random.pick([...keyIds, "key_none"]))
    .replace("ORDER", random.pick([...orderIds, "-5"]));
}

function bodyText(random: Random, members: readonly string[]): string {
  if (random.chance(0.1))
    return random.pick([
      "",
      " ",
      "{",
      "nul",
      "[]",
      '"x"',
      "1",
      "{}{}",
      "\ufeff{}",
      "\xff\xfe",
      '{"a":1,}',
      "{'a':1}",
    ]);
  const names = [...members, "__proto__", "constructor", "prototype", "toString", "x"];
  const parts = random.some(6, () => `${JSON.stringify(random.pick(names))}:${value(random)}`);
  return `{${parts.join(",")}}`;
}

/** All members right but one, so that a check of that one alone refuses it. */
function nearlyRight(random: Random, members: readonly string[]): string {
  const wrong = random.pick(members);
  const right = members.filter((name) => name !== wrong && name in RIGHT_VALUES);
  const parts = right.map((name) => `"${name}":${RIGHT_VALUES[name]}`);
  return `{${[...parts, `"${wrong}":${value(random)}`].join(",")}}`;
}

function bomb(random: Random, members: readonly string[]): string {
  const depth = random.below(30_000);
  return random.pick([
    () => "[".repeat(depth),
    () => `${"[".repeat(depth)}${"]".repeat(depth)}`,
    () => `{"${random.pick(members)}":${'{"a":'.repeat(depth / 3)}1${"}".repeat(depth / 3)}}`,
    () => `{${Array.from({ length: depth / 10 }, (_, i) => `"x${i}":${i}`).join(",")}}`,
    () => `{"${random.pick(members)}":"${"a".repeat(depth * 3)}"}`,
    () => `{"${random.pick(members)}":${"9".repeat(depth)}}`,
    () => `{"${"n".repeat(depth)}":1}`,
    () => `{"name":"x","name":${value(random)}}`,
    () => `{"name":"${"\\u0000".repeat(depth / 10)}"}`,
  ])();
}

function value(random: Random): string {
  return random.pick([
    () => JSON.stringify(random.pick(TEXTS)),
    () => `"${random.pick(TEXTS).replaceAll(/["\\]/g, "")}"`,
    () => random.pick(NUMBERS),
    () => random.pick(LITERALS),
    () => JSON.stringify(random.bytes(random.below(20))),
  ])();
}

/** Each value also as a cursor: base64url of JSON, as the service writes it. */
function queryValue(random: Random): string {
  return random.pick([
    () => encodeURIComponent(random.pick(TEXTS).toWellFormed()),
    () => encodeURIComponent(random.pick(NUMBERS)),
    () => random.pick(RIGHT_PARAMETERS),
    () => random.pick(["%", "%zz", "%c0%af", "%ff", "%00"]),
    () => Buffer.from(`["${random.pick(ORDERS)}",${value(random)},${value(random)}]`).toString("base64url"),
  ])();
}

/** Of lists, as their cursors name them. */
const ORDERS = [
  "created asc",
  "name asc",
  "owner desc",
  "expiry asc",
  "start",
  "end",
  "past end",
  "usage of 2026-11-19 by admitted",
];

function loadOf(
  random: Random,
  target: Target,
  { headers, body }: { headers: readonly string[]; body: string },
): Omit<Input, "kind"> {
  const query = random.pick([
    "",
    "?dry-run",
    "?restore-cancelled",
    "?allow-backwards",
    "?file=a.csv",
    "?file=%E2%80%AE",
    "?dry-run=x",
  ]);
  const request = signed(target, `PUT /admin/orders${query} HTTP/1.1`);
  return { ...request, headers: [...request.headers, ...headers], body };
}

/** An array of orders. Half of them have a wrong one, or no end. */
function orders(random: Random, { orderIds }: Target): string {
  const right = () => `{"id":${random.pick([...orderIds, ...NUMBERS])},"petId":${random.below(3)}}`;
  const wrong = () =>
    random.pick([
      () => `{"id":1,"${random.pick(["petId", "quantity", "x", "__proto__"])}":${value(random)}}`,
      () => `{"id":${value(random)}}`,
      () => `{"id":1,"shipDate":${value(random)},"status":${value(random)}}`,
      () => value(random),
      () => random.bytes(random.below(30)),
      () => "[".repeat(random.below(1_000)),
      () => "",
    ])();
  if (random.chance(0.5)) return `[${[...new Set(random.some(3, right))].join(",")}]`;
  const bytes = utf8(`[${random.some(30, wrong).join(",")}${random.pick(["]", "", "]x"])}`);
  return random.chance(0.1) ? bytes.slice(0, random.below(bytes.length + 1)) : bytes;
}

function chunked(random: Random, body: string): string {
  const chunks: string[] = [];
  for (let start = 0; start < body.length; ) {
    const size = 1 + random.below(body.length);
    const part = body.slice(start, start + size);
    chunks.push(`${part.length.toString(16)}${random.pick(["", ";x=y"])}\r\n${part}\r\n`);
    start += size;
  }
  return `${chunks.join("")}${random.pick(["0\r\n\r\n", "0\r\nTrailer: x\r\n\r\n", "", "-1\r\n"])}`;
}
