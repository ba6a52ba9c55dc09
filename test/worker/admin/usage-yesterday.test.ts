/** The usage of the day before, while limiters report their final figures of it. */
import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, it } from "vitest";
import type { Bindings } from "../../../src/worker/context.ts";
import type { KeyPolicy } from "../../../src/worker/limiter/core/decide.ts";
import { createKey, type TestKey } from "../../support/factories.ts";
import { limiterOf, setClock, startApp, startEachTestAt } from "../../support/worker.ts";
import { operatorOf, untilStored } from "./admin-support.ts";

const DAY = 86_400_000;
const MINUTE = 60_000;
/** Each test takes days of its own, because limiters and D1 are shared within the file. */
const NOON = Date.UTC(2038, 2, 1, 12);

const app = startApp();

startEachTestAt(NOON);

/** A key with 5 requests on this day, of which D1 has the first one. The clock is then at the end of the reports. */
async function usedOn(dayMs: number): Promise<TestKey> {
  setClock(dayMs);
  const key = await createKey();
  for (let i = 0; i < 5; i++) {
    await app("/v1/nothing", { key: key.key });
    await untilStored("select 1 from daily_usage where key_id = ?", key.id);
  }
  setClock(dayMs + DAY / 2 + 15 * MINUTE);
  return key;
}

describe("a limiter that reports the day before while an operator reads it", () => {
  /** Limiters that report all that is due before they are inspected. */
  const getByName = (name: string) => ({
    inspect: async (policy: KeyPolicy) => {
      await runDurableObjectAlarm(limiterOf(name));
      return limiterOf(name).inspect(policy);
    },
  });
  // The admin API addresses limiters by name only.
  const KEY_LIMITER = { getByName } as unknown as Bindings["KEY_LIMITER"];
  const reader = operatorOf(startApp({ KEY_LIMITER }));

  it("is read with its final figures, of all keys", async ({ expect }) => {
    await usedOn(NOON);
    const { body } = await reader("GET", "/usage?day=2038-03-01");
    expect(body).toMatchObject({ complete: true, total: { admitted: 5 }, keys: [{ admitted: 5 }] });
  });

  it("is read with its final figures, of one key", async ({ expect }) => {
    const { id } = await usedOn(NOON + 10 * DAY);
    const { body } = await reader("GET", `/keys/${id}/usage?days=2`);
    expect(body.days).toMatchObject([{ admitted: 5 }, { admitted: 0 }]);
  });
});
