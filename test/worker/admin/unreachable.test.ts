/** The admin API while a key's limiter cannot be reached. What it means to changes is in changes.test.ts. */
import { describe, it } from "vitest";
import { createKey } from "../../support/factories.ts";
import { limiters, startApp, startEachTestAt } from "../../support/worker.ts";
import { operatorOf, unreachableLimiters } from "./admin-support.ts";

const withoutLimiters = operatorOf(startApp({ KEY_LIMITER: unreachableLimiters() }));

startEachTestAt(Date.UTC(2034, 0, 1, 12));

describe("while a limiter cannot be reached", () => {
  it("a key is shown without live usage, and with the usage that D1 has", async ({ expect }) => {
    const { id } = await createKey({ used: true });
    await withoutLimiters("PATCH", `/keys/${id}`, { note: "n" });
    expect((await withoutLimiters("GET", `/keys/${id}`)).body).toMatchObject({ id, live: null });
    const { status, body } = await withoutLimiters("GET", `/keys/${id}/usage`);
    expect([status, body.asOf]).toEqual([200, "2034-01-01T11:00:00Z"]);
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
    const KEY_LIMITER = limiters(() => ({ forget }));
    const { body } = await operatorOf(startApp({ KEY_LIMITER }))("DELETE", `/keys/${id}`);
    expect([calls, body.effective]).toEqual([2, "immediately"]);
  });
});
