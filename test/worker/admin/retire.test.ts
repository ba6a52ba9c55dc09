/** Secrets of a key: one ends at once and the others stay valid, and there are at most 10. */
import { env } from "cloudflare:workers";
import { describe, it, vi } from "vitest";
import { openDatabase } from "../../../src/worker/db/database.ts";
import { loadKeyPolicy } from "../../../src/worker/key/key-policy-sql.ts";
import { hashKey } from "../../../src/worker/key/mac.ts";
import { addSecret, createKey } from "../../support/factories.ts";
import { setClock, startApp } from "../../support/worker.ts";
import { operatorOf, statusesAt } from "./admin-support.ts";

const operator = operatorOf(startApp());

type Secret = { id: string; hint: string; expiresAt: string | null };

async function createAndRotate() {
  const { body } = await operator("POST", "/keys", { name: "acme", plan: "pro" });
  const rotated = await operator("POST", `/keys/${body.id}/rotate`, { graceSeconds: 3_600 });
  const [old, current] = [await secretId(body.key), await secretId(rotated.body.key)];
  return { id: body.id, oldKey: body.key, currentKey: rotated.body.key, old, current };
}

const secretId = async (key: string) => (await hashKey(key)).slice(0, 16);

/** Secrets end by D1's clock, which tests cannot set. Returns the end. */
async function endGracePeriod(secret: string): Promise<string> {
  await env.DB.prepare("update key_secrets set expires_at = 1000 where substr(hash, 1, 16) = ?")
    .bind(secret)
    .run();
  return new Date(1_000_000).toISOString().replace(".000", "");
}

async function retirementsOf(id: string): Promise<unknown[]> {
  const { body } = await operator("GET", `/audit?object=${id}`);
  // The body of this route.
  return (body.audit as { call: string }[]).filter(({ call }) => call === "keys.retire");
}

describe("retiring a secret", () => {
  it("is refused for the only valid secret, and for both secrets at the same time", async ({ expect }) => {
    const { id, old, current, currentKey } = await createAndRotate();
    const answers = await Promise.all(
      [old, current].map((secret) => operator("DELETE", `/keys/${id}/secrets/${secret}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await retirementsOf(id)).toHaveLength(1);

    const { body } = await operator("POST", "/keys", { name: "one", plan: "pro" });
    const only = await operator("DELETE", `/keys/${body.id}/secrets/${await secretId(body.key)}`);
    expect(only.status).toBe(409);
    expect(await statusesAt([startApp()], body.key)).toEqual([200]);
    expect(currentKey).not.toBe(body.key);
  });

  it("leaves the end of one whose grace period is over, and writes no audit row", async ({ expect }) => {
    const { id, old } = await createAndRotate();
    const over = { expiresAt: await endGracePeriod(old) };
    const { body } = await operator("DELETE", `/keys/${id}/secrets/${old}`);
    expect((body.secrets as Secret[]).find((each) => each.id === old)).toMatchObject(over);
    expect(await retirementsOf(id)).toEqual([]);
  });

  it("is refused for the only valid secret, also beside one whose grace period is over", async ({
    expect,
  }) => {
    const { id, old, current, currentKey } = await createAndRotate();
    await endGracePeriod(old);
    const { status } = await operator("DELETE", `/keys/${id}/secrets/${current}`);
    expect(status).toBe(409);
    expect(await statusesAt([startApp()], currentKey)).toEqual([200]);
  });

  it("is a 404 for another key's secret, and a 409 for a revoked key", async ({ expect }) => {
    const { id, old } = await createAndRotate();
    const other = await createAndRotate();
    expect((await operator("DELETE", `/keys/${id}/secrets/${other.old}`)).status).toBe(404);
    expect((await operator("DELETE", `/keys/key_unknown/secrets/${old}`)).status).toBe(404);
    await operator("DELETE", `/keys/${id}`);
    expect((await operator("DELETE", `/keys/${id}/secrets/${old}`)).status).toBe(409);
    const stored = await env.DB.prepare("select count(*) as n from key_secrets where key_id = ?")
      .bind(id)
      .first("n");
    expect(stored).toBe(2);
  });
});

describe("the last use of a secret", () => {
  it("is known to the minute, also of a 429, in the key, in lists, and when it ends", async ({ expect }) => {
    const t0 = Date.UTC(2039, 0, 1, 10, 0, 30);
    const { id, key } = await createKey({ perDay: 1 });
    const other = await addSecret(id);
    const app = startApp();
    const useAt = async (atMs: number, secret: string) => {
      setClock(atMs);
      await statusesAt([app], secret);
    };
    const usesIn = async (secrets: unknown) => {
      const found = secrets as (Secret & { lastUsedAt: string | null })[]; // of the answers below
      const ids = [await secretId(key), await secretId(other)];
      return ids.map((each) => found.find((secret) => secret.id === each)?.lastUsedAt);
    };
    await useAt(t0, key);
    await useAt(t0 + 60_000, other);
    const shown = (await operator("GET", `/keys/${id}`)).body;
    expect(await usesIn(shown.secrets)).toEqual(["2039-01-01T10:00:00Z", "2039-01-01T10:01:00Z"]);
    await useAt(t0 + 3 * 86_400_000, key);
    const later = ["2039-01-04T10:00:00Z", "2039-01-01T10:01:00Z"];
    await vi.waitFor(async () => {
      const { keys } = (await operator("GET", `/keys?ref=${id}`)).body;
      const [listed] = keys as [{ secrets: unknown }];
      expect(await usesIn(listed.secrets)).toEqual(later);
    });
    const ended = await operator("DELETE", `/keys/${id}/secrets/${await secretId(other)}`);
    expect(await usesIn(ended.body.secrets)).toEqual(later);
  });
});

describe("a rotation", () => {
  it("with a grace is refused at 10 valid secrets, and the policy has none that has ended", async ({
    expect,
  }) => {
    const { id } = await createKey();
    for (let end = 1; end <= 30; end++) await addSecret(id, end);
    for (let i = 1; i < 10; i++) await addSecret(id);
    const credentials = async () =>
      JSON.parse((await loadKeyPolicy(openDatabase(env.DB), id, 0))?.secrets ?? "[]");
    const rotate = (graceSeconds: number) => operator("POST", `/keys/${id}/rotate`, { graceSeconds });
    const refused = await rotate(3_600);
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("has 10 valid secrets")]);
    expect(await credentials()).toHaveLength(10);
    const { secrets } = (await operator("GET", `/keys/${id}`)).body;
    expect((secrets as Secret[]).filter(({ expiresAt }) => expiresAt === null)).toHaveLength(10);
    expect(secrets).toHaveLength(20);
    expect((await rotate(0)).status).toBe(200);
    expect(await credentials()).toHaveLength(1);
    expect((await rotate(3_600)).status).toBe(200);
  });
});
