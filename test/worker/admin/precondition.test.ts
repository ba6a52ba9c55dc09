/** `ETag` and `If-Match`: how the header is read, and where a version is. Each change: changes.test.ts. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey, insertOrders, newOrderId } from "../../support/factories.ts";
import { newKeyId } from "../../support/mint.ts";
import { countOf, LIST, startApp } from "../../support/worker.ts";
import { type Operator, operatorOf } from "./admin-support.ts";
import { changeOf, objectPath } from "./changes.ts";

const app = startApp();
const ada = operatorOf(app);
const isolates = [ada, operatorOf(startApp()), operatorOf(startApp())];

const LONG = "9223372036854775807";

/** An object of each kind. */
const KEY = changeOf("keys.update");
const OBJECTS = [KEY, changeOf("plans.update"), changeOf("orders.update")];

async function newKeyPath(): Promise<string> {
  return objectPath(KEY, await KEY.make());
}

async function etagOf(path: string): Promise<string> {
  const { etag } = await ada("GET", path);
  if (etag === null) throw new Error(`${path} has no ETag`);
  return etag;
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
  it("has an order's integers with all their digits in current", async ({ expect }) => {
    const id = newOrderId();
    await insertOrders({ id, petId: LONG });
    const { body, etag } = await ada("PATCH", `/orders/${id}`, { quantity: 1 }, '"7"');
    expect(etag).toBe('"0"');
    expect(body.current).toMatchObject({ id, petId: LONG });
  });

  it("takes a weak ETag, and with * it applies to what is there, as without the header", async ({
    expect,
  }) => {
    const path = await newKeyPath();
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

  it("is a 400 if the header is malformed, or the change is of no object with a version", async ({
    expect,
  }) => {
    const { status, body } = await ada("POST", "/orders/ship", { ids: ["1"] }, '"1"');
    expect([status, body.message]).toEqual([400, expect.stringContaining("If-Match: ")]);
    const path = await newKeyPath();
    for (const ifMatch of ["", "2", '"x"', '"2", "3"', '"-1"', '"2', "**"]) {
      const { status, body } = await ada("PATCH", path, { name: "a" }, ifMatch);
      expect([status, body.code], ifMatch).toEqual([400, "invalid_request"]);
    }
  });
});

describe("a version", () => {
  it("is in lists, and in each single answer as the ETag", async ({ expect }) => {
    for (const change of OBJECTS) {
      const path = objectPath(change, await change.make());
      const { body, etag } = await ada("GET", path);
      expect(etag).toBe(`"${body.version}"`);
      const name = path.split("/")[1] ?? "";
      const listed = (await ada("GET", name === "plans" ? "/plans" : `/${name}?limit=500`)).body[name];
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
    const versions: unknown[] = [];
    for (const quantity of [1, 1, 2]) {
      await ada("PUT", "/orders", `[{"id":${id},"quantity":${quantity}}]`);
      versions.push((await ada("GET", `/orders/${id}`)).body.version);
    }
    const [first, again, other] = versions;
    expect([first !== 0, again === first, other !== again]).toEqual([true, true, true]);
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
    expect(made).toMatchObject({ body: { id, secrets: [{}] }, etag: `"${made?.body.version}"` });
    expect(await create(ada, id)).toMatchObject({
      status: 409,
      body: { code: "conflict", message: `Key ${id} exists already.` },
    });
    expect((await ada("GET", `/keys/${id}`)).body.secrets).toHaveLength(1);
    expect(await auditOf(`/keys/${id}`)).toEqual(["keys.create"]);
    expect((await app("/v1/nothing", { key: made?.body.key ?? "" })).status).toBe(404);
  });
});
