/** A secret is in the response that issues it and nowhere else: no list, no audit row, no log line. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { hashKey } from "../../../src/worker/key/mac.ts";
import { log, startApp, watchDatabase } from "../../support/worker.ts";
import { everyRow, operatorOf } from "./admin-support.ts";

const operator = operatorOf(startApp());

async function createAndRotate(): Promise<{ id: string; secrets: string[] }> {
  const { body } = await operator("POST", "/keys", { name: "acme", plan: "pro" });
  const rotated = await operator("POST", `/keys/${body.id}/rotate`, { graceSeconds: 60 });
  return { id: body.id, secrets: [body.key, rotated.body.key] };
}

describe("a secret", () => {
  it("is in the response that issues it, and in no later response", async ({ expect }) => {
    const { id, secrets } = await createAndRotate();
    expect(new Set(secrets.filter((secret) => /^sok_[0-9A-Za-z]{45}$/.test(secret))).size).toBe(2);
    await operator("PATCH", `/keys/${id}`, { name: "acme & sons" });
    await operator("PUT", `/keys/${id}/ban`, { seconds: 60, reason: "abuse" });
    const paths = ["/keys", `/keys/${id}`, `/keys/${id}/usage`, "/usage", "/bans", "/plans", "/audit"];
    for (const path of [...paths, "/orders/cancelled"]) {
      const { status, text } = await operator("GET", path);
      expect(status, path).toBe(200);
      for (const secret of secrets) {
        expect(text, path).not.toContain(secret.slice(4));
        expect(text, path).not.toContain(await hashKey(secret));
      }
    }
    const revoked = await operator("DELETE", `/keys/${id}`);
    for (const secret of secrets) expect(revoked.text).not.toContain(secret.slice(4));
  });

  it("is not in the database, which has only its hash and a hint", async ({ expect }) => {
    const { secrets } = await createAndRotate();
    const stored = Object.entries(await everyRow());
    const tablesWith = (text: string) =>
      stored.flatMap(([table, rows]) => (JSON.stringify(rows).includes(text) ? [table] : []));
    for (const secret of secrets) {
      expect(tablesWith(secret.slice(4))).toEqual([]);
      expect(tablesWith(await hashKey(secret))).toEqual(["key_secrets"]);
    }
  });

  it("is in no log line, nor is the admin token, whether a call succeeds, is refused or fails", async ({
    expect,
  }) => {
    const database = watchDatabase();
    const failing = operatorOf(startApp({ DB: database.DB }));
    const { id, secrets } = await createAndRotate();
    const [secret = ""] = secrets;
    const wrong = [
      await operator("GET", `/keys/${secret}`),
      await operator("GET", `/nothing/${secret}?token=${env.ADMIN_TOKEN}`),
      await operator("GET", `/keys?${secret}=1`),
      await operator("PATCH", `/keys/${id}`, { [secret]: 1 }),
      await operator("POST", "/keys", `{"name": "${secret}`),
      await operator("PUT", "/orders", `[{"id": "${secret}"}]`),
      await operator("GET", `/keys?ref=${secret}`),
      await operator("POST", "/keys", { name: secret, plan: "free" }),
      await operator("PUT", `/keys/${id}/ban`, { seconds: 1, reason: `leaked ${secret}` }),
      await operator("PATCH", `/keys/${id}`, { note: `it is\n${env.ADMIN_TOKEN}` }),
    ];
    expect(wrong.map(({ status }) => status)).toEqual([404, 404, 400, 400, 400, 400, 400, 400, 400, 400]);
    for (const { text } of wrong.slice(-3, -1)) expect(text).toContain("must not contain an API key");
    expect(wrong.at(-1)?.text).toContain("The admin token must not be in a body, a query or a name.");
    database.failWith("D1_ERROR: something else: SQLITE_ERROR", /insert/);
    const failed = [
      await failing("POST", "/keys", { name: "new", plan: "free" }),
      await failing("POST", `/keys/${id}/rotate`, {}),
      await failing("PUT", `/keys/${id}/ban`, { seconds: 1, reason: "leaked" }),
    ];
    expect(failed.map(({ status }) => status)).toEqual([500, 500, 500]);
    expect(log.lines().filter(({ event }) => event === "request")).toHaveLength(15);
    expect(log.lines().filter(({ event }) => event === "request_failed")).toHaveLength(3);
    for (const each of [...secrets, env.ADMIN_TOKEN]) expect(log.text()).not.toContain(each.slice(4));
    for (const { text } of failed) expect(text).not.toContain("SQLITE");
  });
});
