/** `POST /admin/keys/find`: by id, by the hash of a secret, by its hint; never by a secret. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { maskKey } from "../../../src/worker/auth/key.ts";
import { hashKey } from "../../../src/worker/auth/mac.ts";
import { startApp } from "../../support/worker.ts";
import { operatorOf } from "./admin-support.ts";

const operator = operatorOf(startApp());

async function create(): Promise<{ id: string; key: string }> {
  return (await operator("POST", "/keys", { name: "acme", plan: "pro" })).body;
}

async function found(search: object): Promise<unknown[]> {
  const { status, body } = await operator("POST", "/keys/find", search);
  if (status !== 200) throw new Error(`${status} ${body.message}`);
  return body.keys as { id: string }[]; // the body of this route
}

describe("finding a key", () => {
  it("takes its id, the hash of a secret, the hint, or the last characters, and shows the key", async ({
    expect,
  }) => {
    const { id, key } = await create();
    await create();
    const { body: shown } = await operator("GET", `/keys/${id}`);
    const { live: _, ...view } = shown;
    expect(await found({ id })).toEqual([view]);
    expect(await found({ hash: await hashKey(key) })).toEqual([view]);
    for (const hint of [
      maskKey(key),
      maskKey(key).replace("…", "..."),
      key.slice(-4),
      key.slice(-4).toLowerCase(),
      key.slice(-9),
      ` ${key.slice(-12)} `,
    ]) {
      expect(await found({ hint }), hint).toEqual([view]);
    }
  });

  it("finds a rotated key by each of its secrets, once, and a revoked key too", async ({ expect }) => {
    const { id, key } = await create();
    const { body } = await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 0 });
    await operator("DELETE", `/keys/${id}`);
    for (const secret of [key, body.key]) {
      expect(await found({ hash: await hashKey(secret) })).toMatchObject([{ id, status: "revoked" }]);
      expect(await found({ hint: secret.slice(-4) })).toMatchObject([{ id }]);
    }
  });

  it("answers an empty list for what no key has", async ({ expect }) => {
    const { key } = await create();
    expect(await found({ id: "key_unknown" })).toEqual([]);
    expect(await found({ hash: "0".repeat(64) })).toEqual([]);
    const other = key.startsWith("sok_zz") ? "sok_aa" : "sok_zz";
    expect(await found({ hint: `${other}…${key.slice(-4)}` })).toEqual([]);
  });

  it("answers ten keys at most", async ({ expect }) => {
    await env.DB.prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 20)
       insert into api_keys (id, name, plan, created_at) select printf('key_%d', i), 'many', 'pro', 0 from n`,
    ).run();
    await env.DB.prepare(
      "insert into key_secrets select id, id, 'sok_ab…same', 0, null from api_keys where name = 'many'",
    ).run();
    expect(await found({ hint: "same" })).toHaveLength(10);
  });

  it("refuses a body without or with two of them, and values of another form", async ({ expect }) => {
    for (const body of [
      {},
      { id: "key_1", hint: "abcd" },
      { hash: "abcd" },
      { hash: "A".repeat(64) },
      { hint: "abc" },
      { hint: "a".repeat(13) },
      { hint: "sok_abcd" },
      { hint: "ab-d" },
      { secret: "abcd" },
    ]) {
      expect((await operator("POST", "/keys/find", body)).status, JSON.stringify(body)).toBe(400);
    }
  });

  it("refuses a secret in any member, and does not repeat it", async ({ expect }) => {
    const { key } = await create();
    const mistyped = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;
    for (const body of [
      { hint: key },
      { id: key },
      { [key]: 1 },
      { key: `it is ${key}!` },
      { hint: mistyped },
      `{"hint": "\\u0073ok_${key.slice(4)}"}`,
    ]) {
      const { status, body: answer, text } = await operator("POST", "/keys/find", body);
      expect(status).toBe(400);
      expect(answer.message).toBe(
        "A secret must not be sent. Find its key by the secret's SHA-256, in lower-case hex, as hash.",
      );
      expect(text).not.toContain(key.slice(4, 30));
    }
  });
});

describe("the query of any call", () => {
  it("must not contain a secret, and the answer does not repeat it", async ({ expect }) => {
    const { id, key } = await create();
    for (const path of [
      `/keys?search=${key}`,
      `/keys/${id}/history?after=${key}`,
      `/bans?key=${key}`,
      `/audit?actor=Bearer%20${key}`,
      `/usage?from=${key}`,
      `/orders?${key}=1`,
    ]) {
      const { status, text } = await operator("GET", path);
      expect([status, text.includes("A secret must not be sent.")], path.split("?")[0]).toEqual([400, true]);
      expect(text).not.toContain(key.slice(4, 30));
    }
  });
});
