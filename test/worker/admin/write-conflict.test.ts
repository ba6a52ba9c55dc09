/** Two operators change one key at the same time: D1's order of commits decides, and the limiter follows it. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import type { Bindings } from "../../../src/worker/context.ts";
import type { KeyPolicy } from "../../../src/worker/limiter/core/decide.ts";
import { createKey } from "../../support/factories.ts";
import { captureLog, LIST, setClock, startApp } from "../../support/worker.ts";
import {
  banByStrikes,
  type Operator,
  operatorOf,
  unreachableLimiters,
  untilStored,
  withoutReportsTo,
} from "./admin-support.ts";

const app = startApp();
const operator = operatorOf(app);

beforeEach(() => {
  captureLog();
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** An operator whose calls read before `first` runs, and write after it. */
function writingAfter(first: () => Promise<unknown>): Operator {
  let left = 1;
  let isChange = false; // reporting a ban for the limiter is a batch, too
  const DB = {
    prepare: (query: string) => {
      isChange ||= query.includes("audit_log");
      return env.DB.prepare(query);
    },
    batch: async (statements: D1PreparedStatement[]) => {
      if (isChange && left-- > 0) await first();
      return env.DB.batch(statements);
    },
  };
  // The app uses these two members only.
  return operatorOf(startApp({ DB: DB as unknown as D1Database }));
}

/** An operator whose calls read the key before `first` runs, and inspect its limiter after it. */
function inspectingAfter(first: () => Promise<unknown>): Operator {
  const getByName = (name: string) => {
    const limiter = env.KEY_LIMITER.getByName(name);
    const inspect = async (policy: KeyPolicy) => {
      await first();
      return limiter.inspect(policy);
    };
    const raiseMinVersion = (id: string, version: number) => limiter.raiseMinVersion(id, version);
    return { inspect, raiseMinVersion };
  };
  // The admin API addresses limiters by name only, and calls these two methods.
  return operatorOf(startApp({ KEY_LIMITER: { getByName } as unknown as Bindings["KEY_LIMITER"] }));
}

async function reasonsOfLiveBans(id: string) {
  const listed = (await operator("GET", `/bans?key=${id}&state=live`)).body.bans as { reason: string }[];
  const live = (await operator("GET", `/keys/${id}`)).body.live as { ban: { reason: string } | null };
  return { listed: listed.map(({ reason }) => reason), inForce: live.ban?.reason ?? null };
}

const ban = (id: string, reason: string, by = operator) =>
  by("PUT", `/keys/${id}/ban`, { seconds: 600, reason });

describe("a ban and a lift at the same time", () => {
  it("do not lift a ban that the lift did not read", async ({ expect }) => {
    const { id, key } = await createKey();
    await ban(id, "before");
    const late = writingAfter(() => ban(id, "meanwhile"));
    expect((await late("DELETE", `/keys/${id}/ban`)).body).toEqual({
      lifted: null,
      liftedAll: false,
      effective: "immediately",
    });
    expect(await reasonsOfLiveBans(id)).toEqual({ listed: ["meanwhile"], inForce: "meanwhile" });
    expect((await app(LIST, { key })).status).toBe(429);
    expect((await operator("GET", `/audit?object=${id}`)).body.audit).toMatchObject([
      { call: "bans.set", before: { reason: "before" }, after: { reason: "meanwhile" } },
      { call: "bans.set", before: null, after: { reason: "before" } },
    ]);
  });

  it("do not lift a ban that is set while the limiter is inspected", async ({ expect }) => {
    const { id, key } = await createKey({ used: true });
    const slow = inspectingAfter(() => ban(id, "meanwhile"));
    const nothing = { lifted: null, liftedAll: false, effective: "immediately" };
    expect((await slow("DELETE", `/keys/${id}/ban`)).body).toEqual(nothing);
    expect(await reasonsOfLiveBans(id)).toEqual({ listed: ["meanwhile"], inForce: "meanwhile" });

    const again = inspectingAfter(() => ban(id, "once more"));
    expect((await again("DELETE", `/keys/${id}/ban`)).body).toEqual(nothing);
    expect(await reasonsOfLiveBans(id)).toEqual({ listed: ["once more"], inForce: "once more" });
    expect((await app(LIST, { key })).status).toBe(429);
    expect((await operator("GET", `/audit?object=${id}&call=bans.lift`)).body.audit).toEqual([]);
  });

  it("say that a ban was set after a lift that found none", async ({ expect }) => {
    const { id, key } = await createKey();
    const late = writingAfter(() => ban(id, "meanwhile"));
    expect((await late("DELETE", `/keys/${id}/ban`)).body).toMatchObject({ lifted: null, liftedAll: false });
    expect((await app(LIST, { key })).status).toBe(429);
  });

  it("refuse a lift that names the ban which was replaced meanwhile, also if it forgives", async ({
    expect,
  }) => {
    const { id } = await createKey({ used: true });
    const set = await ban(id, "before");
    const { id: seen } = set.body.ban as { id: string }; // the body of this route
    const late = writingAfter(() => ban(id, "meanwhile"));
    const lift = await late("DELETE", `/keys/${id}/ban`, { ban: seen, forgive: true });
    expect([lift.status, lift.body.code]).toEqual([409, "conflict"]);
    const [live] = (await operator("GET", `/bans?key=${id}&state=live`)).body.bans as { id: string }[];
    expect(lift.body.message).toContain(`replaced. The key's live ban is ${live?.id}, until 20`);
    expect(await reasonsOfLiveBans(id)).toEqual({ listed: ["meanwhile"], inForce: "meanwhile" });
    expect((await operator("GET", `/audit?object=${id}&call=bans.lift`)).body.audit).toEqual([]);
  });

  it("keep the ban that was written after the lift", async ({ expect }) => {
    const { id, key } = await createKey();
    await ban(id, "before");
    const late = writingAfter(() => operator("DELETE", `/keys/${id}/ban`));
    expect(await ban(id, "late", late)).toMatchObject({ body: { effective: "immediately" } });
    expect(await reasonsOfLiveBans(id)).toEqual({ listed: ["late"], inForce: "late" });
    expect((await app(LIST, { key })).status).toBe(429);
  });

  it("keep the ban that was written before a lift that forgives an earlier one", async ({ expect }) => {
    const T0 = Date.UTC(2038, 2, 1, 12);
    const key = await createKey({ perMinute: 1 });
    await banByStrikes(key, app, T0);
    await untilStored("select 1 from bans where key_id = ?", key.id);
    setClock(T0 + 600_000);
    await ban(key.id, "before");
    const late = writingAfter(() => ban(key.id, "meanwhile"));
    const { body } = await late("DELETE", `/keys/${key.id}/ban`, { forgive: true });
    expect(body).toMatchObject({ lifted: null, liftedAll: false });
    expect(await reasonsOfLiveBans(key.id)).toEqual({ listed: ["meanwhile"], inForce: "meanwhile" });
    expect((await app(LIST, { key: key.key })).status).toBe(429);
    vi.useRealTimers();
  });

  it("of the same ban: one lifts it, and there is one audit row", async ({ expect }) => {
    const { id, key } = await createKey();
    await ban(id, "before");
    const late = writingAfter(() => operator("DELETE", `/keys/${id}/ban`));
    expect((await late("DELETE", `/keys/${id}/ban`)).body).toMatchObject({ lifted: null, liftedAll: true });
    expect((await operator("GET", `/audit?object=${id}`)).body.audit).toHaveLength(2);
    expect((await app(LIST, { key })).status).toBe(200);
  });
});

describe("a key with two live bans", () => {
  /** A ban for strikes, which ends last, and one that an operator set before D1 knew of the other. */
  async function banTwice(startMs: number) {
    const key = await createKey({ perMinute: 1 });
    await withoutReportsTo(["bans"], () => banByStrikes(key, app, startMs));
    const unreachable = operatorOf(startApp({ KEY_LIMITER: unreachableLimiters() }));
    const set = await unreachable("PUT", `/keys/${key.id}/ban`, { seconds: 60, reason: "abuse" });
    const listed = (await operator("GET", `/bans?key=${key.id}&state=live`)).body.bans as { id: string }[];
    const { id: byOperator } = set.body.ban as { id: string }; // the body of this route
    const byStrikes = listed.map(({ id }) => id).filter((id) => id !== byOperator);
    return { path: `/keys/${key.id}/ban`, byOperator, byStrikes: String(byStrikes) };
  }

  it("of which another operator lifts one: a lift answers with the one that it lifted", async ({
    expect,
  }) => {
    const { path, byOperator, byStrikes } = await banTwice(Date.UTC(2038, 3, 1, 12));
    const late = writingAfter(() => operator("DELETE", path, { ban: byStrikes }));
    expect((await late("DELETE", path)).body).toMatchObject({ lifted: { id: byOperator }, liftedAll: true });
    vi.useRealTimers();
  });

  it("of which another operator lifts one: a lift that names the other one leaves none", async ({
    expect,
  }) => {
    const { path, byOperator, byStrikes } = await banTwice(Date.UTC(2038, 4, 1, 12));
    const late = writingAfter(() => operator("DELETE", path, { ban: byOperator }));
    const { body } = await late("DELETE", path, { ban: byStrikes });
    expect(body).toMatchObject({ lifted: { id: byStrikes }, liftedAll: true });
    vi.useRealTimers();
  });
});

describe("two lifts at the same time, one of which forgives", () => {
  it("have an audit row each, as each changed the key's record", async ({ expect }) => {
    const T0 = Date.UTC(2038, 0, 1, 12);
    const key = await createKey({ perMinute: 1 });
    await banByStrikes(key, app, T0);
    const late = writingAfter(() => operator("DELETE", `/keys/${key.id}/ban`));
    await late("DELETE", `/keys/${key.id}/ban`, { forgive: true });
    const { forgiven } = (await env.DB.prepare(
      "select forgiven_ban_id as forgiven from api_keys where id = ?",
    )
      .bind(key.id)
      .first()) as { forgiven: string | null };
    expect(forgiven).toContain(key.id);
    expect((await operator("GET", `/audit?object=${key.id}`)).body.audit).toMatchObject([
      { call: "bans.lift", before: null, after: { forgive: true } },
      { call: "bans.lift", before: { cause: "strikes" }, after: { forgive: false } },
    ]);
    vi.useRealTimers();
  });

  it("do not undo the lift of a ban that began in between", async ({ expect }) => {
    const T0 = Date.UTC(2038, 1, 1, 12);
    const key = await createKey({ perMinute: 1 });
    await banByStrikes(key, app, T0);
    await untilStored("select 1 from bans where key_id = ?", key.id);
    const late = writingAfter(async () => {
      await operator("DELETE", `/keys/${key.id}/ban`);
      await banByStrikes(key, app, T0 + 60_000);
      await untilStored("select 1 from bans where key_id = ? and lifted_at is null", key.id);
      await operator("DELETE", `/keys/${key.id}/ban`);
    });
    await late("DELETE", `/keys/${key.id}/ban`);
    setClock(T0 + 120_000);
    expect(await reasonsOfLiveBans(key.id)).toEqual({ listed: [], inForce: null });
    const live = (await operator("GET", `/keys/${key.id}`)).body.live;
    expect(live).toMatchObject({ ban: null });
    expect((await app(LIST, { key: key.key })).status).toBe(200);
    vi.useRealTimers();
  });
});

describe("two bans at the same time", () => {
  it("keep the one that is written last, and each has its audit row", async ({ expect }) => {
    const { id, key } = await createKey();
    const late = writingAfter(() => ban(id, "meanwhile"));
    await ban(id, "late", late);
    expect(await reasonsOfLiveBans(id)).toEqual({ listed: ["late"], inForce: "late" });
    expect((await app(LIST, { key })).status).toBe(429);
    expect((await operator("GET", `/audit?object=${id}`)).body.audit).toMatchObject([
      { before: { reason: "meanwhile" }, after: { reason: "late" } },
      { before: null, after: { reason: "meanwhile" } },
    ]);
  });
});

describe("operators whose clocks are 200 ms apart", () => {
  it("ban and lift in the order of their calls", async ({ expect }) => {
    const T0 = Date.UTC(2037, 0, 1, 12);
    const { id, key } = await createKey();
    setClock(T0 + 200);
    await ban(id, "by the clock that is ahead");
    expect((await app(LIST, { key })).status).toBe(429);
    setClock(T0);
    const { body } = await operator("DELETE", `/keys/${id}/ban`);
    expect(body).toMatchObject({ lifted: { live: false }, effective: "immediately" });
    expect((await app(LIST, { key })).status).toBe(200);
    await ban(id, "by the clock that is behind");
    setClock(T0 + 200);
    expect((await app(LIST, { key })).status).toBe(429);
    vi.useRealTimers();
  });
});

describe("operators whose clocks are 2 s apart", () => {
  it("end no ban before it began: it was replaced or lifted at its start", async ({ expect }) => {
    const T0 = Date.UTC(2037, 1, 1, 12);
    const { id } = await createKey();
    setClock(T0 + 2_000);
    await ban(id, "first");
    setClock(T0);
    const { body } = await ban(id, "second");
    expect(body.replaced).toMatchObject([
      { reason: "first", startedAt: "2037-02-01T12:00:02Z", liftedAt: "2037-02-01T12:00:02Z" },
    ]);
    setClock(T0 - 2_000);
    expect((await operator("DELETE", `/keys/${id}/ban`)).body.lifted).toMatchObject({
      ...{ reason: "second", startedAt: "2037-02-01T12:00:00Z", liftedAt: "2037-02-01T12:00:00Z" },
    });
    vi.useRealTimers();
  });
});

describe("a ban that is over before the limiter has answered", () => {
  it("is not called live", async ({ expect }) => {
    const T0 = Date.UTC(2037, 2, 1, 12);
    const { id } = await createKey({ used: true });
    setClock(T0);
    const slow = inspectingAfter(async () => setClock(T0 + 2_000));
    const { body } = await slow("PUT", `/keys/${id}/ban`, { seconds: 1, reason: "short" });
    expect(body.ban).toMatchObject({ endsAt: "2037-03-01T12:00:01Z", live: false });
    vi.useRealTimers();
  });
});

describe("a change that would leave the key without a limit, because of another change before it", () => {
  it("is a conflict, and leaves no audit row", async ({ expect }) => {
    const { id } = await createKey({ plan: "pro", perMinute: 5, perDay: 5 });
    const giveUp = { requestsPerMinute: null, requestsPerDay: null };
    const late = writingAfter(() => operator("PATCH", `/keys/${id}`, giveUp));
    const { status, body } = await late("PATCH", `/keys/${id}`, { plan: "enterprise" });
    expect([status, body.code]).toEqual([409, "conflict"]);
    expect((await operator("GET", `/keys/${id}`)).body).toMatchObject({ plan: "pro", ...giveUp });
    expect((await operator("GET", `/audit?object=${id}`)).body.audit).toHaveLength(1);
  });

  it("is a conflict for a new key too, if its plan has lost the limit", async ({ expect }) => {
    await operator("PATCH", "/plans/enterprise", { requestsPerMinute: 5, requestsPerDay: 5 });
    const take = { requestsPerMinute: null, requestsPerDay: null };
    const late = writingAfter(() => operator("PATCH", "/plans/enterprise", take));
    expect(await late("POST", "/keys", { name: "late", plan: "enterprise" })).toMatchObject({ status: 409 });
  });
});

describe("a revoked key", () => {
  it("does not prevent its plan from losing the limits that it relied on", async ({ expect }) => {
    await operator("PATCH", "/plans/enterprise", { requestsPerMinute: 5, requestsPerDay: 5 });
    const { id, key } = await createKey({ plan: "enterprise" });
    await operator("DELETE", `/keys/${id}`);
    const none = { requestsPerMinute: null, requestsPerDay: null };
    expect((await operator("PATCH", "/plans/enterprise", none)).body).toMatchObject(none);
    expect((await operator("GET", `/keys/${id}`)).body).toMatchObject({
      status: "revoked",
      limits: { requestsPerMinute: 0, requestsPerDay: 0 },
      live: { day: { limit: 0, remaining: 0 } },
    });
    expect((await operator("GET", "/bans")).status).toBe(200);
    expect((await app(LIST, { key })).status).toBe(401);
  });
});
