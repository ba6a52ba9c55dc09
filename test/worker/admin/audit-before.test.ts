/**
 * `before` of an audit entry is what the change replaced, also among changes at the same time and with all
 * digits of an int64. `after` is what is stored.
 */
import { describe, it } from "vitest";
import { keyUpdate, newKey, type SecretView } from "../../../src/worker/admin/keys/schema.ts";
import { maskKey } from "../../../src/worker/key/key.ts";
import { bodyOf, memberValue } from "../../support/bodies.ts";
import { addSecret, createKey } from "../../support/factories.ts";
import { setClock, startApp } from "../../support/worker.ts";
import { type Operator, operatorOf } from "./admin-support.ts";

const CHANGES = 12;

const operators = [startApp(), startApp(), startApp()].map((each) => operatorOf(each));
const [operator] = operators as [Operator, ...Operator[]];

type Members = Record<string, unknown>;
type Entry = { call: string; before: Members | null; after: Members };

/** Oldest first. */
async function entriesOf(object: string): Promise<Entry[]> {
  const { body } = await operator("GET", `/audit?object=${object}&limit=500`);
  return (body.audit as Entry[]).reverse(); // the body of this route
}

describe("changes at the same time", () => {
  it("of any member form a chain in the audit log, from the creation on", async ({ expect }) => {
    const body = bodyOf(newKey, 0);
    const made = (await operator("POST", "/keys", body)).body;
    expect(made).toMatchObject({ ...body, customer: { name: body.customer } });
    const { id } = made;
    const { planFrom: _, ...stored } = keyUpdate.entries;
    const names = Object.keys(stored);
    const changes = Array.from({ length: CHANGES }, (_, i) => {
      const two = [names[i % names.length] ?? "", names[(i + 3) % names.length] ?? ""];
      return Object.fromEntries(two.map((name) => [name, memberValue(keyUpdate, name, i + 1)]));
    });
    const isolate = (i: number) => operators[i % operators.length] ?? operator;
    await Promise.all(changes.map((change, i) => isolate(i)("PATCH", `/keys/${id}`, change)));
    await operator("DELETE", `/keys/${id}`);
    const [created, ...entries] = await entriesOf(id);
    const last: Members = { ...body, customer: Object(made.customer).id };
    expect(created?.after).toMatchObject(last);
    Object.assign(last, { status: "active", nextPlan: null });
    expect(entries).toHaveLength(CHANGES + 1);
    for (const { before, after } of entries) {
      expect(before).toEqual(Object.fromEntries(Object.keys(after).map((name) => [name, last[name]])));
      Object.assign(last, after);
    }
    const { customer, ...key } = (await operator("GET", `/keys/${id}`)).body;
    expect({ ...key, customer: Object(customer).id }).toMatchObject(last);
  });
});

describe("`before` of one change", () => {
  it("has the hints of the secrets that a rotation replaced, and the end of the retired secret", async ({
    expect,
  }) => {
    setClock(Date.UTC(2035, 0, 1)); // D1 has a clock of its own
    const { id, key } = await createKey();
    const other = await addSecret(id);
    await addSecret(id, 1_000); // the rotation does not touch it
    const { body } = await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 3_600 });
    const secrets = body.secrets as SecretView[]; // the body of this route
    const retired = secrets.find(({ hint }) => hint === maskKey(other));
    expect((await operator("DELETE", `/keys/${id}/secrets/${retired?.id}`)).status).toBe(200);
    const stored = (await operator("GET", `/keys/${id}`)).body.secrets as typeof secrets;
    const [rotated, ended] = await entriesOf(id);
    expect(rotated?.before).toEqual({ hints: [maskKey(key), maskKey(other)].sort() });
    expect(rotated?.after.oldSecretsExpireAt).toBe(retired?.expiresAt);
    const { expiresAt } = retired ?? {};
    expect(ended?.before).toEqual({ secret: retired?.id, hint: maskKey(other), expiresAt });
    expect(stored).toContainEqual({ ...retired, ...ended?.after });
  });
});
