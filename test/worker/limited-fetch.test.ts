/** A client that waits in time, against the service: `hono-durable-limiter/fetch`. */
import { type Clock, limitedFetch, type NotSentError } from "hono-durable-limiter/fetch";
import { describe, it, vi } from "vitest";
import { createKey } from "../support/factories.ts";
import { seededRandom } from "../support/random.ts";
import { type App, countOf, LIST, setClock, startApp } from "../support/worker.ts";

const NOON = Date.UTC(2031, 4, 1, 12);

/** A client of the key, whose requests go to two isolates in turn, and what it was answered. */
function startClient(key: string) {
  const apps: App[] = [startApp(), startApp()];
  const statuses: number[] = [];
  let flying = 0;
  const send = async (input: RequestInfo | URL): Promise<Response> => {
    const app = apps[flying++ % 2];
    if (app === undefined) throw new Error("there are two apps");
    const response = await app(String(input), { key });
    statuses.push(response.status);
    flying--;
    return response;
  };
  // While no request is on its way, whoever waits lets the service's clock jump.
  const clock: Clock = {
    now: () => Date.now(),
    setTimer(call, ms) {
      const timer = setInterval(() => {
        if (flying > 0) return;
        clearInterval(timer);
        vi.setSystemTime(Date.now() + ms);
        call();
      }, 5);
      return () => clearInterval(timer);
    },
  };
  return { statuses, call: limitedFetch({ fetch: send, clock }) };
}

describe("limitedFetch", () => {
  it("gets no 429, and all that the key admits, from each second of a minute", async ({ expect }) => {
    const random = seededRandom(7);
    for (let load = 0; load < 5; load++) {
      setClock(NOON + load * 600_000 + Math.floor(random() * 60_000));
      const { key } = await createKey({ perMinute: 20, perDay: 1_000 });
      const { statuses, call } = startClient(key);
      const startMs = Date.now();
      await Promise.all(Array.from({ length: 50 }, () => call(LIST)));
      expect(countOf(statuses)).toEqual({ 200: 50 });
      // 20 in each of three minutes, of which the first has begun.
      expect(Date.now() - startMs).toBeLessThan(122_000);
    }
  });

  it("ends at once after a used-up day", async ({ expect }) => {
    setClock(NOON);
    const { key } = await createKey({ perMinute: 20, perDay: 10 });
    const { statuses, call } = startClient(key);
    const errors: NotSentError[] = [];
    await Promise.all(Array.from({ length: 15 }, () => call(LIST).catch((error) => errors.push(error))));
    expect([countOf(statuses), countOf(errors.map(({ kind }) => kind))]).toEqual([
      { 200: 10 },
      { wait_too_long: 5 },
    ]);
    expect(errors[0]?.retryAfterMs).toBeGreaterThan(43_000_000);
  });
});
