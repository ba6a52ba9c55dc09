/** Several rotations of one key at the same time: one gives a key that works, the others say that they did not. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey } from "../../support/factories.ts";
import { countOf, LIST, startApp } from "../../support/worker.ts";
import { operatorOf } from "./admin-support.ts";

const app = startApp();
const operator = operatorOf(app);

describe("rotations", () => {
  for (const graceSeconds of [0, 3_600]) {
    it(`at once of one key succeed once, with a grace of ${graceSeconds} s`, async ({ expect }) => {
      const { id, key } = await createKey();
      await app(LIST, { key });
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => operator("POST", `/keys/${id}/rotate`, { graceSeconds })),
      );
      expect(countOf(answers.map(({ status }) => status))).toEqual({ 200: 1, 412: 7 });
      const rotated = answers.find(({ status }) => status === 200);
      expect((await app(LIST, { key: rotated?.body.key ?? "" })).status).toBe(200);
      expect((await app(LIST, { key })).status).toBe(graceSeconds === 0 ? 401 : 200);
      const { results } = await env.DB.prepare("select call from audit_log where object = ?").bind(id).all();
      expect(results).toEqual([{ call: "keys.rotate" }]);
      const refused = answers.find(({ status }) => status === 412);
      expect(refused?.body).toMatchObject({
        code: "changed_meanwhile",
        current: { id, version: 2 },
      });
    });
  }

  it("of a key that is expired, disabled or revoked: only of the disabled key", async ({ expect }) => {
    const keys = [{ expiresAt: 1 }, { status: "disabled" }, { status: "revoked" }] as const;
    const answers = await Promise.all(
      keys.map(async (key) => operator("POST", `/keys/${(await createKey(key)).id}/rotate`, {})),
    );
    expect(answers.map(({ status }) => status)).toEqual([409, 200, 409]);
  });

  it("one after the other each succeed", async ({ expect }) => {
    const { id } = await createKey();
    for (let i = 0; i < 3; i++) {
      const { status, body } = await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 60 });
      expect(status).toBe(200);
      expect((await app(LIST, { key: body.key })).status).toBe(200);
    }
  });
});
