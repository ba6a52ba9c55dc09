/** An operator's change takes effect on the next request, also in isolates that have the key cached. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { maskKey } from "../../../src/worker/auth/key-format.ts";
import { addSecret, createKey } from "../../support/factories.ts";
import { captureLog, setClock, startApp } from "../../support/worker.ts";
import { minuteLimitsAt, operatorOf, statusesAt, untilStored, warmIsolates } from "./admin-support.ts";

const T0 = Date.UTC(2033, 0, 1, 12);
const SECONDS = 1_000;

const operator = operatorOf(startApp());

beforeEach(() => {
  captureLog();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("on the next request, with the key cached", () => {
  it("a revoked key is refused, and cannot be changed any more", async ({ expect }) => {
    const { id, key } = await createKey();
    const isolates = await warmIsolates(key);
    const revoked = await operator("DELETE", `/keys/${id}`);
    expect(revoked.body).toMatchObject({ id, status: "revoked", effective: "immediately" });
    expect(await statusesAt(isolates, key)).toEqual([401, 401]);
    expect((await operator("PATCH", `/keys/${id}`, { disabled: false })).status).toBe(409);
    expect((await operator("POST", `/keys/${id}/rotate`)).status).toBe(409);
    expect((await operator("DELETE", `/keys/${id}`)).status).toBe(200);
    expect(await statusesAt(isolates, key)).toEqual([401, 401]);
  });

  it("a disabled key is refused, and admitted again once it is enabled", async ({ expect }) => {
    const { id, key } = await createKey();
    const isolates = await warmIsolates(key);
    const disabled = await operator("PATCH", `/keys/${id}`, { disabled: true });
    expect(disabled.body).toMatchObject({ status: "disabled", effective: "immediately" });
    expect(await statusesAt(isolates, key)).toEqual([401, 401]);
    const enabled = await operator("PATCH", `/keys/${id}`, { disabled: false });
    expect(enabled.body).toMatchObject({ status: "active", effective: "immediately" });
    expect(await statusesAt(isolates, key)).toEqual([200, 200]);
  });

  it("a rotated key is valid with its new secret only", async ({ expect }) => {
    const { id, key } = await createKey();
    const isolates = await warmIsolates(key);
    const { body } = await operator("POST", `/keys/${id}/rotate`);
    expect(body.effective).toBe("immediately");
    expect(await statusesAt(isolates, key)).toEqual([401, 401]);
    expect(await statusesAt(isolates, body.key)).toEqual([200, 200]);
  });

  it("a secret that was replaced or retired is refused also where the clock is behind", async ({
    expect,
  }) => {
    setClock(T0);
    const { id, key } = await createKey();
    const isolates = await warmIsolates(key);
    const { body } = await operator("POST", `/keys/${id}/rotate`);
    const third = await addSecret(id);
    setClock(T0 - 5 * SECONDS);
    expect(await statusesAt(isolates, key)).toEqual([401, 401]);
    expect(await statusesAt(isolates, body.key)).toEqual([200, 200]);
    setClock(T0);
    const secrets = (await operator("GET", `/keys/${id}`)).body.secrets as { id: string; hint: string }[]; // the documented shape
    const second = secrets.find(({ hint }) => hint === maskKey(body.key));
    expect((await operator("DELETE", `/keys/${id}/secrets/${second?.id}`)).status).toBe(200);
    setClock(T0 - 5 * SECONDS);
    expect(await statusesAt(isolates, body.key)).toEqual([401, 401]);
    expect(await statusesAt(isolates, third)).toEqual([200, 200]);
  });

  it("the limits of a new plan are effective, unless the key has its own", async ({ expect }) => {
    const { id, key } = await createKey({ plan: "free" });
    const isolates = await warmIsolates(key);
    await operator("PATCH", `/keys/${id}`, { plan: "pro" });
    expect(await minuteLimitsAt(isolates, key)).toEqual(["300", "300"]);
    await operator("PATCH", `/keys/${id}`, { requestsPerMinute: 77 });
    expect(await minuteLimitsAt(isolates, key)).toEqual(["77", "77"]);
    await operator("PATCH", `/keys/${id}`, { requestsPerMinute: null, plan: "business" });
    expect(await minuteLimitsAt(isolates, key)).toEqual(["1000", "1000"]);
  });

  it("a limit below the usage refuses, and a raised one admits again", async ({ expect }) => {
    const { id, key } = await createKey({ plan: "free" });
    setClock(T0);
    const isolates = await warmIsolates(key);
    await operator("PATCH", `/keys/${id}`, { requestsPerMinute: 2 });
    expect(await statusesAt(isolates, key)).toEqual([429, 429]);
    await operator("PATCH", `/keys/${id}`, { requestsPerMinute: null });
    expect(await statusesAt(isolates, key)).toEqual([200, 200]);
  });

  it("a new expiry takes effect to the second, and so does its removal", async ({ expect }) => {
    const { id, key } = await createKey();
    setClock(T0);
    const isolates = await warmIsolates(key);
    await operator("PATCH", `/keys/${id}`, { expiresAt: "2033-01-01T12:00:30Z" });
    setClock(T0 + 30 * SECONDS - 1);
    expect(await statusesAt(isolates, key)).toEqual([200, 200]);
    setClock(T0 + 30 * SECONDS);
    expect(await statusesAt(isolates, key)).toEqual([401, 401]);
    expect((await operator("GET", `/keys/${id}`)).body).toMatchObject({ status: "expired" });
    expect((await operator("POST", `/keys/${id}/rotate`)).status).toBe(409);
    await operator("PATCH", `/keys/${id}`, { expiresAt: null });
    expect(await statusesAt(isolates, key)).toEqual([200, 200]);
  });

  it("a plan's new limits are effective for its keys, except those with their own", async ({ expect }) => {
    const inUse = await createKey({ plan: "pro" });
    const own = await createKey({ plan: "pro", perMinute: 9 });
    const isolates = await warmIsolates(inUse.key);
    await statusesAt(isolates, own.key);
    const { body } = await operator("PATCH", "/plans/pro", { requestsPerMinute: 222 });
    try {
      expect(body).toMatchObject({
        requestsPerMinute: 222,
        requestsPerDay: 10_000,
        effective: "immediately",
      });
      expect(await minuteLimitsAt(isolates, inUse.key)).toEqual(["222", "222"]);
      expect(await minuteLimitsAt(isolates, own.key)).toEqual(["9", "9"]);
    } finally {
      await operator("PATCH", "/plans/pro", { requestsPerMinute: 300 });
    }
  });

  it("a plan's new limits are effective for a key whose first use is not reported yet", async ({
    expect,
  }) => {
    const { id, key } = await createKey({ plan: "business" });
    const isolates = await warmIsolates(key);
    await untilStored("select 1 from daily_usage where key_id = ?", id);
    await env.DB.prepare("delete from daily_usage where key_id = ?").bind(id).run();
    const { body } = await operator("PATCH", "/plans/business", { requestsPerMinute: 1_234 });
    expect(body.effective).toBe("immediately");
    expect(await minuteLimitsAt(isolates, key)).toEqual(["1234", "1234"]);
    await operator("PATCH", "/plans/business", { requestsPerMinute: 1_000 });
  });

  it("an operator ban refuses, and lifting it admits again", async ({ expect }) => {
    const { id, key } = await createKey();
    setClock(T0);
    const isolates = await warmIsolates(key);
    const { body } = await operator("PUT", `/keys/${id}/ban`, { seconds: 90, reason: "abuse" });
    expect(body).toMatchObject({ effective: "immediately", ban: { endsAt: "2033-01-01T12:01:30Z" } });
    expect(await statusesAt(isolates, key)).toEqual([429, 429]);
    const lifted = await operator("DELETE", `/keys/${id}/ban`);
    expect(lifted.body).toMatchObject({ effective: "immediately", lifted: { reason: "abuse" } });
    expect(await statusesAt(isolates, key)).toEqual([200, 200]);
  });
});

describe("the grace period of a rotation", () => {
  it("keeps the old secret valid until its last second, with the same quota as the new one", async ({
    expect,
  }) => {
    const { id, key } = await createKey({ perMinute: 8 });
    setClock(T0);
    const isolates = await warmIsolates(key);
    const { body } = await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 30 });
    expect(await statusesAt(isolates, key)).toEqual([200, 200]);
    setClock(T0 + 30 * SECONDS - 1);
    expect(await statusesAt(isolates, key)).toEqual([200, 200]);
    expect(await statusesAt(isolates, body.key)).toEqual([200, 200]);
    expect(await statusesAt(isolates, body.key)).toEqual([429, 429]);
    setClock(T0 + 60 * SECONDS);
    expect(await statusesAt(isolates, key)).toEqual([401, 401]);
    expect(await statusesAt(isolates, body.key)).toEqual([200, 200]);
  });

  it("never exceeds the secret's own expiry", async ({ expect }) => {
    setClock(T0);
    const { id, key } = await createKey();
    const expiring = await addSecret(id, T0 / 1000 + 10);
    const { body } = await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 60 });
    expect(body.secrets).toMatchObject([
      { expiresAt: expect.stringMatching(/^2033-01-01T12:0[01]/) },
      { expiresAt: expect.stringMatching(/^2033-01-01T12:0[01]/) },
      { expiresAt: null },
    ]);
    const isolates = await warmIsolates(body.key);
    setClock(T0 + 10 * SECONDS);
    expect(await statusesAt(isolates, expiring)).toEqual([401, 401]);
    expect(await statusesAt(isolates, key)).toEqual([200, 200]);
  });

  it("never exceeds the key's own expiry", async ({ expect }) => {
    setClock(T0);
    const { id, key } = await createKey({ expiresAt: T0 / 1000 + 20 });
    const { body } = await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 3_600 });
    const isolates = await warmIsolates(key);
    setClock(T0 + 20 * SECONDS);
    expect(await statusesAt(isolates, key)).toEqual([401, 401]);
    expect(await statusesAt(isolates, body.key)).toEqual([401, 401]);
  });

  it("that is over keeps its end in a rotation without one", async ({ expect }) => {
    setClock(T0);
    const { id } = await createKey();
    const first = await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 10 });
    const [old] = first.body.secrets as { expiresAt: string }[]; // the documented shape
    setClock(T0 + 60 * SECONDS);
    const { body } = await operator("POST", `/keys/${id}/rotate`);
    expect(old?.expiresAt).toMatch(/^2033-01-01T12:00:1/);
    expect(body.secrets).toContainEqual(old);
  });

  it("is not extended by a second rotation", async ({ expect }) => {
    setClock(T0);
    const { id, key } = await createKey();
    const isolates = await warmIsolates(key);
    await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 10 });
    await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 600 });
    setClock(T0 + 10 * SECONDS);
    expect(await statusesAt(isolates, key)).toEqual([401, 401]);
  });
});
