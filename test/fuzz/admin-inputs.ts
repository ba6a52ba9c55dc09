/**
 * Requests of operators with the admin token, or nearly with it: bodies, queries, paths and loads. The calls
 * and their members are those of the reference, so that a new call needs nothing here.
 */
import fc from "fast-check";
import { type DocumentedCall, readReference } from "../../src/cli/calls.ts";
import {
  anyAddress,
  bytes,
  type Kinds,
  long,
  type Request,
  request,
  type Target,
  utf8,
  withBody,
  word,
} from "./input.ts";

const text = fc.oneof(
  word(
    "' \" ` \\ % _ ?1 $1 :id __proto__ constructor toString null é 😀 9223372036854775808 =1+1 ＝1+1",
    "2026-11-21 2026-02-30 30m -1h 1.5h 99999d 9999-12-31T23:59:59Z -000001-01-01T00:00:00Z",
    "2026-11-21T10:00:60Z 2016-12-31T23:59:60Z 2026-11-21T24:00:00Z 2026-11-21T10:00:00+0200",
    "a@b.example zoë@müller.example a@[192.0.2.1] a@b..example a@b@c @ <script>alert(1)</script>",
  ),
  fc.constantFrom("", " ", "\0", "a\0b", "\u0007\u001b[2J", "'; drop table orders; --", "' or 1=1 --"),
  fc.constantFrom("2026-11-21 10:00:00-00:00", '"a b"@b.example', "a".repeat(101)),
  // texts that cannot be seen, that changed on their way, that have two forms, or that are no Unicode
  word("\u200b \u3164 \u0301 \u2800 \u{e0041} \ufffd \ufeff \uffff a\u2028b a\u2066b \u202eabc e\u0308"),
  word("👩\u200d💻 \ud800 \udfff\ud800"),
  fc.string({ unit: "binary", maxLength: 20 }),
);

/** Not UTF-8, wherever they stand: Latin-1, a surrogate, too long a form, beyond the last character. */
const notUtf8 = fc.constantFrom("\xff", "\x80", "\xebx", "\xed\xa0\x80", "\xc0\xaf", "\xf4\x90\x80\x80");

const number = word(
  "0 -0 -1 1 1.5 1e3 1E400 -1e400 1e-400 00 +1 .5 0x10 NaN Infinity 2147483648 4294967296 9007199254740991",
  "9007199254740992 9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809",
  "99999999999999999999999999",
);

const literal = word('true false null {} [] [[]] {"a":1} undefined');

/** A value as JSON, and nearly. */
const value = fc.oneof(
  text.map((each) => JSON.stringify(each)),
  text.map((each) => `"${each.replaceAll(/["\\]/g, "")}"`),
  number,
  literal,
  fc.json({ maxDepth: 3 }),
);

const { calls } = readReference();
const call = fc.constantFrom(...calls);
const callWithBody = fc.constantFrom(...calls.filter(({ body }) => body.length > 0));
const callWithQuery = fc.constantFrom(
  ...calls.filter(({ query, line }) => query.length > 0 && line.startsWith("GET")),
);

const ending = fc.constantFrom("ended", "cut", "stalled");

export function adminKinds(target: Target): Kinds {
  const signed = `Authorization: Bearer ${target.adminToken}`;
  const lineOf = ({ line }: DocumentedCall, id: fc.Arbitrary<string> = idOf(target, line)) =>
    id.map((each) => `${line.replace(" ", " /admin").replaceAll(/\{\w+\}/g, each)} HTTP/1.1`);

  /** A call of the reference with a body that `bodyOf` makes of it. */
  const withJson = (bodyOf: (call: DocumentedCall) => fc.Arbitrary<string>) =>
    callWithBody.chain((each) =>
      fc
        .tuple(lineOf(each), bodyOf(each), contentType)
        .map(([line, body, type]) => withBody(line, [signed, `Content-Type: ${type}`], utf8(body))),
    );
  const json = withJson(bodyText);
  const nearlyJson = withJson(nearlyRight);
  const rightJson = withJson(({ example }) => fc.constant(JSON.stringify(example ?? {})));

  const load = fc
    .tuple(word(" ?dry-run ?restore-cancelled ?allow-backwards ?file=%E2%80%AE ?dry-run=x"), orders(target))
    .map(([query, body]) => withBody(`PUT /admin/orders${query} HTTP/1.1`, [signed], body));

  return {
    "admin: body": json,
    "admin: body, one wrong member": nearlyJson,
    "admin: JSON bomb": withJson(bomb),
    "admin: body, wrong framing": fc
      .tuple(nearlyJson, share, ending)
      .map(([each, end, ending]) => ({ ...each, body: each.body.slice(0, each.body.length * end), ending })),
    "admin: body, chunked": fc.tuple(json, chunking).map(([each, { sizes, extension, end }]) => ({
      ...each,
      headers: [...withoutLength(each), "Transfer-Encoding: chunked"],
      body: `${chunksOf(each.body, sizes, extension)}${end}`,
      ending: "ended" as const,
    })),
    "admin: body, not UTF-8": fc
      .tuple(fc.oneof(rightJson, load), share, notUtf8)
      .map(([{ requestLine, headers, body }, at, wrong]) => {
        const before = body.slice(0, body.length * at);
        const others = headers.filter((line) => !/^(?:Content-Length|Host)/.test(line));
        return withBody(requestLine, others, `${before}${wrong}${body.slice(before.length)}`);
      }),
    "admin: name of the operator": fc
      .oneof(
        text.map((name) => utf8(name)),
        text.map((name) => `UTF-8''${encodeURIComponent(name.toWellFormed())}`),
        fc.constantFrom("%", "%ff", "%ED%A0%80", "%00", "%0D%0Ax").map((name) => `UTF-8''${name}`),
        notUtf8,
      )
      .map((name) => `X-Operator: ${name.replaceAll(/[\r\n\0]/g, "")}`)
      .map((header) =>
        withBody("PATCH /admin/plans/pro HTTP/1.1", [signed, header], '{"requestsPerDay":10000}'),
      ),
    "admin: query": callWithQuery.chain((each) =>
      fc
        .tuple(lineOf(each), fc.array(parameterOf(each), { maxLength: 4 }))
        .map(([line, query]) => request(line.replace(" HTTP", `?${query.join("&")} HTTP`), [signed])),
    ),
    "admin: path": call.chain((each) =>
      lineOf(
        each,
        text.map((id) => encodeURIComponent(id.toWellFormed()) || "x"),
      ).map((line) => request(line, [signed])),
    ),
    "admin: load": load,
    "admin: load, cut": fc
      .tuple(load, fc.integer({ min: 1, max: 100 }), ending)
      .map(([each, more, ending]) => ({
        ...each,
        headers: [...withoutLength(each), `Content-Length: ${each.body.length + more}`],
        ending,
      })),
    "admin: wrong token": fc
      .tuple(
        call.chain((each) => lineOf(each)),
        anyAddress,
        fc.constantFrom(...wrongTokens(target)),
      )
      .map(([line, address, headers]) => request(line, [address, ...headers], { ending: "ended" })),
  };
}

function wrongTokens({ adminToken, key }: Target): string[][] {
  const bearers = [
    key,
    adminToken.slice(0, -1),
    `${adminToken}x`,
    `${adminToken} x`,
    adminToken.toUpperCase(),
  ];
  return [
    [],
    ...bearers.map((each) => [`Authorization: Bearer ${each}`]),
    [`Authorization: Bearer ${adminToken}`, `Authorization: Bearer ${adminToken}`],
    [`Authorization: Basic ${Buffer.from(`x:${adminToken}`).toString("base64")}`],
    ["Cf-Access-Jwt-Assertion: x.y.z"],
    [`Cookie: CF_Authorization=${adminToken}`],
  ];
}

/** An id that exists, or not, for the path. A plan is always the same one, whose limits no key here has. */
function idOf({ keyIds, orderIds }: Target, line: string): fc.Arbitrary<string> {
  if (line.includes("/plans")) return fc.constant("pro");
  if (line.includes("/customers")) return fc.constantFrom("Pet%20Shop", "a", "%3D1%2B1", "cus_none");
  return line.includes("/orders")
    ? fc.constantFrom(...orderIds, "-5")
    : fc.constantFrom(...keyIds, "key_none");
}

const contentType = fc.oneof(
  word("application/json text/plain application/x-www-form-urlencoded multipart/form-data é"),
  fc.constant(""),
);

/** How far into a text: 0 is its start, 1 its end. */
const share = fc.double({ min: 0, max: 1, noNaN: true });

function bodyText({ body }: DocumentedCall): fc.Arbitrary<string> {
  const names = [...body.map(({ name }) => name), ..."__proto__ constructor prototype toString x".split(" ")];
  const member = fc.tuple(fc.constantFrom(...names), value).map(([name, each]) => `"${name}":${each}`);
  return fc.oneof(
    { weight: 9, arbitrary: fc.array(member, { maxLength: 6 }).map((members) => `{${members.join()}}`) },
    fc.constantFrom("", " ", "{", "nul", "[]", '"x"', "1", "{}{}", "\ufeff{}", "ÿþ", '{"a":1,}', "{'a':1}"),
  );
}

/** The example of the reference with one member replaced, so that only this member's check refuses it. */
function nearlyRight({ body, example }: DocumentedCall): fc.Arbitrary<string> {
  return fc.tuple(fc.constantFrom(...body), value).map(([{ name }, wrong]) => {
    const right = Object.entries(example ?? {}).filter(([member]) => member !== name);
    const members = right.map(([member, each]) => `"${member}":${JSON.stringify(each)}`);
    return `{${[...members, `"${name}":${wrong}`].join()}}`;
  });
}

function bomb({ body }: DocumentedCall): fc.Arbitrary<string> {
  const depth = fc.nat(30_000);
  return fc
    .tuple(fc.constantFrom(...body), depth)
    .chain(([{ name }, deep]) =>
      fc.constantFrom(
        "[".repeat(deep),
        `${"[".repeat(deep)}${"]".repeat(deep)}`,
        `{"${name}":${'{"a":'.repeat(deep / 3)}1${"}".repeat(deep / 3)}}`,
        `{${Array.from({ length: deep / 10 }, (_, i) => `"x${i}":${i}`).join(",")}}`,
        `{"${name}":"${"a".repeat(deep * 3)}"}`,
        `{"${name}":${"9".repeat(deep)}}`,
        `{"${"n".repeat(deep)}":1}`,
        `{"${name}":"x","${name}":"y"}`,
        `{"${name}":"${"\\u0000".repeat(deep / 10)}"}`,
      ),
    );
}

/** The orders of lists, as their cursors name them. */
const LIST_ORDERS = ["created asc", "name asc", "customer desc", "expiry asc", "start", "end", "past end"];

/** Each value also as a cursor: base64url of JSON, as the service writes it. */
function parameterOf({ query }: DocumentedCall): fc.Arbitrary<string> {
  const right = ["pro", "active", "1", "500", "2026-11-19", ...query.flatMap(({ choices }) => choices)];
  const values = fc.oneof(
    text.map((each) => encodeURIComponent(each.toWellFormed())),
    number.map(encodeURIComponent),
    fc.constantFrom(...right),
    fc.constantFrom("%", "%zz", "%c0%af", "%ff", "%00"),
    fc
      .tuple(fc.constantFrom(...LIST_ORDERS), value, value)
      .map(([order, ...keys]) => Buffer.from(`["${order}",${keys}]`).toString("base64url")),
  );
  return fc.tuple(fc.constantFrom(...query), values).map(([{ name }, each]) => `${name}=${each}`);
}

/** An array of orders. Half of them have a wrong one, or no end. */
function orders({ orderIds }: Target): fc.Arbitrary<string> {
  const right = fc
    .tuple(fc.constantFrom(...orderIds, "7", "8"), fc.nat(2))
    .map(([id, petId]) => `{"id":${id},"petId":${petId}}`);
  const wrong = fc.oneof(
    fc
      .tuple(fc.constantFrom("petId", "quantity", "x", "__proto__"), value)
      .map(([name, each]) => `{"id":1,"${name}":${each}}`),
    value.map((each) => `{"id":${each}}`),
    fc.tuple(value, value).map(([date, status]) => `{"id":1,"shipDate":${date},"status":${status}}`),
    value,
    bytes(0, 30),
    long("[", 1_000),
  );
  const listOf = (members: readonly string[], end = "]") => `[${members.join()}${end}`;
  return fc
    .oneof(
      fc.uniqueArray(right, { maxLength: 3 }).map((members) => listOf(members)),
      fc
        .tuple(fc.array(wrong, { maxLength: 30 }), fc.constantFrom("]", "", "]x"))
        .map(([each, end]) => listOf(each, end)),
    )
    .map(utf8);
}

function withoutLength({ headers }: Request): string[] {
  return headers.filter((line) => !line.startsWith("Content-Length"));
}

const chunking = fc.record({
  sizes: fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 20 }),
  extension: fc.constantFrom("", ";x=y"),
  end: fc.constantFrom("0\r\n\r\n", "0\r\nTrailer: x\r\n\r\n", "", "-1\r\n"),
});

/** The last chunk has the rest. */
function chunksOf(body: string, sizes: readonly number[], extension: string): string {
  let rest = body;
  const parts = [
    ...sizes.map((size) => {
      const part = rest.slice(0, size);
      rest = rest.slice(size);
      return part;
    }),
    rest,
  ];
  return parts
    .filter((part) => part !== "")
    .map((part) => `${part.length.toString(16)}${extension}\r\n${part}\r\n`)
    .join("");
}
