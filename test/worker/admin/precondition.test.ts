/** `ETag` and `If-Match`: a change applies to what the operator has seen, or is a 412 with what is there now. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, it } from "vitest";
import { addSecret, createKey, insertOrders, newOrderId } from "../../support/factories.ts";
import { newKeyId } from "../../support/mint.ts";
import { captureLog, countOf, LIST, startApp } from "../../support/worker.ts";
import { type Answer, everythingStored, type Operator, operatorOf } from "./admin-support.ts";

beforeEach(() => void captureLog());

const app = startApp();
const ada = operatorOf(app);
const isolates = [ada, operatorOf(startApp()), operatorOf(startApp())];

const LONG = "9223372036854775807";

type Change = {
  readonly call: string;
  readonly method: string;
  /** After the path of the object. */
  readonly path?: string;
  readonly body?: object;
};

const KEY_CHANGES: readonly Change[] = [
  { call: "keys.update", method: "PATCH", body: { name: "changed" } },
  { call: "keys.rotate", method: "POST", path: "/rotate", body: { graceSeconds: 0 } },
  { call: "keys.retire", method: "DELETE", path: "/secrets/SECRET" },
  { call: "keys.revoke", method: "DELETE" },
  {
    call: "keys.limit_temporarily",
    method: "POST",
    path: "/temporary-limits",
    body: { requestsPerDay: 7, days: 2 },
  },
  { call: "keys.end_temporary_limits", method: "DELETE", path: "/temporary-limits" },
  { call: "bans.set", method: "PUT", path: "/ban", body: { seconds: 60, reason: "flood" } },
  { call: "bans.lift", method: "DELETE", path: "/ban" },
];

type Kind = {
  readonly name: string;
  readonly changes: readonly Change[];
  /** Makes an object to which each of the changes applies. Returns its path. */
  readonly make: () => Promise<string>;
  /** Any other change. */
  readonly other: object;
};

const KINDS: readonly Kind[] = [
  {
    name: "key",
    changes: KEY_CHANGES,
    make: async () => {
      const { id } = await createKey();
      await addSecret(id);
      await ada("PUT", `/keys/${id}/ban`, { seconds: 600, reason: "before" });
      const limits = { requestsPerDay: 6, days: 2 };
      await ada("POST", `/keys/${id}/temporary-limits`, limits);
      return `/keys/${id}`;
    },
    other: { note: "by another operator" },
  },
  {
    name: "plan",
    changes: [{ call: "plans.update", method: "PATCH", body: { requestsPerDay: 9_999 } }],
    make: async () => "/plans/pro",
    other: { requestsPerMinute: 301 },
  },
  {
    name: "order",
    changes: [
      { call: "orders.update", method: "PATCH", body: { status: "shipped" } },
      { call: "orders.delete", method: "DELETE" },
    ],
    make: async () => {
      const id = newOrderId();
      await insertOrders({ id, petId: LONG });
      return `/orders/${id}`;
    },
    other: { quantity: 3 },
  },
];

async function etagOf(path: string): Promise<string> {
  const { etag } = await ada("GET", path);
  if (etag === null) throw new Error(`${path} has no ETag`);
  return etag;
}

async function send(operator: Operator, path: string, change: Change, ifMatch?: string): Promise<Answer> {
  const { body } = await ada("GET", path);
  const [secret] = (body.secrets ?? []) as { id: string }[]; // of a key
  const suffix = (change.path ?? "").replace("SECRET", String(secret?.id));
  return operator(change.method, `${path}${suffix}`, change.body, ifMatch);
}

/** The calls of the object's audit entries, oldest first. */
async function auditOf(path: string): Promise<string[]> {
  const object = path.split("/").at(-1);
  const { results } = await env.DB.prepare("select call from audit_log where object = ? order by id")
    .bind(object)
    .all<{ call: string }>();
  return results.map(({ call }) => call);
}

describe("a change with If-Match", () => {
  for (const { name, changes, make, other } of KINDS) {
    for (const change of changes) {
      it(`is a 412 with the ${name} as another operator has left it, and then made: ${change.call}`, async ({
        expect,
      }) => {
        const path = await make();
        const seen = await etagOf(path);
        const first = await ada("PATCH", path, other, seen);
        expect(first).toMatchObject({ status: 200, body: other, etag: await etagOf(path) });
        const before = await auditOf(path);
        const stored = await everythingStored();

        const refused = await send(ada, path, change, seen);
        expect(refused).toMatchObject({
          status: 412,
          etag: first.etag,
          body: { code: "changed_meanwhile", status: 412, current: other },
        });
        expect(refused.etag).toBe(`"${(refused.body.current as { version: number }).version}"`);
        expect(await everythingStored()).toEqual(stored);

        const made = await send(ada, path, change, first.etag ?? "");
        expect(made.status).toBe(200);
        expect(await auditOf(path)).toEqual([...before, change.call]);
        if (change.call !== "orders.delete") expect(made.etag).toBe(await etagOf(path));
      });

      it(`is made once, with one audit row, of 10 at once: ${change.call}`, async ({ expect }) => {
        const path = await make();
        const seen = await etagOf(path);
        const before = await auditOf(path);
        const answers = await Promise.all(
          Array.from({ length: 10 }, (_, i) => send(isolates[i % 3] ?? ada, path, change, seen)),
        );
        const late = change.call === "orders.delete" ? 404 : 412;
        expect(countOf(answers.map(({ status }) => status))).toEqual({ 200: 1, [late]: 9 });
        expect(await auditOf(path)).toEqual([...before, change.call]);
      });
    }
  }

  it("is made once of 20 different ones at once", async ({ expect }) => {
    for (let round = 0; round < 3; round++) {
      const path = (await KINDS[0]?.make()) ?? "";
      const seen = await etagOf(path);
      const before = await auditOf(path);
      const answers = await Promise.all(
        Array.from({ length: 20 }, async (_, i) => {
          const change = KEY_CHANGES[Math.floor(Math.random() * KEY_CHANGES.length)];
          if (!change) throw new Error("there is no such change");
          return { change, ...(await send(isolates[i % 3] ?? ada, path, change, seen)) };
        }),
      );
      const made = answers.filter(({ status }) => status === 200);
      expect(made).toHaveLength(1);
      expect(await auditOf(path)).toEqual([...before, made[0]?.change.call]);
      expect(await etagOf(path)).toBe(made[0]?.etag);
    }
  });

  it("has an order's integers with all their digits in current", async ({ expect }) => {
    const id = newOrderId();
    await insertOrders({ id, petId: LONG });
    const { text } = await ada("PATCH", `/orders/${id}`, { quantity: 1 }, '"7"');
    expect(text).toContain(`"current":{"id":${id},"petId":${LONG},`);
  });

  it("is a 404 or a 409 where it would be one without", async ({ expect }) => {
    const revoked = `/keys/${(await createKey({ status: "revoked" })).id}`;
    for (const [path, status] of [
      ["/keys/key_none", 404],
      ["/plans/none", 404],
      ["/orders/1", 404],
      [revoked, 409],
    ] as const) {
      const { other } = KINDS.find(({ name }) => path.startsWith(`/${name}`)) ?? {};
      expect((await ada("PATCH", path, other, '"7"')).status).toBe(status);
    }
  });

  it("takes a weak ETag, and with * it applies to what is there, as without the header", async ({
    expect,
  }) => {
    const path = (await KINDS[0]?.make()) ?? "";
    const weak = `W/${await etagOf(path)}`;
    for (const [ifMatch, status] of [
      [weak, 200],
      [weak, 412],
      ["*", 200],
      [undefined, 200],
    ] as const) {
      expect((await ada("PATCH", path, { name: "a" }, ifMatch)).status).toBe(status);
    }
  });

  it("is a 400 if the header is malformed", async ({ expect }) => {
    const path = (await KINDS[0]?.make()) ?? "";
    for (const ifMatch of ["", "2", '"x"', '"2", "3"', '"-1"', '"2', "**"]) {
      const { status, body } = await ada("PATCH", path, { name: "a" }, ifMatch);
      expect([status, body.code], ifMatch).toEqual([400, "invalid_request"]);
    }
  });
});

describe("a version", () => {
  it("is in lists, and in each single answer as the ETag", async ({ expect }) => {
    for (const { name, make } of KINDS) {
      const path = await make();
      const { body, etag } = await ada("GET", path);
      expect(etag).toBe(`"${body.version}"`);
      const listed = (await ada("GET", `/${name}s?limit=500`.replace("plans?limit=500", "plans"))).body[
        `${name}s`
      ];
      expect(listed).toContainEqual(expect.objectContaining({ id: body.id, version: body.version }));
    }
  });

  it("of a key is not raised by its use, nor that of a plan by its keys", async ({ expect }) => {
    const plan = await etagOf("/plans/business");
    const { id, key } = await createKey();
    const seen = await etagOf(`/keys/${id}`);
    await app(LIST, { key });
    expect((await ada("GET", `/keys/${id}`)).body.firstUsedAt).not.toBeNull();
    expect([await etagOf(`/keys/${id}`), await etagOf("/plans/business")]).toEqual([seen, plan]);
  });

  it("of an order is raised by a load that changes it", async ({ expect }) => {
    const id = newOrderId();
    await insertOrders({ id });
    for (const [quantity, version] of [
      [1, 2],
      [1, 2],
      [2, 3],
    ]) {
      await ada("PUT", "/orders", `[{"id":${id},"quantity":${quantity}}]`);
      expect((await ada("GET", `/orders/${id}`)).body.version).toBe(version);
    }
  });
});

describe("creating a key with an id", () => {
  const create = (operator: Operator, id: string) =>
    operator("POST", "/keys", { id, name: "acme", plan: "pro" });

  it("makes one key, however often it is sent", async ({ expect }) => {
    const id = newKeyId();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) => create(isolates[i % 3] ?? ada, id)),
    );
    expect(countOf(answers.map(({ status }) => status))).toEqual({ 201: 1, 409: 5 });
    const made = answers.find(({ status }) => status === 201);
    expect(made).toMatchObject({ body: { id, secrets: [{}] }, etag: '"1"' });
    expect(await create(ada, id)).toMatchObject({
      status: 409,
      body: { code: "conflict", message: `Key ${id} exists already.` },
    });
    expect((await ada("GET", `/keys/${id}`)).body.secrets).toHaveLength(1);
    expect(await auditOf(`/keys/${id}`)).toEqual(["keys.create"]);
    expect((await app("/v1/nothing", { key: made?.body.key ?? "" })).status).toBe(404);
  });

  it("is a 409 for a revoked key, too", async ({ expect }) => {
    const { id } = await createKey({ status: "revoked" });
    expect((await create(ada, id)).status).toBe(409);
  });
});
