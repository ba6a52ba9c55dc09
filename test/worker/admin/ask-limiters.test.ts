/** A question about few keys asks their limiters first, and says which of them it could not reach. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey, giveKeys, type TestKey } from "../../support/factories.ts";
import { limiters, setClock, startApp, startEachTestAt, watchLimiters } from "../../support/worker.ts";
import { operatorOf, unreachableLimiters } from "./admin-support.ts";

const T0 = Date.UTC(2039, 4, 1, 10, 20);
const app = startApp();

startEachTestAt(T0);

let customers = 0;

/** A customer with keys that were in use: the first request of each is reported by itself. */
async function customerWith(keyCount: number): Promise<{ name: string; keys: TestKey[] }> {
  const name = `Customer ${++customers}`;
  const keys = await Promise.all(Array.from({ length: keyCount }, () => createKey()));
  for (const { id, key } of keys) {
    await giveKeys(name, id);
    for (let i = 0; i < 3; i++) await app("/v1/nothing", { key });
  }
  return { name, keys };
}

type Usage = { asOf: string; unreachable: string[]; total: { admitted: number } };
async function usageOf(name: string, operator = operatorOf(app)): Promise<Usage> {
  const { body } = await operator("GET", `/usage?customer=${encodeURIComponent(name)}`);
  return body as unknown as Usage; // the documented shape
}

describe("the usage of a customer", () => {
  it("is of this moment", async ({ expect }) => {
    const { name, keys } = await customerWith(2);
    const asked = async () => {
      const { asOf, total } = await usageOf(name);
      return [asOf.slice(11, 19), total.admitted];
    };
    expect(await asked()).toEqual(["10:20:00", 6]);
    for (const { key } of keys) await app("/v1/nothing", { key });
    setClock(T0 + 9_000);
    expect(await asked()).toEqual(["10:20:09", 8]);
  });

  it("says which limiters could not be reached, and is then complete until an earlier time", async ({
    expect,
  }) => {
    const { name, keys } = await customerWith(2);
    const lost = keys[0]?.id ?? "";
    const KEY_LIMITER = limiters((id) =>
      (id === lost ? unreachableLimiters() : env.KEY_LIMITER).getByName(id),
    );
    const { asOf, unreachable, total } = await usageOf(name, operatorOf(startApp({ KEY_LIMITER })));
    expect([asOf, unreachable]).toEqual(["2039-05-01T09:00:00Z", [lost]]);
    expect(total.admitted).toBeGreaterThanOrEqual(3);
  });

  it("asks no limiter of a customer with more than 50, nor for a time that is over", async ({ expect }) => {
    const { name } = await customerWith(1);
    const { KEY_LIMITER, addressed } = watchLimiters();
    const operator = operatorOf(startApp({ KEY_LIMITER }));
    await operator("GET", `/usage?customer=${encodeURIComponent(name)}&from=yesterday&to=today`);
    const more = await Promise.all(Array.from({ length: 50 }, () => createKey({ used: true })));
    await giveKeys(name, ...more.map(({ id }) => id));
    expect((await usageOf(name, operator)).asOf).toBe("2039-05-01T09:00:00Z");
    expect(addressed()).toEqual([]);
    await giveKeys("Another", more[0]?.id ?? "");
    expect((await usageOf(name, operator)).asOf).toBe("2039-05-01T10:20:00Z");
  });
});
