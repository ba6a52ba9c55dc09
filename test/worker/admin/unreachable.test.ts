/** A change whose limiter cannot be reached takes effect once the cached key records have expired. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import type { Bindings } from "../../../src/worker/context.ts";
import { createKey } from "../../support/factories.ts";
import { captureLog, setClock, startApp } from "../../support/worker.ts";
import {
  banByStrikes,
  minuteLimitsAt,
  operatorOf,
  statusesAt,
  unreachableLimiters,
  warmIsolates,
  withoutReportsTo,
} from "./admin-support.ts";

const T0 = Date.UTC(2034, 0, 1, 12);
const CACHE_MS = 60_000;

const app = startApp();
const operator = operatorOf(app);
const withoutLimiters = operatorOf(startApp({ KEY_LIMITER: unreachableLimiters() }));

let log: ReturnType<typeof captureLog>;
beforeEach(() => {
  log = captureLog();
  setClock(T0);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("when the limiter cannot be reached", () => {
  const refusals: { change: string; request: (id: string) => [string, string, unknown?] }[] = [
    { change: "revoking", request: (id) => ["DELETE", `/keys/${id}`] },
    { change: "disabling", request: (id) => ["PATCH", `/keys/${id}`, { disabled: true }] },
    { change: "rotating", request: (id) => ["POST", `/keys/${id}/rotate`] },
  ];
  for (const { change, request } of refusals) {
    it(`${change} takes effect within 60 seconds, and says so`, async ({ expect }) => {
      const { id, key } = await createKey();
      const isolates = await warmIsolates(key);
      const { status, body } = await withoutLimiters(...request(id));
      expect(status).toBe(200);
      expect(body.effective).toBe("within 60 seconds");
      setClock(T0 + CACHE_MS - 1);
      expect(await statusesAt(isolates, key)).toEqual([200, 200]);
      setClock(T0 + CACHE_MS);
      expect(await statusesAt(isolates, key)).toEqual([401, 401]);
      expect(log.lines()).toContainEqual(
        expect.objectContaining({ event: "limiter_unreachable", keyId: id }),
      );
    });
  }

  it("lifting a ban again takes effect at once, once the limiter can be reached", async ({ expect }) => {
    const { id, key } = await createKey();
    const isolates = await warmIsolates(key);
    await operator("PUT", `/keys/${id}/ban`, { seconds: 3_600, reason: "test" });
    expect(await statusesAt(isolates, key)).toEqual([429, 429]);
    expect((await withoutLimiters("DELETE", `/keys/${id}/ban`)).body.effective).toBe("within 60 seconds");
    expect(await statusesAt(isolates, key)).toEqual([429, 429]);
    const again = await operator("DELETE", `/keys/${id}/ban`);
    expect(again.body).toMatchObject({ lifted: null, effective: "immediately" });
    expect(await statusesAt(isolates, key)).toEqual([200, 200]);
  });

  it("a limiter that a deploy has reset is called again, and the change is effective at once", async ({
    expect,
  }) => {
    const { id } = await createKey({ used: true });
    let calls = 0;
    const raiseMinVersion = async () => {
      if (++calls === 1) throw Object.assign(new Error("reset"), { durableObjectReset: true });
    };
    // The admin API addresses limiters by name only.
    const KEY_LIMITER = { getByName: () => ({ raiseMinVersion }) } as unknown as Bindings["KEY_LIMITER"];
    const { body } = await operatorOf(startApp({ KEY_LIMITER }))("DELETE", `/keys/${id}`);
    expect(body.effective).toBe("immediately");
    expect(calls).toBe(2);
  });

  it("a change of limits takes effect within 60 seconds, and says so", async ({ expect }) => {
    const { id, key } = await createKey();
    const isolates = await warmIsolates(key);
    const { body } = await withoutLimiters("PATCH", `/keys/${id}`, { requestsPerMinute: 44 });
    expect(body).toMatchObject({ requestsPerMinute: 44, effective: "within 60 seconds" });
    expect(await minuteLimitsAt(isolates, key)).toEqual(["1000", "1000"]);
    setClock(T0 + CACHE_MS);
    expect(await minuteLimitsAt(isolates, key)).toEqual(["44", "44"]);
  });

  it("a plan's change takes effect for its keys within 60 seconds, and says so", async ({ expect }) => {
    const { key } = await createKey({ plan: "free" });
    const isolates = await warmIsolates(key);
    await vi.waitFor(async () => {
      const { text } = await operator("GET", "/usage");
      expect(text).toContain('"admitted":2');
    });
    const { body } = await withoutLimiters("PATCH", "/plans/free", { requestsPerMinute: 61 });
    expect(body.effective).toBe("within 60 seconds");
    expect(await minuteLimitsAt(isolates, key)).toEqual(["60", "60"]);
    setClock(T0 + CACHE_MS);
    expect(await minuteLimitsAt(isolates, key)).toEqual(["61", "61"]);
  });

  it("an operator ban is in the list at once, takes effect within 60 seconds, and says so", async ({
    expect,
  }) => {
    const { id, key } = await createKey();
    const isolates = await warmIsolates(key);
    const { body } = await withoutLimiters("PUT", `/keys/${id}/ban`, { seconds: 600, reason: "abuse" });
    expect(body.effective).toBe("within 60 seconds");
    expect((await operator("GET", `/bans?key=${id}&state=live`)).body).toMatchObject({
      bans: [{ keyId: id, reason: "abuse", live: true }],
    });
    expect(await statusesAt(isolates, key)).toEqual([200, 200]);
    setClock(T0 + CACHE_MS);
    expect(await statusesAt(isolates, key)).toEqual([429, 429]);
  });

  it("lifting a ban takes effect within 60 seconds, and says so", async ({ expect }) => {
    const { id, key } = await createKey();
    const isolates = await warmIsolates(key);
    await operator("PUT", `/keys/${id}/ban`, { seconds: 600, reason: "abuse" });
    expect(await statusesAt(isolates, key)).toEqual([429, 429]);
    const { body } = await withoutLimiters("DELETE", `/keys/${id}/ban`);
    expect(body).toMatchObject({ effective: "within 60 seconds", lifted: { reason: "abuse" } });
    expect(await statusesAt(isolates, key)).toEqual([429, 429]);
    setClock(T0 + CACHE_MS);
    expect(await statusesAt(isolates, key)).toEqual([200, 200]);
  });

  it("lifting is a 503 if it is unknown whether there is a ban", async ({ expect }) => {
    const { id } = await createKey({ used: true });
    expect(await withoutLimiters("DELETE", `/keys/${id}/ban`)).toMatchObject({
      status: 503,
      body: { code: "service_unavailable" },
    });
    expect((await operator("DELETE", `/keys/${id}/ban`)).body).toEqual({
      lifted: null,
      liftedAll: true,
      effective: "immediately",
    });
  });

  it("a key is shown without live usage, and with the usage and bans that D1 has", async ({ expect }) => {
    const { id } = await createKey({ used: true });
    expect((await withoutLimiters("GET", `/keys/${id}`)).body).toMatchObject({ id, live: null });
    const { body } = await withoutLimiters("GET", `/keys/${id}/usage?days=3&hours=48`);
    expect(body.days).toMatchObject([
      { day: "2033-12-30", live: true },
      { day: "2033-12-31", live: false },
      { day: "2034-01-01", admitted: 0, live: false },
    ]);
    const hours = body.hours as { hour: string; live: boolean }[]; // the documented shape
    expect(hours.find(({ live }) => !live)?.hour).toBe("2033-12-31T00:00:00Z");
    expect((await withoutLimiters("GET", "/usage")).status).toBe(200);
    expect((await withoutLimiters("GET", "/bans")).status).toBe(200);
  });

  it("a ban that is set or lifted is sent to the limiter, though D1 fails after it has stored it", async ({
    expect,
  }) => {
    const { id, key } = await createKey();
    const isolates = await warmIsolates(key);
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
    expect(await statusesAt(isolates, key)).toEqual([429, 429]);
    const lifted = await failingOperator()("DELETE", `/keys/${id}/ban`);
    expect(lifted).toMatchObject({ status: 200, body: { effective: "immediately" } });
    expect(await statusesAt(isolates, key)).toEqual([200, 200]);
  });

  it("lists of bans are not complete if a ban can be missing", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await withoutReportsTo(["bans"], () => banByStrikes(key, app, T0));
    const ofKey = `&key=${key.id}`;
    const ofOneKey = ["live", "past", "all"].map((state) => `state=${state}${ofKey}`);
    for (const query of ["state=live", "state=all", ...ofOneKey]) {
      const { body } = await withoutLimiters("GET", `/bans?${query}`);
      expect(body.complete, query).toBe(false);
      expect(body.bans, query).not.toContainEqual(expect.objectContaining({ keyId: key.id }));
    }
    const { body } = await operator("GET", `/bans?state=live${ofKey}`);
    expect(body).toMatchObject({ complete: true, bans: [{ cause: "strikes" }] });
    const { id: unused } = await createKey();
    expect((await withoutLimiters("GET", `/bans?key=${unused}`)).body.complete).toBe(true);
  });

  it("a ban that was not reported is listed also when it is over", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await withoutReportsTo(["bans"], () => banByStrikes(key, app, T0));
    setClock(T0 + 3_600_000);
    const { body } = await operator("GET", `/bans?state=all&key=${key.id}`);
    expect(body.bans).toMatchObject([{ cause: "strikes", live: false }]);
    expect((await operator("GET", `/bans?state=live&key=${key.id}`)).body.bans).toEqual([]);
    const past = `/bans?state=past&key=${key.id}`;
    expect((await operator("GET", past)).body).toMatchObject({
      complete: true,
      bans: [{ cause: "strikes" }],
    });
    expect((await withoutLimiters("GET", past)).body).toMatchObject({ complete: false, bans: [] });
  });
});

describe("a lift of two live bans, of which one was set while the limiter could not be reached", () => {
  it.for([
    { seconds: 60, last: "strikes" },
    { seconds: 3_600, last: "operator" },
  ])("names the one that would have ended last: $last", async ({ seconds, last }, { expect }) => {
    const key = await createKey({ perMinute: 1 });
    await withoutReportsTo(["bans"], () => banByStrikes(key, app, T0));
    await withoutLimiters("PUT", `/keys/${key.id}/ban`, { seconds, reason: "abuse" });
    const { body } = await operator("DELETE", `/keys/${key.id}/ban`);
    expect(body).toMatchObject({ lifted: { cause: last }, liftedAll: true });
    expect((await operator("GET", `/bans?key=${key.id}&state=past`)).body.bans).toHaveLength(2);
  });
});
