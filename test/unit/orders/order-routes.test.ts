/** The bounds on the lists and cancels that wait for D1. Their outcomes are tested in workerd. */
import { Hono } from "hono";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import type { AppEnv, Bindings } from "../../../src/worker/context.ts";
import { renderError, toApiError } from "../../../src/worker/errors.ts";
import { MAX_CANCEL_MS } from "../../../src/worker/orders/order-cancellation.ts";
import type { ListResponse } from "../../../src/worker/orders/order-list.ts";
import {
  MAX_LIST_WAIT_MS,
  MAX_WAITING_CANCELS,
  MAX_WAITING_LISTS,
  storeOrderRoutes,
} from "../../../src/worker/orders/order-routes.ts";
import { TimeoutError } from "../../../src/worker/with-timeout.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The routes of one isolate, with a list and a D1 that answer nothing before `release`. */
function startRoutes() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const statement = { bind: () => statement };
  const batch = async () => {
    await released;
    return [{ results: [] }, { results: [{ done: 1 }] }, { results: [] }];
  };
  const open = async (): Promise<ListResponse> => {
    await released;
    return { kind: "unchanged", etag: '"1"' };
  };
  const thrown: unknown[] = [];
  const app = new Hono<AppEnv>();
  app.use(async (c, next) => {
    // The routes read the id only: there is no verdict, and so no bookmark.
    c.set("key", { id: c.req.header("Authorization") } as AppEnv["Variables"]["key"]);
    await next();
  });
  app.route("/", storeOrderRoutes({ open }));
  app.onError((error) => {
    thrown.push(error);
    return renderError(toApiError(error));
  });
  // Without read replication, a cancel uses these members of D1 only.
  const env = { DB: { prepare: () => statement, batch } } as unknown as Bindings;
  const ctx = {
    waitUntil: () => {},
    passThroughOnException: () => {},
    props: {},
  };
  const send = async (method: string, key: string) => {
    const path = method === "DELETE" ? "/77" : "/";
    return app.request(path, { method, headers: { Authorization: key } }, env, ctx);
  };
  const sendMany = (count: number, method: string, key: string) =>
    Array.from({ length: count }, () => send(method, key));
  return { send, sendMany, release, thrown };
}

async function statusesOf(responses: Promise<Response>[]): Promise<number[]> {
  return [...new Set((await Promise.all(responses)).map(({ status }) => status))];
}

const KINDS = [
  { method: "DELETE", other: "GET", max: MAX_WAITING_CANCELS, maxMs: MAX_CANCEL_MS, status: 204 },
  { method: "GET", other: "DELETE", max: MAX_WAITING_LISTS, maxMs: MAX_LIST_WAIT_MS, status: 304 },
];

describe.for(KINDS)("waiting requests: $method", ({ method, other, max, maxMs, status }) => {
  it("are answered 503 beyond the bound of their key, which other keys do not share", async ({ expect }) => {
    const { send, sendMany, release } = startRoutes();
    const waiting = sendMany(max.maxPerKey, method, "a");
    const refused = await send(method, "a");
    expect(refused.status).toBe(503);
    expect(refused.headers.get("Retry-After")).toBe("5");
    const ofOther = send(method, "b");
    release();
    expect(await statusesOf([...waiting, ofOther])).toEqual([status]);
    expect((await send(method, "a")).status).toBe(status);
  });

  it("are answered 503 beyond the bound in all, which the others do not share", async ({ expect }) => {
    const { send, sendMany, release } = startRoutes();
    const ofOne = sendMany(max.maxPerKey, method, "a");
    const ofOther = sendMany(max.maxInAll - max.maxPerKey, method, "b");
    expect((await send(method, "c")).status).toBe(503);
    const others = send(other, "c");
    release();
    expect(await statusesOf([...ofOne, ...ofOther])).toEqual([status]);
    expect((await others).status).toBeLessThan(400);
    expect((await send(method, "c")).status).toBe(status);
  });

  it(`time out after ${maxMs} ms, and then wait no more`, async ({ expect }) => {
    const { send, sendMany, release, thrown } = startRoutes();
    const waiting = Promise.all(sendMany(max.maxPerKey, method, "a"));
    await vi.advanceTimersByTimeAsync(maxMs - 1);
    expect(thrown).toEqual([]);
    const further = send(method, "a");
    await vi.advanceTimersByTimeAsync(0);
    expect(thrown.splice(0), "they count until then").toHaveLength(1);
    expect((await further).status).toBe(503);
    await vi.advanceTimersByTimeAsync(1);
    await waiting;
    expect(thrown).toHaveLength(max.maxPerKey);
    expect(thrown[0]).toBeInstanceOf(TimeoutError);
    release();
    expect((await send(method, "a")).status).toBe(status);
  });
});
