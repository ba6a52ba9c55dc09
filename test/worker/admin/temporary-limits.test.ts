/** Limits for some days: in force on the next request, over at a midnight UTC, to the millisecond. */
import { describe, it } from "vitest";
import { createKey } from "../../support/factories.ts";
import { LIST, setClock, startApp, startEachTestAt } from "../../support/worker.ts";
import { operatorOf } from "./admin-support.ts";

const T0 = Date.UTC(2035, 0, 1, 12);
const UNTIL = "2035-01-02T00:00:00Z";
const UNTIL_MS = Date.parse(UNTIL);

startEachTestAt(T0);

const app = startApp();
const operator = operatorOf(app);

const limit = (id: string, body: object, ifMatch?: string) =>
  operator("POST", `/keys/${id}/temporary-limits`, { days: 1, ...body }, ifMatch);
const end = (id: string, ifMatch?: string) =>
  operator("DELETE", `/keys/${id}/temporary-limits`, undefined, ifMatch);

async function limitsSeenBy(key: string): Promise<string | null> {
  return (await app(LIST, { key })).headers.get("RateLimit-Policy");
}

const policy = (perMinute: number, perDay: number) =>
  `"minute";q=${perMinute};w=60, "day";q=${perDay};w=86400`;

describe("temporary limits", () => {
  it("are in force on the next request, and end at their end by themselves", async ({ expect }) => {
    const { id, key } = await createKey({ perMinute: 1, plan: "pro" });
    expect((await app(LIST, { key })).status).toBe(200);
    expect((await app(LIST, { key })).status).toBe(429);
    const { status, body, etag } = await limit(id, { requestsPerMinute: 2, reason: "a launch" });
    expect([status, etag]).toEqual([200, `"${body.version}"`]);
    expect(body).toMatchObject({
      effective: "immediately",
      limits: { requestsPerMinute: 2, requestsPerDay: 10_000 },
      requestsPerMinute: 1,
      temporaryLimits: { requestsPerMinute: 2, requestsPerDay: null, until: UNTIL },
    });
    const second = await app(LIST, { key });
    expect([second.status, second.headers.get("X-RateLimit-Limit")]).toEqual([200, "2"]);
    setClock(UNTIL_MS - 1);
    expect(await limitsSeenBy(key)).toBe(policy(2, 10_000));
    setClock(UNTIL_MS);
    expect(await limitsSeenBy(key)).toBe(policy(1, 10_000));
    expect((await operator("GET", `/keys/${id}`)).body).toMatchObject({
      limits: { requestsPerMinute: 1 },
      temporaryLimits: null,
    });
  });

  it("are in lists at once, and percentages are of the limit that the requests met", async ({ expect }) => {
    const { id, key } = await createKey({ perDay: 10 });
    for (let i = 0; i < 4; i++) await app(LIST, { key });
    await operator("GET", `/keys/${id}/usage`);
    await limit(id, { requestsPerDay: 40 });
    const listed = (await operator("GET", `/keys?search=${id}`)).body.keys;
    expect(listed).toMatchObject([{ limits: { requestsPerDay: 40 } }]);
    const { text } = await operator("GET", "/usage");
    expect([text.includes('"requestsPerDay":40'), text.includes('"percent":40,')]).toEqual([true, true]);
  });

  it("replace earlier ones, and can be ended before their end", async ({ expect }) => {
    const { id, key } = await createKey({ plan: "pro" });
    await limit(id, { requestsPerMinute: 500, requestsPerDay: 20_000 });
    expect(await limitsSeenBy(key)).toBe(policy(500, 20_000));
    const { body } = await limit(id, { requestsPerMinute: 600, days: 366 });
    expect(body).toMatchObject({ temporaryLimits: { until: "2036-01-02T00:00:00Z" } });
    expect(await limitsSeenBy(key)).toBe(policy(600, 10_000));
    const { version, ...ended } = (await end(id)).body;
    expect(ended).toMatchObject({ temporaryLimits: null });
    expect(await limitsSeenBy(key)).toBe(policy(300, 10_000));
    expect((await end(id)).body).toMatchObject({ version });
    const { audit } = (await operator("GET", `/audit?object=${id}`)).body;
    expect(audit).toMatchObject([
      { call: "keys.end_temporary_limits", before: { temporaryLimits: { requestsPerMinute: 600 } } },
      { call: "keys.limit_temporarily", before: { temporaryLimits: { requestsPerDay: 20_000 } } },
      {
        call: "keys.limit_temporarily",
        before: { temporaryLimits: null },
        after: { requestsPerMinute: 500, requestsPerDay: 20_000, until: UNTIL, reason: null },
      },
    ]);
  });
});
