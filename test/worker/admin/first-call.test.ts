/** Only a client's request creates a limiter, because a Durable Object stays where it was first called. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { LOCATIONS } from "../../../src/worker/db/values.ts";
import { createKey } from "../../support/factories.ts";
import { captureLog, LIST, startApp, watchLimiters } from "../../support/worker.ts";
import { operatorOf } from "./admin-support.ts";

beforeEach(() => void captureLog());
afterEach(() => vi.restoreAllMocks());

function watchedOperator() {
  const { KEY_LIMITER, addressed } = watchLimiters();
  return { operator: operatorOf(startApp({ KEY_LIMITER })), addressed };
}

describe("a key that was never used", () => {
  it.for<{ what: string; request: (id: string) => [method: string, path: string, body?: unknown] }>([
    { what: "showing it", request: (id) => ["GET", `/keys/${id}`] },
    { what: "showing its usage", request: (id) => ["GET", `/keys/${id}/usage`] },
    { what: "showing its history", request: (id) => ["GET", `/keys/${id}/history`] },
    { what: "listing usage", request: () => ["GET", "/usage"] },
    { what: "listing bans", request: () => ["GET", "/bans"] },
    { what: "listing its bans", request: (id) => ["GET", `/bans?key=${id}`] },
    { what: "changing it", request: (id) => ["PATCH", `/keys/${id}`, { requestsPerMinute: 5 }] },
    { what: "rotating it", request: (id) => ["POST", `/keys/${id}/rotate`, {}] },
    { what: "banning it", request: (id) => ["PUT", `/keys/${id}/ban`, { seconds: 60, reason: "test" }] },
    { what: "lifting its ban", request: (id) => ["DELETE", `/keys/${id}/ban`] },
    { what: "changing its plan", request: () => ["PATCH", "/plans/business", { requestsPerMinute: 999 }] },
    { what: "revoking it", request: (id) => ["DELETE", `/keys/${id}`] },
  ])("does not have its limiter created by $what", async ({ request }, { expect }) => {
    const { id } = await createKey();
    const { operator, addressed } = watchedOperator();
    const { status, body } = await operator(...request(id));
    expect(status).toBe(200);
    expect(addressed()).not.toContain(id);
    if ("effective" in body) expect(body.effective).toBe("immediately");
  });

  it("is shown with its whole quota", async ({ expect }) => {
    const { id } = await createKey({ perMinute: 7, perDay: 9 });
    const { operator } = watchedOperator();
    expect((await operator("GET", `/keys/${id}`)).body).toMatchObject({
      firstUsedAt: null,
      live: { minute: { limit: 7, used: 0, remaining: 7 }, day: { remaining: 9 }, strikes: 0, ban: null },
    });
  });

  it("is refused if it was banned before its first request", async ({ expect }) => {
    const { id, key } = await createKey();
    const { operator } = watchedOperator();
    await operator("PUT", `/keys/${id}/ban`, { seconds: 600, reason: "test" });
    expect((await operator("GET", `/keys/${id}`)).body.live).toMatchObject({ ban: { reason: "test" } });
    expect((await startApp()(LIST, { key })).status).toBe(429);
  });
});

describe("a key's location", () => {
  it("is the location hint for its limiter", async ({ expect }) => {
    const { operator } = watchedOperator();
    const created = await operator("POST", "/keys", { name: "far", plan: "free", location: "oc" });
    expect(created.body).toMatchObject({ location: "oc" });
    const { KEY_LIMITER, addressed, locationHints } = watchLimiters();
    const app = startApp({ KEY_LIMITER });
    expect((await app(LIST, { key: created.body.key })).status).toBe(200);
    await operatorOf(app)("GET", `/keys/${created.body.id}`);
    expect(addressed()).toEqual([created.body.id, created.body.id]);
    expect(locationHints()).toEqual(["oc", "oc"]);
  });

  it("is none by default", async ({ expect }) => {
    const { key } = await createKey();
    const { KEY_LIMITER, locationHints } = watchLimiters();
    await startApp({ KEY_LIMITER })(LIST, { key });
    expect(locationHints()).toEqual([undefined]);
  });

  it("must be one of Cloudflare's location hints", async ({ expect }) => {
    const { operator } = watchedOperator();
    const { status, body } = await operator("POST", "/keys", { name: "x", plan: "free", location: "moon" });
    expect([status, body.message]).toEqual([400, `location: must be one of ${LOCATIONS.join(", ")}`]);
    for (const location of LOCATIONS) {
      expect((await operator("POST", "/keys", { name: "x", plan: "free", location })).status).toBe(201);
    }
  });
});

describe("a change whose operator disconnects before the limiter is told", () => {
  it("is still sent to the limiter", async ({ expect }) => {
    const { id, key } = await createKey();
    const isolate = startApp();
    await isolate(LIST, { key });
    const kept: Promise<unknown>[] = [];
    const { promise: hungUp, resolve: hangUp } = Promise.withResolvers<void>();
    const getByName = (name: string) => ({
      forget: async () => {
        await hungUp;
        await env.KEY_LIMITER.getByName(name).forget();
      },
    });
    const operator = operatorOf(
      // Addressed by name only.
      startApp({ KEY_LIMITER: { getByName } as unknown as typeof env.KEY_LIMITER }, (promise) =>
        kept.push(promise),
      ),
    );
    void operator("DELETE", `/keys/${id}`);
    await vi.waitFor(() => expect(kept).toHaveLength(1));
    hangUp();
    await Promise.all(kept);
    expect((await isolate(LIST, { key })).status).toBe(401);
  });
});
