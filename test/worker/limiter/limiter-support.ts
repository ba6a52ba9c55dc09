/** What tests of the limiter in workerd share: its object, its clock, and what the platform would bill it for. */
import {
  abortAllDurableObjects,
  createExecutionContext,
  runInDurableObject,
  waitOnExecutionContext,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { type MockInstance, vi } from "vitest";
import { createApp } from "../../../src/worker/app.ts";
import type { Bindings } from "../../../src/worker/context.ts";
import { banByHand } from "../../../src/worker/limiter/core/ban.ts";
import type { LimiterState } from "../../../src/worker/limiter/core/limiter-state.ts";
import type { Limits } from "../../../src/worker/limiter/core/quota.ts";
import type { KeyLimiter } from "../../../src/worker/limiter/key-limiter.ts";

export const FREE = { perMinute: 60, perDay: 1_000 };
export const PRO = { perMinute: 300, perDay: 10_000 };
export const BUSINESS = { perMinute: 1_000, perDay: 100_000 };

export type Limiter = DurableObjectStub<KeyLimiter>;

export function limiterOf(keyId: string): Limiter {
  return env.KEY_LIMITER.getByName(keyId);
}

export function freshLimiter(): Limiter {
  return limiterOf(`key_${crypto.randomUUID()}`);
}

/** Sets the clock of the Worker and of its objects; timers stay real. Far in the future, or alarms would ring. */
export function setClock(atMs: number): void {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(atMs);
}

/** Asks `count` times without waiting for answers, and counts the kinds of what comes back. */
export async function admitAtOnce(
  limiter: Limiter,
  limits: Limits,
  count: number,
): Promise<Record<string, number>> {
  const calls = Array.from({ length: count }, () => limiter.admit({ version: 1, limits }));
  return countOf((await Promise.all(calls)).map((verdict) => verdict.kind));
}

export function countOf(values: readonly (string | number)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** What the limiter has stored; undefined when it has no table. */
export function storedState(limiter: Limiter): Promise<LimiterState | undefined> {
  return runInDurableObject(limiter, (_, { storage }) => {
    const tables = storage.sql.exec("select 1 from sqlite_master where name = 'limiter_state'").toArray();
    if (tables.length === 0) return undefined;
    const { state } = storage.sql.exec<{ state: string }>("select state from limiter_state").one();
    return JSON.parse(state) as LimiterState; // only LimiterStorage writes this row
  });
}

/** Waits, in real time, until something holds that happens after an answer was given. */
export async function eventually(isTrue: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 250; tries++) {
    if (await isTrue()) return;
    await pause(20);
  }
  throw new Error("did not come true within 5 s");
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Until the report of the day's first request is noted in storage, as it is long before an idle eviction. */
export function firstReport(limiter: Limiter): Promise<void> {
  const dayStartMs = Math.floor(Date.now() / 86_400_000) * 86_400_000;
  return eventually(async () => (await storedState(limiter))?.reportedDayStartMs === dayStartMs);
}

/** Loses the object's memory at once: what was not yet stored never will be. The old stub is broken, hence a new one. */
export async function crash(limiter: Limiter): Promise<Limiter> {
  await abortAllDurableObjects();
  return env.KEY_LIMITER.get(limiter.id);
}

/** Until the quiet second after a burst has passed and the exact counts are stored. */
export async function quietSave(limiter: Limiter): Promise<void> {
  const laterMs = Date.now() + 1;
  setClock(laterMs);
  await eventually(async () => (await storedState(limiter))?.savedAtMs === laterMs);
}

/** The operator's ban, as the admin surface has the limiter hear it. */
export function banNow(limiter: Limiter, lengthMs: number): Promise<unknown> {
  const atMs = Date.now();
  const ban = banByHand("key", lengthMs, "testing", atMs);
  return limiter.applyBanOverride({ atMs, ban, forgive: false });
}

/** A limiter with a request a minute ago, so that the day's report and alarm are behind it. */
export async function limiterInUse(): Promise<Limiter> {
  const nowMs = Date.now();
  const limiter = freshLimiter();
  setClock(nowMs - 60_000);
  await limiter.admit({ version: 1, limits: FREE });
  await firstReport(limiter);
  setClock(nowMs);
  return limiter;
}

/** Rows written by any object while `body` runs, as the platform counts them, and one for each alarm that is set. */
export async function rowsWrittenBy(body: () => Promise<unknown>): Promise<number> {
  let rows = 0;
  const spies = await runInDurableObject(limiterOf("nobody"), (_, state) => {
    const sql: SqlStorage = Object.getPrototypeOf(state.storage.sql);
    const exec = sql.exec;
    const storage: DurableObjectStorage = Object.getPrototypeOf(state.storage);
    const setAlarm = storage.setAlarm;
    return [
      vi.spyOn(sql, "exec").mockImplementation(function (this: SqlStorage, ...args) {
        const cursor = exec.apply(this, args);
        rows += cursor.rowsWritten;
        return cursor;
      }),
      vi.spyOn(storage, "setAlarm").mockImplementation(function (this: DurableObjectStorage, ...args) {
        rows++;
        return setAlarm.apply(this, args);
      }),
    ];
  });
  try {
    await body();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return rows;
}

export type Caller = (key: string | null, path?: string, overrides?: Partial<Bindings>) => Promise<Response>;

/** A client of one isolate's worth of caches: two callers share what is stored, and nothing else. */
export function newIsolate(): Caller {
  const app = createApp();
  return async (key, path = "/v1/store/orders", overrides = {}) => {
    const headers: HeadersInit = key === null ? {} : { Authorization: `Bearer ${key}` };
    const ctx = createExecutionContext();
    const request = new Request(`https://api.example${path}`, { headers });
    const response = await app.fetch(request, { ...env, ...overrides }, ctx);
    await waitOnExecutionContext(ctx);
    return response;
  };
}

/** D1 with each statement counted, for a caller's overrides. */
export function countingD1(): { overrides: Partial<Bindings>; queries: () => number } {
  let queries = 0;
  const DB = new Proxy(env.DB, {
    get(target, name) {
      if (name === "prepare") queries++;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  return { overrides: { DB }, queries: () => queries };
}

/** Log lines of some thousand requests would bury the test's own output. */
export function withoutLog(): { errors: MockInstance<typeof console.error> } {
  vi.spyOn(console, "log").mockImplementation(() => {});
  return { errors: vi.spyOn(console, "error").mockImplementation(() => {}) };
}
