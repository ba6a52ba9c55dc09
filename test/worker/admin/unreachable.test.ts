/** The admin API while a key's limiter cannot be reached. That changes take effect within minutes is in next-request.test.ts. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import type { Bindings } from "../../../src/worker/context.ts";
import { createKey } from "../../support/factories.ts";
import { startApp, startEachTestAt } from "../../support/worker.ts";
import { isolatesInUse, operatorOf, statusesAt, unreachableLimiters } from "./admin-support.ts";

const withoutLimiters = operatorOf(startApp({ KEY_LIMITER: unreachableLimiters() }));

startEachTestAt(Date.UTC(2034, 0, 1, 12));

describe("while a limiter cannot be reached", () => {
  it("a key is shown without live usage, and with the usage that D1 has", async ({ expect }) => {
    const { id } = await createKey({ used: true });
    expect((await withoutLimiters("GET", `/keys/${id}`)).body).toMatchObject({ id, live: null });
    for (const path of ["usage", "history"]) {
      const { status, body } = await withoutLimiters("GET", `/keys/${id}/${path}`);
      expect([status, body.asOf], path).toEqual([200, "2034-01-01T11:00:00Z"]);
    }
    const unused = await createKey();
    expect((await withoutLimiters("GET", `/keys/${unused.id}/usage`)).body.asOf).toBe("2034-01-01T12:00:00Z");
    for (const path of ["/usage", "/bans"]) expect((await withoutLimiters("GET", path)).status).toBe(200);
  });

  it("because a deploy has reset it, it is called again, and the change is effective at once", async ({
    expect,
  }) => {
    const { id } = await createKey({ used: true });
    let calls = 0;
    const forget = async () => {
      if (++calls === 1) throw Object.assign(new Error("reset"), { durableObjectReset: true });
    };
    // The admin API addresses limiters by name only.
    const KEY_LIMITER = { getByName: () => ({ forget }) } as unknown as Bindings["KEY_LIMITER"];
    const { body } = await operatorOf(startApp({ KEY_LIMITER }))("DELETE", `/keys/${id}`);
    expect([calls, body.effective]).toEqual([2, "immediately"]);
  });
});

describe("a ban that is set or lifted", () => {
  it("is sent to the limiter, though D1 fails after it has stored the change", async ({ expect }) => {
    const { id, key } = await createKey();
    const isolates = await isolatesInUse(key);
    const failingOperator = () => {
      let isStored = false;
      const prepare = (sql: string) => {
        if (isStored) throw new Error("D1_ERROR: Network connection lost.");
        return env.DB.prepare(sql);
      };
      const batch = async (statements: D1PreparedStatement[]) => {
        const results = await env.DB.batch(statements);
        isStored = true;
        return results;
      };
      // The app uses these members only.
      return operatorOf(startApp({ DB: { prepare, batch } as unknown as D1Database }));
    };
    const set = await failingOperator()("PUT", `/keys/${id}/ban`, { seconds: 600, reason: "abuse" });
    expect(set).toMatchObject({ status: 200, body: { effective: "immediately" } });
    expect(await statusesAt(isolates, key)).toEqual([429, 429, 429]);
    const lifted = await failingOperator()("DELETE", `/keys/${id}/ban`);
    expect(lifted).toMatchObject({ status: 200, body: { effective: "immediately" } });
    expect(await statusesAt(isolates, key)).toEqual([200, 200, 200]);
  });
});
