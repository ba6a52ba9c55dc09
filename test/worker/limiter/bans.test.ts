/** Bans over HTTP, from the first strike to their end. */
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey, type TestKey } from "../../support/factories.ts";
import {
  countOf,
  crash,
  idleFlush,
  LIST,
  limiterOf,
  policyOf,
  setClock,
  startApp,
  startEachTestAt,
  storedState,
} from "../../support/worker.ts";

const MINUTE = 60_000;
/** Three minutes to midnight, so that a ban of five lasts into the next UTC day. */
const T0 = Date.UTC(2032, 4, 5, 23, 57);
const FIRST_BAN_ENDS = Date.UTC(2032, 4, 6, 0, 2);

startEachTestAt(T0);

/** A Free key that used up its minute at T0, got a 429, and polled after the first second until it was banned. */
async function bannedKey(call = startApp()): Promise<TestKey & { statuses: number[]; codes: unknown[] }> {
  const key = await createKey({ plan: "free" });
  const statuses: number[] = [];
  const codes: unknown[] = [];
  for (let i = 0; i < 61; i++) statuses.push((await call(LIST, { key: key.key })).status);
  setClock(T0 + 1_000);
  for (let i = 0; i < 20; i++) codes.push(codeOf(await (await call(LIST, { key: key.key })).json()));
  setClock(T0);
  return { ...key, statuses, codes };
}

function codeOf(body: unknown): unknown {
  return typeof body === "object" && body !== null && "code" in body ? body.code : undefined;
}

describe("a ban", () => {
  it("is not caused by 200 requests in flight at once on a Free key", async ({ expect }) => {
    const { key, id } = await createKey({ plan: "free" });
    const call = startApp();
    const responses = await Promise.all(Array.from({ length: 200 }, () => call(LIST, { key })));
    expect(countOf(responses.map(({ status }) => status))).toEqual({ 200: 60, 429: 140 });
    const snapshot = await limiterOf(id).inspect(policyOf({ perMinute: 60, perDay: 1_000 }));
    expect(snapshot).toMatchObject({ ban: null, strikes: 0 });
  });

  it("begins with the 20th strike, whose response is `key_banned`", async ({ expect }) => {
    const { statuses, codes } = await bannedKey();
    expect(countOf(statuses)).toEqual({ 200: 60, 429: 1 });
    expect(codes).toEqual([...Array.from({ length: 19 }, () => "rate_limit_exceeded"), "key_banned"]);
  });

  it("has its end in the response, to the second, and ends at that second", async ({ expect }) => {
    const call = startApp();
    const { key } = await bannedKey(call);
    setClock(T0 + 2_500);
    const response = await call(LIST, { key });
    expect(response.status).toBe(429);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "x-ratelimit-limit": "60",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String((FIRST_BAN_ENDS + 1_000) / 1000),
      "retry-after": "299",
    });
    expect(await response.json()).toEqual({
      code: "key_banned",
      message: "This API key is banned until 2032-05-06T00:02:01Z.",
      status: 429,
    });
    setClock(FIRST_BAN_ENDS + 999);
    expect((await call(LIST, { key })).status).toBe(429);
    setClock(FIRST_BAN_ENDS + 1_000);
    const after = await call(LIST, { key });
    expect(after.status).toBe(200);
    expect(after.headers.get("X-RateLimit-Remaining")).toBe("59");
  });

  it("is followed by admission with the rest of the day's quota", async ({ expect }) => {
    const call = startApp();
    setClock(Date.UTC(2032, 4, 5, 10));
    const key = await createKey({ perMinute: 3, perDay: 5 });
    for (let i = 0; i < 4; i++) await call(LIST, { key: key.key });
    setClock(Date.now() + 1_000);
    for (let i = 0; i < 20; i++) await call(LIST, { key: key.key });
    setClock(Date.UTC(2032, 4, 5, 10, 5, 1));
    const responses = [
      await call(LIST, { key: key.key }),
      await call(LIST, { key: key.key }),
      await call(LIST, { key: key.key }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(responses[2]?.headers.get("X-RateLimit-Limit")).toBe("5");
  });

  it("survives a crash, the end of the UTC day and a change of plan", async ({ expect }) => {
    const call = startApp();
    const { key, id } = await bannedKey(call);
    const end = String((FIRST_BAN_ENDS + 1_000) / 1000);
    const resetNow = async () => {
      const response = await call(LIST, { key });
      expect(response.status).toBe(429);
      return response.headers.get("X-RateLimit-Reset");
    };
    await crash(limiterOf(id));
    expect(await resetNow()).toBe(end);
    setClock(Date.UTC(2032, 4, 6, 0, 0, 1));
    expect(await resetNow()).toBe(end);
    await env.DB.prepare("update api_keys set plan = 'business' where id = ?").bind(id).run();
    const row = await env.DB.prepare("select version from key_limits where key_id = ?")
      .bind(id)
      .first("version");
    await limiterOf(id).raiseMinVersion(id, Number(row));
    expect(await resetNow()).toBe(end);
    expect((await call(LIST, { key })).headers.get("X-RateLimit-Limit")).toBe("1000");
  });

  it("also applies to a client that polls slowly, whose object is evicted between polls", async ({
    expect,
  }) => {
    const call = startApp();
    const noon = Date.UTC(2032, 4, 5, 12);
    setClock(noon);
    const { key, id } = await createKey({ perMinute: 10, perDay: 1 });
    const codes: unknown[] = [];
    for (let poll = 0; poll <= 21; poll++) {
      setClock(noon + poll * 15_000);
      codes.push(codeOf(await (await call(LIST, { key })).json()));
      // After the first refusal, and after the last strike before the ban.
      if (poll === 1 || poll === 20) {
        await idleFlush(limiterOf(id));
        await evictDurableObject(limiterOf(id));
      }
    }
    expect(codes.slice(1)).toEqual([
      ...Array.from({ length: 20 }, () => "rate_limit_exceeded"),
      "key_banned",
    ]);
  }, 20_000);

  it("is not extended by requests during it, which are not counted", async ({ expect }) => {
    const call = startApp();
    const { key, id } = await bannedKey(call);
    const before = await storedState(limiterOf(id));
    setClock(T0 + MINUTE);
    await Promise.all(Array.from({ length: 100 }, () => call(LIST, { key })));
    const snapshot = await limiterOf(id).inspect(policyOf({ perMinute: 60, perDay: 1_000 }));
    expect(snapshot.ban?.id).toBe(before?.penalty.lastBan?.id);
    expect(snapshot.ban?.endsAtMs).toBe(before?.penalty.lastBan?.endsAtMs);
    expect(snapshot.strikes).toBe(0);
    expect(snapshot.quota.day.remaining).toBe(940);
    expect(snapshot.days).toEqual([
      { day: "2032-05-05", admitted: 60, refused: 21, refusedWhileBanned: 100, hours: [[23, 60, 21, 100]] },
    ]);
  });
});
