/**
 * A walk over HTTP through everything that a client can see: specification by section, the states of a key
 * and of an order, failures of D1 and of the limiter. `send` checks every response with
 * test/support/check-response.ts, and its log line.
 */
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { INSTRUCTION_HEADER, type Instruction } from "../faults/worker/control.ts";
import { type CheckResponse, checkResponses, endOf } from "../support/check-response.ts";
import { runs } from "../support/deep.ts";
import { inventKey, mintKey } from "../support/mint.ts";
import { type LogLine, RequestLog } from "../support/request-log.ts";
import { ADMIN_TOKEN, startWorkerd, type Workerd } from "../support/workerd.ts";

const LIST = "/v1/store/orders";
const PET = "/v1/pets/1";
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const TRIPLE = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

let service: Workerd;
let check: CheckResponse;
const log = new RequestLog([ADMIN_TOKEN]);
/** The service's clock. Each test has an hour of its own. */
let now = Date.UTC(2029, 5, 6);

beforeAll(async () => {
  const entry = join(import.meta.dirname, "../faults/worker/index.ts");
  service = await startWorkerd({ entry, vars: { LOGS: "1" }, onLog: (line) => log.add(line) });
  check = checkResponses(await (await fetch(new URL("/openapi.json", service.url))).json());
});
beforeEach(async () => {
  now = endOf(HOUR_MS, now) + 10_500;
  await run("delete from orders");
});
afterAll(async () => {
  await log.check();
  await service.close();
});

type Sent = Partial<Pick<Instruction, "d1" | "policies" | "call" | "object" | "isEarlier" | "vars">> & {
  readonly method?: string;
  readonly path?: string;
  readonly authorization?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

type Answer = {
  /** The status, and the code of an error. */
  readonly outcome: string;
  /** The three X-RateLimit headers: limit, remaining and what ends at Reset. */
  readonly shown: string;
  readonly headers: Headers;
  readonly text: string;
  readonly line: LogLine;
};

async function send(sent: Sent): Promise<Answer> {
  const { method = "GET", path = LIST, authorization, headers = {}, body, ...faults } = sent;
  const instruction: Instruction = { nowMs: now, policies: "none", ...faults };
  const response = await fetch(new URL(path, service.url), {
    method,
    headers: {
      ...headers,
      ...(authorization === undefined ? {} : { Authorization: authorization }),
      [INSTRUCTION_HEADER]: JSON.stringify(instruction),
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  check({ method, path, response, body: text, sentAtMs: now, readAtMs: now });
  log.expect({ method, response, secret: authorization?.replace(/^\w+ +/, "") ?? null });
  const line = await log.lineOf(response);
  const shown = shownBy(response.headers);
  // The line has the header's figure if the limiter decided.
  expect(line.remaining).toBe(line.verdict === undefined ? undefined : Number(shown.split(" ")[1]));
  const code = response.status >= 400 && text !== "" ? ` ${JSON.parse(text).code}` : "";
  return { outcome: `${response.status}${code}`, shown, headers: response.headers, text, line };
}

/** workerd cancels a request whose connection is reset, and none whose client has only closed its side. */
async function hangUp({ path, authorization, ...faults }: Sent, afterMs: number): Promise<void> {
  const instruction: Instruction = { nowMs: now, ...faults };
  const headers = { Authorization: authorization, [INSTRUCTION_HEADER]: JSON.stringify(instruction) };
  const sent = request(`${service.url.origin}${path}`, { headers, agent: false }, (response) =>
    response.resume(),
  );
  setTimeout(() => sent.socket?.resetAndDestroy(), afterMs);
  await new Promise((done) =>
    sent
      .on("error", () => undefined)
      .on("close", done)
      .end(),
  );
}

/** Sends the request and compares the outcome, and what the X-RateLimit headers show. */
async function expectAnswer(sent: Sent, outcome: string, shown?: string): Promise<Answer> {
  const answer = await send(sent);
  expect(answer).toMatchObject({ outcome, ...(shown === undefined ? {} : { shown }) });
  return answer;
}

function shownBy(headers: Headers): string {
  const [limit, remaining, reset] = TRIPLE.map((name) => headers.get(name));
  const atMs = Number(reset) * 1000;
  if (atMs === endOf(MINUTE_MS, now)) return `${limit} ${remaining} minute`;
  return `${limit} ${remaining} ${atMs === endOf(DAY_MS, now) ? "day" : iso(atMs)}`;
}

/** A call of the admin API, whose responses are checked, too. */
async function operate(method: string, path: string, body?: object): Promise<{ id: string; key: string }> {
  const answer = await send({
    method,
    path: `/admin${path}`,
    authorization: `Bearer ${ADMIN_TOKEN}`,
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.outcome.startsWith("2")) throw new Error(`${method} ${path}: ${answer.text}`);
  return JSON.parse(answer.text);
}

type Key = { readonly id: string; readonly authorization: string };

/** Free, or with limits of its own. */
async function newKey(fields?: object): Promise<Key> {
  const { id, key } = fields
    ? await operate("POST", "/keys", { name: "a key", plan: "free", ...fields })
    : await service.createKey({ plan: "free" });
  return { id, authorization: `Bearer ${key}` };
}

let lastOrderId = 1_000;

async function newOrder(columns: Readonly<Record<string, string | number>> = {}): Promise<string> {
  const id = String(++lastOrderId);
  await insert({ id, ...columns });
  return id;
}

async function insert(columns: Readonly<Record<string, string | number>>): Promise<void> {
  const names = Object.keys(columns);
  const sql = `insert into orders (${names.join()}) values (${names.map(() => "?").join()})`;
  await run(sql, ...Object.values(columns));
}

async function run(sql: string, ...values: (string | number)[]): Promise<unknown[]> {
  return (
    await service.db
      .prepare(sql)
      .bind(...values)
      .all()
  ).results;
}

/** What a key that is admitted gets, of each operation and beside them. */
const OPERATIONS: readonly { method: string; path: string; status?: string; outcome: string }[] = [
  { method: "GET", path: LIST, outcome: "200" },
  { method: "HEAD", path: LIST, outcome: "200" },
  { method: "DELETE", path: LIST, status: "pending", outcome: "204" },
  { method: "DELETE", path: LIST, status: "shipped", outcome: "409 order_already_shipped" },
  { method: "DELETE", path: LIST, status: "delivered", outcome: "409 order_not_cancellable" },
  { method: "DELETE", path: `${LIST}/1`, outcome: "404 order_not_found" },
  { method: "GET", path: PET, outcome: "404 not_found" },
  { method: "PUT", path: LIST, outcome: "405 method_not_allowed" },
  { method: "GET", path: "/v1/nothing", outcome: "404 not_found" },
];

/** A read and a change: what is decided before the route, one test of each kind shows for all. */
const READ_AND_CHANGE = OPERATIONS.filter(
  ({ method, outcome }) => method !== "HEAD" && ["200", "204"].includes(outcome),
);

/** Sends each operation, with orders of its own. `left`: how many of them are left. */
async function walk(sent: Sent, operations = OPERATIONS): Promise<{ answers: Answer[]; left: number }> {
  const orders = operations.map(({ status }) => ({ id: ++lastOrderId, status: status ?? "pending" }));
  const values = orders.map(({ id, status }) => `(${id}, '${status}')`);
  await run(`insert into orders (id, status) values ${values.join()}`);
  const answers: Answer[] = [];
  for (const [i, { method, path, status }] of operations.entries()) {
    answers.push(
      await send({ ...sent, method, path: status === undefined ? path : `${path}/${orders[i]?.id}` }),
    );
  }
  const ids = orders.map(({ id }) => id).join();
  return { answers, left: (await run(`select 1 from orders where id in (${ids})`)).length };
}

/** HEAD has no body, and so no code. */
function codeFor(method: string, outcome: string): string {
  return method === "HEAD" ? outcome.slice(0, 3) : outcome;
}

/** Each of the operations is refused, and no order is changed. */
async function expectRefused(
  sent: Sent,
  outcome: string,
  shown: string,
  operations: typeof OPERATIONS = READ_AND_CHANGE,
): Promise<Answer[]> {
  const { answers, left } = await walk(sent, operations);
  for (const [i, answer] of answers.entries()) {
    const { method = "", path } = operations[i] ?? {};
    expect(answer, `${method} ${path}`).toMatchObject({ outcome: codeFor(method, outcome), shown });
  }
  expect(left).toBe(operations.length);
  return answers;
}

/** The operations are carried out, and each of them counts once. */
async function expectAdmitted(
  sent: Sent,
  used = 0,
  operations: typeof OPERATIONS = READ_AND_CHANGE,
): Promise<void> {
  const { answers, left } = await walk(sent, operations);
  expect(answers.map(({ outcome, shown }) => `${outcome}, ${shown}`)).toEqual(
    operations.map(({ outcome }, i) => `${outcome}, 60 ${59 - used - i} minute`),
  );
  for (const { line } of answers)
    expect(line).toMatchObject({ verdict: "admitted", keyId: expect.stringMatching(/^key_/) });
  expect(left).toBe(operations.length - 1);
}

/** What the X-RateLimit headers show where no limit of a key was applied. */
const NO_QUOTA = "0 0 minute";

/** A refused credential, with its challenge: RFC 6750 has no error code where there was no credential. */
const NO_CREDENTIAL = 'Bearer realm="store-orders"';
const INVALID = `${NO_CREDENTIAL}, error="invalid_token"`;

type Make = (key: Key) => Promise<Sent> | Sent;

const secretOf = ({ authorization }: Key) => authorization.slice("Bearer ".length);
const as = (authorization: string): Sent => ({ authorization });
const mistyped = (key: string) => key.replace(/.$/, (last) => (last === "0" ? "1" : "0"));

const REFUSED: readonly [of: string, reason: string, make: Make][] = [
  ["no credential", "missing", () => ({})],
  ["an empty header", "missing", () => as("")],
  ["the scheme alone", "missing", () => as("Bearer")],
  ["a key without a scheme", "missing", (key) => as(secretOf(key))],
  ["the scheme Basic", "missing", (key) => as(`Basic ${btoa(`:${secretOf(key)}`)}`)],
  ["another scheme", "missing", (key) => as(`Token ${secretOf(key)}`)],
  ["a key in another header", "missing", (key) => ({ headers: { "X-API-Key": secretOf(key) } })],
  ["a key of another shape", "malformed", () => as("Bearer abc")],
  ["two keys", "malformed", (key) => as(`${key.authorization} ${secretOf(key)}`)],
  ["a very long key", "malformed", () => as(`Bearer sok_${"a".repeat(5_000)}`)],
  ["a mistyped key", "invented", (key) => as(mistyped(key.authorization))],
  ["an invented key", "invented", async () => as(`Bearer ${await inventKey()}`)],
  ["a key that was never issued", "no_such_key", async () => as(`Bearer ${(await mintKey()).key}`)],
  ["another secret of a key", "wrong_credential", async (key) => as(`Bearer ${(await mintKey(key.id)).key}`)],
  [
    "another secret of a revoked key",
    "wrong_credential",
    async (key) => changed(key, "DELETE", "").then(async () => as(`Bearer ${(await mintKey(key.id)).key}`)),
  ],
  ["a revoked key", "revoked", (key) => changed(key, "DELETE", "")],
  ["a disabled key", "disabled", (key) => changed(key, "PATCH", "", { disabled: true })],
  ["a rotated key's old secret", "wrong_credential", (key) => changed(key, "POST", "/rotate")],
  [
    "a rotated key's old secret after its grace",
    "wrong_credential",
    async (key) => later(1_500, await changed(key, "POST", "/rotate", { graceSeconds: 1 })),
  ],
  ["a key at its expiry", "expired_credential", expiredKey],
];

/** The key after an operator's change. It was used before, so that the isolate knows it. */
async function changed(key: Key, method: string, call: string, body?: object): Promise<Sent> {
  await expectAnswer(key, "200");
  await operate(method, `/keys/${key.id}${call}`, body);
  return key;
}

/** At the millisecond of its expiry. It was used before. */
async function expiredKey(): Promise<Sent> {
  const key = await newKey({ expiresAt: iso(now + 1_500) });
  await expectAnswer(key, "200");
  return later(1_500, key);
}

function later(ms: number, sent: Sent): Sent {
  now += ms;
  return sent;
}

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}

describe("1 Every request needs authentication. 4.1, 4.2, 5.3, 7.1: credential missing or invalid", () => {
  it.for(REFUSED)("%s is the same 401 everywhere, changes nothing, and is logged as %s", async (row) => {
    const [, reason, make] = row;
    const isFirst = REFUSED.find((each) => each[1] === reason) === row;
    const operations = isFirst ? OPERATIONS : READ_AND_CHANGE;
    const sent = await make(await newKey());
    for (const answer of await expectRefused(sent, "401 unauthorized", NO_QUOTA, operations)) {
      const { headers, text, line } = answer;
      expect(headers.get("WWW-Authenticate")).toBe(reason === "missing" ? NO_CREDENTIAL : INVALID);
      expect(text).toMatch(
        reason === "missing"
          ? /^$|Authorization: Bearer KEY/
          : /^$|^\{"code":"unauthorized","message":"The API key is invalid.","status":401\}$/,
      );
      expect(line).toMatchObject({ reason, network: expect.any(String) });
      const isKnown = !["missing", "malformed", "invented"].includes(reason);
      const [, id] = /sok_.(\w{12})/.exec(sent.authorization ?? "") ?? [];
      expect(line.keyId).toBe(isKnown ? `key_${id}` : undefined);
    }
  });

  it("a key in the query is no credential, and is not logged", async () => {
    const key = await newKey();
    await expectAnswer({ path: `${LIST}?api_key=${secretOf(key)}` }, "401 unauthorized");
    const path = `${LIST}/${secretOf(key)}?key=${secretOf(key)}`;
    await expectAnswer({ ...key, method: "DELETE", path }, "400 invalid_request");
  });
});

describe("5 Authentication: Authorization: Bearer <API_KEY>", () => {
  const rotate = (id: string, body?: object) => operate("POST", `/keys/${id}/rotate`, body);
  const ADMITTED: readonly [of: string, make: Make][] = [
    ["an active key", (key) => key],
    ["the scheme in lower case, and more blanks", (key) => as(`bearer   ${secretOf(key)}`)],
    ["a key just before its expiry", async () => later(1_499, await newKey({ expiresAt: iso(now + 1_500) }))],
    ["a rotated key's old secret", async (key) => rotate(key.id, { graceSeconds: 60 }).then(() => key)],
    ["a rotated key's new secret", async ({ id }) => as(`Bearer ${(await rotate(id)).key}`)],
    ["a key of another plan", () => newKey({ plan: "pro", requestsPerMinute: 60 })],
  ];

  it.for(ADMITTED)("%s is admitted to every operation, and each request counts once", async (row) => {
    const operations = row === ADMITTED[0] ? OPERATIONS : READ_AND_CHANGE;
    await expectAdmitted(await row[1](await newKey()), 0, operations);
  });

  it("5.4: a key that may only list gets 403 for every cancel, and each request counts once", async () => {
    const key = await newKey({ mayCancel: false });
    const expected = OPERATIONS.map(({ method, outcome }, i) => {
      const answer = method === "DELETE" ? "403 not_allowed" : outcome;
      return `${answer}, 60 ${59 - i} minute`;
    });
    const { answers, left } = await walk(key);
    expect(answers.map(({ outcome, shown }) => `${outcome}, ${shown}`)).toEqual(expected);
    expect(left).toBe(OPERATIONS.length);
    for (const path of [`${LIST}/x`, `${LIST}/9223372036854775808`])
      await expectAnswer({ ...key, method: "DELETE", path }, "403 not_allowed");
    await expectAnswer({ ...key, method: "PUT", path: `${LIST}/1` }, "405 method_not_allowed");
  });

  it("5.4: the right to cancel holds from the next request on, and comes after 401 and 429", async () => {
    const key = await newKey({ requestsPerMinute: 3 });
    const cancel = async () => ({ ...key, method: "DELETE", path: `${LIST}/${await newOrder()}` });
    const change = (body: object) => operate("PATCH", `/keys/${key.id}`, body);
    await expectAnswer(await cancel(), "204");
    await change({ mayCancel: false });
    await expectAnswer(await cancel(), "403 not_allowed", "3 1 minute");
    await change({ mayCancel: true });
    await expectAnswer(await cancel(), "204");
    await change({ mayCancel: false });
    await expectAnswer(await cancel(), "429 rate_limit_exceeded");
    await change({ disabled: true });
    await expectAnswer(await cancel(), "401 unauthorized");
  });
});

describe("8 Limits by plan, and 8.1 the X-RateLimit headers", () => {
  it.for([
    ["free", {}, "60 59 minute", 60, 1_000],
    ["pro", {}, "300 299 minute", 300, 10_000],
    ["business", {}, "1000 999 minute", 1_000, 100_000],
    ["enterprise", { requestsPerMinute: 47, requestsPerDay: 5_000 }, "47 46 minute", 47, 5_000],
    ["free", { requestsPerDay: 7 }, "7 6 day", 60, 7],
    ["free", { requestsPerMinute: 9, requestsPerDay: 9 }, "9 8 day", 9, 9],
  ] as const)("%s %o: the first response shows %s", async ([plan, own, shown, minute, day]) => {
    const { headers, line } = await expectAnswer(await newKey({ plan, ...own }), "200", shown);
    expect(headers.get("RateLimit-Policy")).toBe(`"minute";q=${minute};w=60, "day";q=${day};w=86400`);
    expect(line).toMatchObject({ plan, dayPercent: Math.floor(100 / day) });
  });

  it("the window with fewer requests left is shown, and a new minute does not renew the day", async () => {
    const key = await newKey({ requestsPerMinute: 3, requestsPerDay: 5 });
    for (const shown of ["3 2 minute", "3 1 minute", "3 0 minute"]) await expectAnswer(key, "200", shown);
    now = endOf(MINUTE_MS, now);
    for (const shown of ["5 1 day", "5 0 day"]) await expectAnswer(key, "200", shown);
    await expectAnswer(key, "429 rate_limit_exceeded", "5 0 day");
  });
});

describe("8.2 A request over the limit is 429, and is admitted after Retry-After", () => {
  it.for([
    ["minute", { requestsPerMinute: 1 }, "1 0 minute"],
    ["day", { requestsPerDay: 1 }, "1 0 day"],
    ["minute and the day", { requestsPerMinute: 2, requestsPerDay: 2 }, "2 0 day"],
  ] as const)("over the %s: everything is refused until the window ends", async ([which, own, shown]) => {
    const key = await newKey(own);
    while ((await send(key)).outcome === "200");
    const operations = which === "minute" ? OPERATIONS : READ_AND_CHANGE;
    const [refused] = await expectRefused(key, "429 rate_limit_exceeded", shown, operations);
    expect(refused?.line).toMatchObject({ verdict: "limited", keyId: key.id });
    await afterReset(refused, key);
  });

  it("a limit that is lowered below what was used refuses, with 0 remaining", async () => {
    const key = await newKey();
    for (let i = 0; i < 3; i++) await send(key);
    await operate("PATCH", `/keys/${key.id}`, { requestsPerMinute: 2 });
    await expectAnswer(key, "429 rate_limit_exceeded", "2 0 minute");
  });
});

/** The key is refused until a millisecond before the end of the wait, and admitted at its end. */
async function afterReset(refused: Answer | undefined, key: Key): Promise<void> {
  const resetMs = Number(refused?.headers.get("X-RateLimit-Reset")) * 1000;
  now = resetMs - 1;
  expect((await send(key)).outcome).toMatch(/^429 /);
  now = resetMs;
  await expectAnswer(key, "200");
}

describe("8.3 Repeatedly sending requests after a 429 leads to a temporary ban", () => {
  /** The key goes on every second. `warning` is its last message before the ban. */
  async function bannedForStrikes(own: object): Promise<{ key: Key; warning: string }> {
    const key = await newKey(own);
    await send(key);
    let warning = "";
    for (let seconds = 0; seconds < 30; seconds++) {
      const { outcome, text } = await send(key);
      if (outcome === "429 key_banned") return { key, warning };
      warning = JSON.parse(text).message;
      now += 1_000;
    }
    throw new Error("30 seconds after a 429 are no ban");
  }

  it("by strikes: everything is refused until the ban ends", async () => {
    const { key, warning } = await bannedForStrikes({ requestsPerMinute: 1 });
    expect(warning).toBe(
      "The limit of 1 requests per minute is used up. Retry in 30 s. 19 of the 20 seconds that lead to a ban are used.",
    );
    const ends = iso(Math.ceil(now / 1000) * 1000 + 300_000);
    const [refused] = await expectRefused(key, "429 key_banned", `1 0 ${ends}`, OPERATIONS);
    expect(refused?.line).toMatchObject({ verdict: "banned", keyId: key.id });
    await afterReset(refused, key);
  });

  it("a ban that ends before a used-up day shows the day", async () => {
    const { key } = await bannedForStrikes({ requestsPerDay: 1 });
    await expectRefused(key, "429 key_banned", "1 0 day");
  });

  it("by an operator: everything is refused until the ban ends or is lifted", async () => {
    const key = await newKey();
    const ban = () => operate("PUT", `/keys/${key.id}/ban`, { seconds: 200_000, reason: "a test" });
    await ban();
    const ends = iso(Math.floor(now / 1000) * 1000 + 200_000_000);
    const [refused] = await expectRefused(key, "429 key_banned", `60 0 ${ends}`);
    await afterReset(refused, key);
    await ban();
    await expectAnswer(key, "429 key_banned");
    await operate("DELETE", `/keys/${key.id}/ban`);
    await expectAnswer(key, "200");
  });
});

describe("2 Resources and their fields", () => {
  const DATE = "2027-02-28T23:59:59.999Z";
  it.for([
    [
      "petId, quantity and complete",
      { pet_id: 7, quantity: 2, complete: 0 },
      ',"petId":7,"quantity":2,"complete":false',
    ],
    ["shipDate is an ISO 8601 date-time", { ship_date: DATE }, `,"shipDate":"${DATE}"`],
    ["no field is required: one without a value is absent", {}, ""],
    ["petId is an int64", { pet_id: "9223372036854775807" }, ',"petId":9223372036854775807'],
    ["petId can be below zero", { pet_id: "-9223372036854775808" }, ',"petId":-9223372036854775808'],
    ["quantity has no upper bound", { quantity: "9007199254740993" }, ',"quantity":9007199254740993'],
    ["complete is a boolean", { complete: 1 }, ',"complete":true'],
    ["the status is in no response (3.2)", { status: "processing" }, ""],
  ] as const)("Order: %s", async ([, columns, members]) => {
    const id = await newOrder(columns);
    expect(`${(await send(await newKey())).text.slice(1, -1)},`).toContain(`{"id":${id}${members}},`);
  });

  it("id is an int64, exact in every digit, and the list is sorted by it", async () => {
    const [least, large, most] = ["-9223372036854775808", "9007199254740993", "9223372036854775807"] as const;
    for (const id of [most, large, least]) await insert({ id });
    const { text } = await send(await newKey());
    expect(text.startsWith(`[{"id":${least}},`)).toBe(true);
    expect(text.endsWith(`{"id":${large}},{"id":${most}}]`)).toBe(true);
  });
});

describe("3 States and transitions", () => {
  it.for(["?dryRun=true", "?=", "?%F0", "?id=1&id=2"])(
    "a query is no part of a cancel: %s",
    async (query) => {
      const [key, id] = [await newKey(), await newOrder()];
      const cancel = { ...key, method: "DELETE", path: `${LIST}/${id}` };
      await expectAnswer({ ...cancel, path: cancel.path + query }, "400 invalid_request");
      await expectAnswer({ ...key, path: LIST + query }, "200");
      await expectAnswer(cancel, "204");
    },
  );

  it.for([
    ["pending", "204", "404 order_not_found"],
    ["processing", "409 order_not_cancellable", "409 order_not_cancellable"],
    ["shipped", "409 order_already_shipped", "409 order_already_shipped"],
    ["delivered", "409 order_not_cancellable", "409 order_not_cancellable"],
  ] as const)("only pending orders can be cancelled: %s is %s, then %s", async ([status, first, second]) => {
    const [key, id] = [await newKey(), await newOrder({ status })];
    const cancel = { ...key, method: "DELETE", path: `${LIST}/${id}` };
    expect((await expectAnswer(cancel, first)).line.route).toBe(`${LIST}/:orderId`);
    await expectAnswer(cancel, second);
    expect((await send(key)).text.includes(`{"id":${id}}`)).toBe(status !== "pending");
  });

  it.for([{ "If-Match": '"nope"' }, { "If-Match": 'W/"1", *' }, { "If-None-Match": "*" }])(
    "a cancel with the false condition %o counts and is 412, or what is wrong without the condition",
    async (headers) => {
      const [key, id] = [await newKey(), await newOrder()];
      const cancel = { ...key, method: "DELETE", path: `${LIST}/${id}` };
      await expectAnswer({ ...cancel, headers }, "412 precondition_failed", "60 59 minute");
      for (const [status, outcome] of [
        ["shipped", "409 order_already_shipped"],
        ["delivered", "409 order_not_cancellable"],
      ] as const)
        await expectAnswer({ ...cancel, path: `${LIST}/${await newOrder({ status })}`, headers }, outcome);
      await expectAnswer({ ...cancel, headers: { "If-Match": "*", "If-None-Match": '"x"' } }, "204");
      await expectAnswer({ ...cancel, headers }, "404 order_not_found");
    },
  );
});

describe("4.1 List orders", () => {
  it("without query parameters, filtering and paging, which are planned for v2 (9.2)", async () => {
    const key = await newKey();
    const { text, headers } = await send(key);
    expect(headers.has("Link")).toBe(false);
    for (const query of ["status=pending", "limit=1", "page=2&per_page=1", "complete=true"])
      expect((await send({ ...key, path: `${LIST}?${query}` })).text).toBe(text);
  });

  it("the whole list in one response: 25,000 orders and every one", async () => {
    const numbers = "with recursive n(i) as (select 100001 union all select i + 1 from n where i < 125000)";
    await run(`${numbers} insert into orders (id) select i from n`);
    const orders = JSON.parse((await send(await newKey())).text) as { id: number }[]; // checked by `send`
    await run("delete from orders where id between 100001 and 125000");
    expect(orders.filter(({ id }) => id > 100_000 && id <= 125_000)).toHaveLength(25_000);
    expect(new Set(orders.map(({ id }) => id)).size).toBe(orders.length);
  });

  it("is 304 without a body while the list is unchanged, which counts like any other request", async () => {
    const key = await newKey();
    const etag = (await send(key)).headers.get("ETag") ?? "";
    const { headers } = await send({ ...key, method: "HEAD" });
    expect([headers.get("ETag"), headers.get("Content-Type")]).toEqual([etag, "application/json"]);
    const again = { ...key, headers: { "If-None-Match": etag } };
    await expectAnswer(again, "304", "60 57 minute");
    const same = { ...key, headers: { "If-Match": `"other", ${etag}` } };
    await expectAnswer(same, "200", "60 56 minute");
    await newOrder();
    await expectAnswer(again, "200", "60 55 minute");
    await expectAnswer(same, "412 precondition_failed", "60 54 minute");
  });
});

describe("4.2 Cancel an order", () => {
  it("cancels the order of the path, exact in every digit, whatever the body says", async () => {
    const [id, other] = ["9007199254740995", "9007199254740996"] as const;
    for (const each of [id, other]) await insert({ id: each });
    const key = await newKey();
    const body = `{"orderId":${other}}`;
    await expectAnswer({ ...key, method: "DELETE", path: `${LIST}/${id}`, body }, "204");
    expect((await send(key)).text).toContain(`{"id":${other}}`);
  });
});

describe("4 Paths are relative to {base_url}, which ends in /v1. 9.1 The version is part of the path", () => {
  const NOWHERE =
    "/store/orders /v0/store/orders /v2/store/orders /v10/store/orders /V1/store/orders /nothing";
  const NO_OPERATION =
    "/v1 /v1/ /v1/nothing /v1/v1/store/orders /v1/store /v1/store/orders/ /v1/pets /v1/pets/ /v1/pets/1/photos /v1/events /v1/openapi.json";

  it.for(NOWHERE.split(" "))("%s is 404, with a key and without", async (path) => {
    for (const sent of [{}, await newKey()]) await expectAnswer({ ...sent, path }, "404 not_found", NO_QUOTA);
  });

  it.for(NO_OPERATION.split(" "))("%s is 401 without a key, and 404 with one", async (path) => {
    const key = await newKey();
    for (const [i, method] of ["GET", "POST", "DELETE"].entries()) {
      await expectAnswer({ method, path }, "401 unauthorized", NO_QUOTA);
      await expectAnswer({ ...key, method, path }, "404 not_found", `60 ${59 - i} minute`);
    }
  });

  it("/ and /openapi.json need no key, and the interface description version is 1.0.0", async () => {
    for (const path of ["/", "/openapi.json"])
      for (const method of ["GET", "HEAD"]) await expectAnswer({ method, path }, "200", NO_QUOTA);
    const { text } = await send({ path: "/openapi.json" });
    expect(JSON.parse(text)).toMatchObject({ info: { version: "1.0.0" } });
  });
});

describe("1 Two operations exist: another method is 405 and names the allowed ones", () => {
  it.for([
    [LIST, "POST PUT PATCH DELETE OPTIONS", "GET, HEAD"],
    [`${LIST}/1`, "GET HEAD POST PUT PATCH OPTIONS", "DELETE"],
    [PET, "POST PUT PATCH DELETE OPTIONS", "GET, HEAD"],
  ] as const)("%s, %s: Allow is %s", async ([path, methods, allow]) => {
    for (const method of methods.split(" ")) {
      const outcome = method === "HEAD" ? "405" : "405 method_not_allowed";
      const { headers } = await expectAnswer({ ...(await newKey()), method, path }, outcome);
      expect(headers.get("Allow")?.split(", ").sort().join(", ")).toBe(allow);
    }
  });
});

describe("Requests of a key that arrive together share calls of its limiter", () => {
  it("clients that hang up: every request is counted once, and the others are answered", async () => {
    const limits = { plan: "enterprise", requestsPerMinute: 30_000, requestsPerDay: 1_000_000 };
    const { id, authorization } = await newKey(limits);
    let left = runs(150);
    const hangUps = async (path: string) => {
      while (left-- > 0) await hangUp({ authorization, path }, Math.random() * 6);
    };
    const answers = async (path: string) => {
      const outcome = path === LIST ? "200" : "404 not_found";
      while (left > 0) await expectAnswer({ authorization, path }, outcome);
    };
    const paths = Array.from({ length: 10 }, () => [LIST, "/v1/nothing"]).flat();
    await Promise.all(paths.flatMap((path) => [hangUps(path), answers(path)]));
    await vi.waitFor(async () => {
      const { line } = await send({ authorization, path: "/v1/nothing" });
      const counted = Array.from({ length: 30_000 - Number(line.remaining) }, (_, i) => 29_999 - i);
      const lines = log.linesOf(({ keyId }) => keyId === id);
      expect(lines.map(({ remaining }) => Number(remaining)).toSorted((x, y) => y - x)).toEqual(counted);
    }, 10_000);
  });
});

describe("D1 and the limiter, up, slow and away", () => {
  const UNAVAILABLE = "503 service_unavailable";
  const d1 = (kind: "fail" | "slow" | "late"): Sent => ({
    d1: { kind, skip: 0, times: 1_000, error: 0 },
    ...(kind === "fail" ? { policies: kind } : {}),
  });
  const call = (kind: "fail" | "fail-reset" | "hang"): Sent => ({ call: { kind, skip: 0 } });

  it("D1 away: a key whose limiter has not read its policy is 503", async () => {
    const key = await newKey();
    await expectRefused({ ...key, ...d1("fail") }, UNAVAILABLE, NO_QUOTA, OPERATIONS);
    await expectAdmitted(key);
  });

  it("D1 away: a list and a cancel are 503", async () => {
    const key = await newKey();
    await send(key);
    for (const method of ["GET", "DELETE"]) {
      const path = method === "GET" ? LIST : `${LIST}/${await newOrder()}`;
      const { text } = await expectAnswer({ ...key, method, path, ...d1("fail") }, UNAVAILABLE);
      const advice =
        method === "GET" ? /reached\. Please try again\.$/ : /may have been made: look, then try/;
      expect(JSON.parse(text).message).toMatch(advice);
    }
  });

  it("D1 away: a known key is admitted and counted, and its orders are 503", async () => {
    const key = await newKey();
    await send(key);
    const { answers, left } = await walk({ ...key, ...d1("fail") });
    const expected = OPERATIONS.map(({ outcome, method, path }, i) => {
      const needsOrders = path.startsWith(LIST) && method !== "PUT";
      return `${needsOrders ? codeFor(method, UNAVAILABLE) : outcome}, 60 ${58 - i} minute`;
    });
    expect(answers.map(({ outcome, shown }) => `${outcome}, ${shown}`)).toEqual(expected);
    expect(left).toBe(OPERATIONS.length);
  });

  it("D1 slow: everything is carried out", async () => {
    await expectAdmitted({ ...(await newKey()), ...d1("slow") });
  });

  it.for([
    ["away", call("fail"), OPERATIONS],
    ["failing", { object: "throw-before" }, READ_AND_CHANGE],
    ["without its storage", { object: "storage" }, READ_AND_CHANGE],
  ] as const)("the limiter %s: everything is 503, and nothing is counted", async ([, fault, operations]) => {
    const key = await newKey();
    await expectAnswer(key, "200", "60 59 minute");
    const answers = await expectRefused({ ...key, ...fault }, UNAVAILABLE, NO_QUOTA, operations);
    for (const { line } of answers) expect(line).not.toHaveProperty("verdict");
    await expectAdmitted(key, 1);
  });

  it("the limiter late: 503 after the timeout, and the order is still there", async () => {
    const cancel = { ...(await newKey()), method: "DELETE", path: `${LIST}/${await newOrder()}` };
    await expectAnswer({ ...cancel, ...call("hang") }, UNAVAILABLE, NO_QUOTA);
    await expectAnswer(cancel, "204");
  });

  it("the limiter reset by a deploy: the client notices nothing", async () => {
    await expectAdmitted({ ...(await newKey()), ...call("fail-reset") });
  });

  it("a bug: 500 without internal details", async () => {
    const cancel = { ...(await newKey()), method: "DELETE", path: `${LIST}/${await newOrder()}` };
    await run("alter table orders rename to orders_away");
    const { text } = await expectAnswer(cancel, "500 internal_error", "60 59 minute");
    await run("alter table orders_away rename to orders");
    expect(JSON.parse(text).message).toBe("Something went wrong on our side. Please try again later.");
  });

  it("a client that hangs up: its request still has a log line", async () => {
    const key = await newKey();
    await hangUp({ ...key, path: LIST, ...call("hang") }, 400);
    expect(await log.find(({ keyId }) => keyId === key.id)).toMatchObject({ status: 503, method: "GET" });
  });

  it.for([
    ["up", {}, "200", '{"status":"ok","database":"ok","limiter":"ok","settings":"ok","outdatedKeys":'],
    ["without D1", d1("fail"), UNAVAILABLE, "Cannot be reached: database."],
    ["without the limiter", call("fail"), UNAVAILABLE, "Cannot be reached: limiter."],
    [
      "without both",
      { ...d1("fail"), ...call("fail") },
      UNAVAILABLE,
      "Cannot be reached: database, limiter.",
    ],
    ["with a limiter that does not answer", call("hang"), UNAVAILABLE, "Cannot be reached: limiter."],
  ] as const)("GET /health, %s", async ([, faults, outcome, text]) => {
    const health = { path: "/health" };
    expect((await expectAnswer({ ...health, ...faults }, outcome, NO_QUOTA)).text).toContain(text);
    // Anyone may ask, so a check counts for a second.
    now += 999;
    await expectAnswer(health, outcome);
    now += 1;
    await expectAnswer(health, "200");
  });
});

describe("plain HTTP behind Cloudflare's edge, which adds CF-Ray", () => {
  const headers = { "CF-Ray": "8f0a1b2c3d4e5f60-FRA" };

  it("is 403 before the credential is looked at", async () => {
    const sent = { ...(await newKey()), headers };
    const answers = await expectRefused(sent, "403 https_required", NO_QUOTA, OPERATIONS);
    for (const { line } of answers) {
      expect(line).toMatchObject({ reason: "plain http" });
      expect(line).not.toHaveProperty("keyId");
    }
    const admin = { path: "/admin/plans", authorization: `Bearer ${ADMIN_TOKEN}` };
    for (const other of [{ path: "/v1" }, { path: "/%761/store/orders" }, { path: "/admin" }, admin])
      await expectAnswer({ headers, ...other }, "403 https_required");
  });

  it("is served where no credential is needed, and behind a tunnel whose client used https", async () => {
    for (const path of ["/", "/openapi.json", "/health"]) await expectAnswer({ path, headers }, "200");
    const tunnel = { ...headers, "CF-Visitor": '{"scheme":"https"}' };
    await expectAnswer({ ...(await newKey()), headers: tunnel }, "200");
  });
});

describe("CORS: a page of another origin", () => {
  const Origin = "https://shop.example";
  const preflight = { Origin, "Access-Control-Request-Method": "DELETE" };
  const vars = { CORS_ORIGINS: `https://admin.example:8443 http://localhost:3000, ${Origin}` };
  const LISTED = { "access-control-allow-origin": Origin, vary: expect.stringContaining("Origin") };

  it.for([
    ["that is allowed nothing by default", Origin, {}],
    ["that is not listed", "https://my.shop.example", vars],
    ["that begins with a listed one", `${Origin}.attacker.example`, vars],
    ["of the listed host over http", "http://shop.example", vars],
    ["without a name", "null", vars],
  ] as const)("%s may read nothing", async ([, Origin, vars]) => {
    for (const path of [LIST, "/nothing"]) {
      const { headers } = await send({ ...(await newKey()), path, headers: { Origin }, vars });
      expect(headers.has("Access-Control-Allow-Origin")).toBe(false);
    }
  });

  it("that is listed may ask without a key", async () => {
    const asked = "authorization,content-type,if-match,x-sdk";
    const headersSent = { ...preflight, "Access-Control-Request-Headers": asked };
    const sent = { method: "OPTIONS", path: `${LIST}/1`, headers: headersSent };
    const { headers } = await expectAnswer({ ...sent, vars }, "204", NO_QUOTA);
    expect(Object.fromEntries(headers)).toMatchObject({
      ...LISTED,
      "access-control-allow-methods": "GET,HEAD,DELETE",
      "access-control-allow-headers": asked,
    });
    await expectAnswer(sent, "401 unauthorized"); // by default there are no preflights
    await expectAnswer({ ...sent, vars, headers: { ...preflight, "CF-Ray": "1" } }, "403 https_required");
  });

  it("that is listed may read every documented header, on errors too", async () => {
    const documented = JSON.parse((await send({ path: "/openapi.json" })).text).components.headers;
    for (const sent of [await newKey(), as("Bearer wrong")]) {
      const { headers } = await send({ ...sent, headers: { Origin }, vars });
      expect(Object.fromEntries(headers)).toMatchObject(LISTED);
      const exposed = headers.get("Access-Control-Expose-Headers")?.split(",");
      expect(exposed).toEqual(expect.arrayContaining(Object.keys(documented)));
    }
  });

  it("an OPTIONS request that is no preflight, or has a key, is counted and 405", async () => {
    const key = await newKey();
    const { Origin: _, ...withoutOrigin } = preflight;
    for (const [i, headers] of [preflight, { Origin }, withoutOrigin, {}].entries()) {
      const sent = { ...key, method: "OPTIONS", headers, vars };
      await expectAnswer(sent, "405 method_not_allowed", `60 ${59 - i} minute`);
    }
    await expectAnswer({ method: "OPTIONS", headers: { Origin }, vars }, "401 unauthorized");
  });
});

describe("9.3 GET /pets/{petId} is deprecated and has a sunset date", () => {
  let before: number;
  beforeAll(() => {
    before = now;
  });
  afterAll(() => {
    now = before; // from the sunset back
  });
  const DEFAULT = "Thu, 05 Dec 2030 00:00:00 GMT";
  const vars = { PETS_SUNSET_DATE: "2030-12-04" };
  it.for([
    ["before it", -1, {}, "404 not_found", DEFAULT],
    ["from it on", 0, {}, "410 gone", DEFAULT],
    ["from the date of the setting on", -1, vars, "410 gone", "Wed, 04 Dec 2030 00:00:00 GMT"],
  ] as const)("%s, as every response on the path says", async ([, ms, vars, outcome, sunset]) => {
    now = Date.UTC(2030, 11, 5) + ms;
    check = checkResponses(JSON.parse((await send({ path: "/openapi.json", vars })).text));
    const key = await newKey({ requestsPerMinute: 3 });
    const pet = { ...key, path: PET, vars };
    const answers = [
      await expectAnswer(pet, outcome),
      await expectAnswer({ ...pet, method: "HEAD" }, outcome.slice(0, 3)),
      await expectAnswer({ ...pet, method: "POST" }, "405 method_not_allowed"),
      await expectAnswer(pet, "429 rate_limit_exceeded"),
      await expectAnswer({ path: PET, vars }, "401 unauthorized"),
    ];
    for (const { headers } of answers)
      expect([headers.get("Deprecation"), headers.get("Sunset")]).toEqual(["@1795219200", sunset]);
  });
});
