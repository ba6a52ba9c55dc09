/**
 * What every change promises: one audit row in its transaction, the precondition, its effect on
 * the next request, and who may not make it. The files beside this one have what is special about a change.
 */
import { env } from "cloudflare:workers";
import * as v from "valibot";
import { beforeAll, describe, it } from "vitest";
import type { AuditView } from "../../../src/worker/admin/audit/schema.ts";
import { hasEtag, onlyReads, routeOf } from "../../../src/worker/admin/call.ts";
import { CALLS } from "../../../src/worker/admin/calls.ts";
import { saysOf } from "../../../src/worker/admin/says.ts";
import {
  captureLog,
  countOf,
  log,
  runMinuteCron,
  setClock,
  startApp,
  startEachTestAt,
  watchDatabase,
  watchLimiters,
} from "../../support/worker.ts";
import { everythingStored, operatorOf, TABLES, unreachableLimiters, writingAfter } from "./admin-support.ts";
import {
  CHANGES,
  CONDITIONAL,
  EFFECTS,
  MISSING,
  objectPath,
  pathOf,
  prepare,
  seenAt,
  send,
  T0,
} from "./changes.ts";

const READ_TOKEN = "a-token-that-only-reads-for-the-tests";
const operators = [startApp(), startApp(), startApp()].map((each) => operatorOf(each));
const operator = operatorOf(startApp());
const named = CHANGES.map((change) => ({ id: change.call.id, change }));
const conditional = CONDITIONAL.map((change) => ({ id: change.call.id, change }));

startEachTestAt(T0);

/** Any change of each kind of object. */
const OTHER: Readonly<Record<string, object>> = {
  keys: { note: "other" },
  plans: { requestsPerDay: 9_999 },
  orders: { complete: true },
  customers: { note: "other" },
};

/** The calls of the object's audit rows, oldest first. */
async function auditOf(object = ""): Promise<unknown[]> {
  const { results } = await env.DB.prepare("select call from audit_log where object = ? order by id")
    .bind(object)
    .all();
  return results.map(({ call }) => call);
}

/** D1 refuses every change of a table whose name is in `refused`. */
beforeAll(async () => {
  const triggers = TABLES.flatMap((table) =>
    ["insert", "update", "delete"].map(
      (change) => `create trigger refuse_${change}_${table} before ${change} on ${table}
        when exists (select 1 from refused where name = '${table}') begin select raise(abort, 'refused here'); end`,
    ),
  );
  await env.DB.batch(
    ["create table refused (name text)", ...triggers].map((statement) => env.DB.prepare(statement)),
  );
});

it("the table has every call that changes something itself; a question and a sent alert do not", ({
  expect,
}) => {
  expect(MISSING).toEqual(["audit.undo", "alerts.test"]);
  const withEffect = CHANGES.filter(({ call }) => "effective" in Object(call.answer).entries);
  expect(new Set(EFFECTS.map(({ call }) => call))).toEqual(new Set(withEffect.map(({ call }) => call.id)));
});

describe("a change", () => {
  it.for(named)(
    "is answered as the reference says, with one audit row: $id",
    async ({ change }, { expect }) => {
      const { call, object, audited = call.id } = change;
      const ids = await change.make();
      const { KEY_LIMITER, addressed } = watchLimiters();
      const last = await env.DB.prepare("select max(id) as id from audit_log").first("id");
      const { status, body, etag } = await send(operatorOf(startApp({ KEY_LIMITER })), change, ids);
      expect(status).toBe(call.creates === true ? 201 : 200);
      expect(v.safeParse(call.answer, body).issues).toBeUndefined();
      expect(etag).toBe(hasEtag(call) ? `"${body.version}"` : null);
      const { results: rows } = await env.DB.prepare("select * from audit_log where id > coalesce(?, 0)")
        .bind(last)
        .all();
      const requestId = log.lines().findLast(({ event }) => event === "request")?.requestId;
      const about = object ?? ids.id ?? ids.orderId ?? body.id;
      expect(rows).toMatchObject([
        { call: audited, object: about, actor: "mo", at: T0 / 1000, request_id: requestId },
      ]);
      // A Durable Object stays where it was first called, so only a client's request creates the limiter.
      expect(addressed()).not.toContain(ids.id);
    },
  );

  it.for(named)("has a sentence of what the audit log has: $id", async ({ change }, { expect }) => {
    const { says } = (await send(operator, change, await change.make())).body;
    const { body } = await operator("GET", `/audit?call=${change.audited ?? change.call.id}&limit=1`);
    const [entry] = body.audit as AuditView[]; // the body of this route
    expect(entry && saysOf(entry)).toMatch(
      /^(?:is|are|has) (?!.*(?:undefined|null|NaN|\[object| none(?! →)))/,
    );
    if (change.call.id !== "orders.ship") expect(says).toContain(entry && saysOf(entry));
  });

  it.for(named)("is not stored in part if D1 refuses a statement: $id", async ({ change }, { expect }) => {
    const ids = await change.make();
    const before = await everythingStored();
    for (const tables of [["audit_log"], TABLES.filter((table) => table !== "audit_log")]) {
      captureLog();
      await env.DB.prepare("insert into refused select value from json_each(?)")
        .bind(JSON.stringify(tables))
        .run();
      const { status } = await send(operator, change, ids);
      await env.DB.exec("delete from refused");
      expect([status, log.text()]).toEqual([500, expect.stringContaining("refused here")]);
      expect(await everythingStored()).toEqual(before);
    }
  });
});

describe("a change with If-Match", () => {
  it.for(named.filter(({ change }) => !CONDITIONAL.includes(change)))(
    "is a 400, and not made, if what it changes has no version: $id",
    async ({ change }, { expect }) => {
      const ids = await change.make();
      const stored = await everythingStored();
      expect((await send(operator, change, ids, { ifMatch: '"7"' })).status).toBe(400);
      expect(await everythingStored()).toEqual(stored);
    },
  );

  it.for(conditional)(
    "is a 412 if another operator was first, also between its read and its write, and is then made: $id",
    async ({ change }, { expect }) => {
      const ids = await change.make();
      const path = objectPath(change, ids);
      const seen = (await operator("GET", path)).etag;
      const other = OTHER[path.split("/")[1] ?? ""];
      const first = await operator("PATCH", path, other, seen ?? "");
      expect(first).toMatchObject({ status: 200, body: other });
      const stored = await everythingStored();

      const refused = await send(operator, change, ids, { ifMatch: seen });
      expect(refused).toMatchObject({
        status: 412,
        etag: first.etag,
        body: { code: "changed_meanwhile", status: 412, current: other },
      });
      const { version } = refused.body.current as { version: number }; // of a key, a plan or an order
      expect(refused.etag).toBe(`"${version}"`);
      expect(await everythingStored()).toEqual(stored);

      let meanwhile: typeof stored = {};
      const late = writingAfter(async () => {
        await operator("PATCH", path, other);
        meanwhile = await everythingStored();
      });
      expect((await send(late, change, ids, { ifMatch: first.etag })).status).toBe(412);
      expect(await everythingStored()).toEqual(meanwhile);

      const { etag: ifMatch } = await operator("GET", path);
      const made = await send(operator, change, ids, { ifMatch });
      expect(made.status).toBe(200);
      if (change.call.removes !== true) expect((await operator("GET", path)).etag).toBe(made.etag);
      expect(made.etag).not.toBe(ifMatch);
    },
  );

  it.for(conditional)(
    "is made once, with one audit row, of four at once: $id",
    async ({ change }, { expect }) => {
      const ids = await change.make();
      const { etag: ifMatch } = await operator("GET", objectPath(change, ids));
      const object = ids.id ?? ids.orderId;
      const before = await auditOf(object);
      const answers = await Promise.all(
        Array.from({ length: 4 }, (_, i) => send(operators[i % 3] ?? operator, change, ids, { ifMatch })),
      );
      const late = change.call.removes === true ? 404 : 412;
      expect(countOf(answers.map(({ status }) => status))).toEqual({ 200: 1, [late]: 3 });
      expect(await auditOf(object)).toEqual([...before, change.call.id]);
    },
  );
});

describe("a change of the policy", () => {
  it.for(EFFECTS)(
    "decides the next request from each isolate, also after a first use between the operator's read and write: $what",
    async (effect, { expect }) => {
      const { key, change } = await prepare(effect);
      const isolates = [startApp(), startApp(), startApp()];
      let before: string[] = [];
      const late = writingAfter(async () => {
        before = await seenAt(isolates, key);
      });
      const { status, body } = await change(late);
      expect([status, body.effective]).toEqual([200, "immediately"]);
      expect(before).toEqual(Array(3).fill(effect.before));
      setClock(T0 + (effect.inMs ?? 0));
      expect(await seenAt(isolates, key)).toEqual(Array(3).fill(effect.after));
    },
  );

  it.for(EFFECTS)(
    "takes effect within minutes, and says so, while the limiter cannot be reached: $what",
    async (effect, { expect }) => {
      const { key, change } = await prepare(effect);
      const isolates = [startApp()];
      await seenAt(isolates, key);
      const { status, body } = await change(operatorOf(startApp({ KEY_LIMITER: unreachableLimiters() })));
      expect([status, body.effective]).toEqual([200, "within minutes"]);
      await runMinuteCron({ KEY_LIMITER: unreachableLimiters() });
      expect(await seenAt(isolates, key)).toEqual([effect.before]);
      await runMinuteCron();
      setClock(T0 + (effect.inMs ?? 0));
      expect(await seenAt(isolates, key)).toEqual([effect.after]);
    },
  );
});

describe("a call that changes something", () => {
  const calls = CALLS.filter((call) => !onlyReads(call));

  it.for([
    { who: "who may only read", key: READ_TOKEN, status: 403, code: "read_only" },
    { who: "without a token", key: undefined, status: 401, code: "unauthorized" },
    { who: "with a wrong token", key: `${READ_TOKEN}x`, status: 401, code: "unauthorized" },
  ])(
    "is a $status for an operator $who, before anything is read",
    async ({ key, status, code }, { expect }) => {
      const [database, limiters] = [watchDatabase(), watchLimiters()];
      const watched = { DB: database.DB, KEY_LIMITER: limiters.KEY_LIMITER };
      const app = startApp({ ADMIN_READ_TOKEN: READ_TOKEN, ...watched });
      for (const call of calls) {
        const { method } = routeOf(call);
        const response = await app(`/admin${pathOf(call, {})}?x=1`, {
          method,
          ...(key && { key }),
          body: "{",
        });
        expect([response.status, await response.json()], call.id).toMatchObject([status, { code, status }]);
      }
      expect([database.queries(), limiters.addressed()]).toEqual([[], []]);
    },
  );
});

it.for(CALLS.filter(({ route }) => /:(?:id|orderId)\b/.test(route)))(
  "a call about what does not exist is a 404: $id",
  async (call, { expect }) => {
    const none = { id: "404404", orderId: "404404", secretId: "404404" };
    const { status, body } = await send(operator, { call }, none);
    expect([status, body.code]).toEqual([404, "not_found"]);
  },
);
