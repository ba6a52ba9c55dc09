/** The list of bans; banning a key, lifting its bans and forgiving them. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import type { Bindings } from "../../../src/worker/context.ts";
import { createKey } from "../../support/factories.ts";
import { captureLog, setClock, startApp } from "../../support/worker.ts";
import {
  banByStrikes,
  operatorOf,
  unreachableLimiters,
  untilStored,
  withoutReportsTo,
} from "./admin-support.ts";

const T0 = Date.UTC(2035, 0, 1, 12);
const DAY = 86_400_000;
const MINUTE = 60_000;

const app = startApp();
const operator = operatorOf(app);

let log: ReturnType<typeof captureLog>;
beforeEach(() => {
  log = captureLog();
  setClock(T0);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function bansOf(keyId: string, state = "all"): Promise<unknown> {
  return (await operator("GET", `/bans?key=${keyId}&state=${state}`)).body.bans;
}

describe("the list of bans", () => {
  it("has the key, cause, strikes, start and end of a live ban", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await banByStrikes(key, app, T0);
    await untilStored("select 1 from bans where key_id = ?", key.id);
    const ban = {
      id: expect.stringContaining(key.id),
      keyId: key.id,
      keyName: "test",
      cause: "strikes",
      reason: null,
      strikes: 20,
      startedAt: "2035-01-01T12:00:01Z",
      endsAt: "2035-01-01T12:05:01Z",
      liftedAt: null,
      liftedBy: null,
      live: true,
    };
    expect(await bansOf(key.id)).toEqual([ban]);
    expect(await bansOf(key.id, "live")).toEqual([ban]);
    expect(await bansOf(key.id, "past")).toEqual([]);
    setClock(T0 + 6 * MINUTE);
    expect(await bansOf(key.id, "live")).toEqual([]);
    expect(await bansOf(key.id, "past")).toEqual([{ ...ban, live: false }]);
  });

  it("has a live ban whose report to D1 failed", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await app("/v1/nothing", { key: key.key });
    await untilStored("select 1 from daily_usage where key_id = ?", key.id);
    await withoutReportsTo(["bans"], () => banByStrikes(key, app, T0 + MINUTE));
    expect(log.lines()).toContainEqual(expect.objectContaining({ event: "usage_report_failed" }));
    expect(await env.DB.prepare("select 1 from bans where key_id = ?").bind(key.id).first()).toBeNull();

    const ban = { keyId: key.id, cause: "strikes", strikes: 20, live: true, liftedBy: null };
    expect(await bansOf(key.id)).toMatchObject([ban]);
    expect((await operator("GET", "/bans?state=live")).body.bans).toContainEqual(
      expect.objectContaining(ban),
    );
    expect(await bansOf(key.id, "past")).toEqual([]);
  });

  it("has it also if the reports of the key's usage failed too", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await withoutReportsTo(["bans", "daily_usage"], () => banByStrikes(key, app, T0 + 2 * MINUTE));
    const { body } = await operator("GET", "/bans?state=live");
    expect(body.bans).toContainEqual(expect.objectContaining({ keyId: key.id, cause: "strikes" }));
    const usage = await operator("GET", "/usage");
    expect(usage.body.keys).toContainEqual(
      expect.objectContaining({ keyId: key.id, admitted: 1, refused: 21 }),
    );
  });

  it("is newest first and cut at the limit, whichever of them D1 has", async ({ expect }) => {
    const older = await createKey({ perMinute: 1 });
    await banByStrikes(older, app, T0 + 4 * MINUTE);
    await untilStored("select 1 from bans where key_id = ?", older.id);
    setClock(T0 + 6 * MINUTE);
    const newer = await createKey({ used: true });
    await operator("PUT", `/keys/${newer.id}/ban`, { seconds: 600, reason: "newest" });
    const { body } = await operator("GET", "/bans?state=live&limit=1");
    expect(body.bans).toMatchObject([{ keyId: newer.id, reason: "newest" }]);
  });

  it("has the live bans that end last first, and the past ones that ended last first", async ({ expect }) => {
    const nowMs = T0 + 400 * DAY;
    setClock(nowMs);
    const now = nowMs / 1000;
    const insert = env.DB.prepare(
      `insert into bans (id, key_id, cause, strikes, started_at, ends_at, lifted_at)
       values (?, 'key_of_no_limiter', 'operator', 0, ?, ?, ?)`,
    );
    await env.DB.batch([
      insert.bind("live_newer", now - 100, now + 10, null),
      insert.bind("live_older", now - 200, now + 1_000, null),
      insert.bind("over_newer", now - 100, now - 50, null),
      insert.bind("over_older", now - 200, now - 10, null),
      insert.bind("lifted", now - 300, now + 2_000, now - 5),
    ]);
    const shown = async (query: string) => (await operator("GET", `/bans?${query}`)).body.bans;
    expect(await shown("state=live&limit=1")).toMatchObject([{ id: "live_older" }]);
    expect(await shown("state=live&limit=9")).toMatchObject([{ id: "live_older" }, { id: "live_newer" }]);
    expect(await shown("state=past&limit=1")).toMatchObject([{ id: "lifted" }]);
    expect(await shown("state=past&limit=2")).toMatchObject([{ id: "lifted" }, { id: "over_older" }]);
    expect(await shown("state=all&limit=1")).toMatchObject([{ id: "over_newer" }]);
  });

  it("has who lifted a ban and when, also for a ban whose report failed", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await withoutReportsTo(["bans"], () => banByStrikes(key, app, T0 + 3 * MINUTE));
    setClock(T0 + 4 * MINUTE);
    const { body } = await operator("DELETE", `/keys/${key.id}/ban`);
    expect(body.lifted).toMatchObject({ cause: "strikes", strikes: 20 });
    expect(await bansOf(key.id, "live")).toEqual([]);
    expect(await bansOf(key.id)).toMatchObject([
      { cause: "strikes", live: false, liftedAt: "2035-01-01T12:04:00Z", liftedBy: "mo" },
    ]);
    expect((await app("/v1/nothing", { key: key.key })).status).toBe(404);
  });
});

describe("lifting", () => {
  it("does not mark a ban as lifted that was already over", async ({ expect }) => {
    const { id } = await createKey();
    await operator("PUT", `/keys/${id}/ban`, { seconds: 60, reason: "first" });
    setClock(T0 + 2 * MINUTE);
    await operator("PUT", `/keys/${id}/ban`, { seconds: 60, reason: "second" });
    setClock(T0 + 2 * MINUTE + 1_000);
    await operator("DELETE", `/keys/${id}/ban`);
    expect(await bansOf(id)).toMatchObject([
      { reason: "second", liftedAt: "2035-01-01T12:02:01Z" },
      { reason: "first", liftedAt: null, liftedBy: null },
    ]);
  });

  it("by an operator ban names the live ban for strikes in the key's record, and none that is over", async ({
    expect,
  }) => {
    const key = await createKey({ perMinute: 1 });
    const liftedBanId = () =>
      env.DB.prepare("select lifted_ban_id from api_keys where id = ?").bind(key.id).first("lifted_ban_id");
    await banByStrikes(key, app, T0);
    setClock(T0 + 6 * MINUTE);
    await operator("PUT", `/keys/${key.id}/ban`, { seconds: 60, reason: "the ban for strikes is over" });
    expect(await liftedBanId()).toBeNull();
    setClock(T0 + 8 * MINUTE);
    await banByStrikes(key, app, T0 + 8 * MINUTE);
    await operator("PUT", `/keys/${key.id}/ban`, { seconds: 60, reason: "the ban for strikes is live" });
    expect(await liftedBanId()).toBe(`ban_${key.id}_${T0 + 8 * MINUTE + 1_000}`);
  });

  it("ends an operator ban and a ban for strikes at the same time", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await withoutReportsTo(["bans"], () => banByStrikes(key, app, T0));
    const unreachable = operatorOf(startApp({ KEY_LIMITER: unreachableLimiters() }));
    await unreachable("PUT", `/keys/${key.id}/ban`, { seconds: 60, reason: "abuse" });
    await operator("DELETE", `/keys/${key.id}/ban`);
    expect(await bansOf(key.id, "live")).toEqual([]);
    expect((await operator("GET", `/keys/${key.id}`)).body.live).toMatchObject({ ban: null });
    setClock(T0 + MINUTE);
    expect((await app("/v1/nothing", { key: key.key })).status).toBe(404);
  });

  async function banTwice(forgive: boolean): Promise<{ from: string; until: string }> {
    const key = await createKey({ perMinute: 1 });
    await banByStrikes(key, app, T0);
    await untilStored("select 1 from bans where key_id = ?", key.id);
    setClock(T0 + MINUTE);
    await operator("DELETE", `/keys/${key.id}/ban`, { forgive });
    await banByStrikes(key, app, T0 + 2 * MINUTE);
    await untilStored("select 1 from bans where key_id = ? and lifted_at is null", key.id);
    const [ban] = (await bansOf(key.id, "live")) as [{ startedAt: string; endsAt: string }];
    return { from: ban.startedAt, until: ban.endsAt };
  }

  it("keeps the escalation: the next ban is twice as long", async ({ expect }) => {
    expect(await banTwice(false)).toEqual({ from: "2035-01-01T12:02:01Z", until: "2035-01-01T12:12:01Z" });
  });

  it("with `forgive` makes the next ban a first one again", async ({ expect }) => {
    expect(await banTwice(true)).toEqual({ from: "2035-01-01T12:02:01Z", until: "2035-01-01T12:07:01Z" });
  });

  it("an operator ban does not revive the ban for strikes that was lifted before it", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await banByStrikes(key, app, T0);
    await untilStored("select 1 from bans where key_id = ?", key.id);
    const path = `/keys/${key.id}/ban`;
    expect((await operator("DELETE", path)).body.lifted).toMatchObject({ cause: "strikes" });
    await operator("PUT", path, { seconds: 3_600, reason: "abuse" });
    expect((await operator("DELETE", path)).body.lifted).toMatchObject({ cause: "operator" });
    setClock(T0 + MINUTE);
    expect((await app("/v1/nothing", { key: key.key })).status).toBe(404);
  });

  it("returns the ban with its end, when it was lifted, and by whom", async ({ expect }) => {
    const { id } = await createKey();
    await operator("PUT", `/keys/${id}/ban`, { seconds: 60, reason: "abuse" });
    setClock(T0 + 1_000);
    const { body } = await operator("DELETE", `/keys/${id}/ban`);
    expect(body.lifted).toMatchObject({ liftedAt: "2035-01-01T12:00:01Z", liftedBy: "mo", live: false });
    expect(await bansOf(id)).toEqual([body.lifted]);
  });

  it("that names a ban refuses if the key's live ban is another one or none, and changes nothing", async ({
    expect,
  }) => {
    const { id } = await createKey();
    const ban = async (reason: string) => {
      const { body } = await operator("PUT", `/keys/${id}/ban`, { seconds: 600, reason });
      return (body.ban as { id: string }).id; // the body of this route
    };
    const lift = (body: object) => operator("DELETE", `/keys/${id}/ban`, body);
    const [first, second] = [await ban("polling too fast"), await ban("leaked, do not lift")];
    for (const forgive of [false, true]) {
      const { status, body } = await lift({ ban: first, forgive });
      expect([status, body.code], String(forgive)).toEqual([409, "conflict"]);
      expect(body.message).toBe(
        `This ban is not live any more: it has ended, or it was lifted or replaced. The key's live ban is ${second}, until 2035-01-01T12:10:00Z.`,
      );
    }
    expect(await bansOf(id, "live")).toMatchObject([{ id: second }]);
    expect((await operator("GET", `/audit?object=${id}&call=bans.lift`)).body.audit).toEqual([]);

    expect((await operator("GET", `/keys/${id}`)).body.live).toMatchObject({ ban: { id: second } });
    expect((await lift({ ban: second })).body.lifted).toMatchObject({ id: second, liftedBy: "mo" });
    const { status, body } = await lift({ ban: second, forgive: true });
    expect([status, body.message]).toEqual([409, expect.stringContaining("The key has no live ban.")]);
    expect((await operator("GET", `/audit?object=${id}&call=bans.lift`)).body.audit).toHaveLength(1);
  });

  it("that names one of two live bans leaves the other one, and either ends at the key's next request", async ({
    expect,
  }) => {
    const key = await createKey({ perMinute: 1 });
    await withoutReportsTo(["bans"], () => banByStrikes(key, app, T0));
    const unreachable = operatorOf(startApp({ KEY_LIMITER: unreachableLimiters() }));
    const set = await unreachable("PUT", `/keys/${key.id}/ban`, { seconds: 60, reason: "abuse" });
    const { id: ban } = set.body.ban as { id: string }; // the body of this route
    const { body } = await operator("DELETE", `/keys/${key.id}/ban`, { ban });
    expect(body).toMatchObject({ lifted: { id: ban }, liftedAll: false });
    // After the minute whose one request is used up.
    setClock(T0 + MINUTE);
    const [strikes] = (await bansOf(key.id, "live")) as [{ id: string; cause: string }];
    expect(strikes.cause).toBe("strikes");
    expect((await app("/v1/nothing", { key: key.key })).status).toBe(429);
    await operator("DELETE", `/keys/${key.id}/ban`, { ban: strikes.id });
    expect((await app("/v1/nothing", { key: key.key })).status).toBe(404);
  });

  it("while the limiter is not inspected leaves a ban that it has not reported, and forgives nothing", async ({
    expect,
  }) => {
    const key = await createKey({ perMinute: 1 });
    await withoutReportsTo(["bans"], () => banByStrikes(key, app, T0));
    const { inspect } = unreachableLimiters().getByName("");
    const raiseMinVersion = (id: string, version: number) =>
      env.KEY_LIMITER.getByName(id).raiseMinVersion(id, version);
    // The admin API addresses limiters by name only.
    const KEY_LIMITER = {
      getByName: () => ({ inspect, raiseMinVersion }),
    } as unknown as Bindings["KEY_LIMITER"];
    const uninspected = operatorOf(startApp({ KEY_LIMITER }));
    const path = `/keys/${key.id}/ban`;
    const set = await uninspected("PUT", path, { seconds: 600, reason: "abuse" });

    for (const ban of [{}, { ban: (set.body.ban as { id: string }).id }]) {
      expect(await uninspected("DELETE", path, { forgive: true, ...ban })).toMatchObject({
        status: 503,
        body: { message: expect.stringContaining("so it is not known which ban is to be forgiven") },
      });
    }
    expect((await operator("GET", `/audit?object=${key.id}&call=bans.lift`)).body.audit).toEqual([]);
    expect((await uninspected("DELETE", path)).body).toMatchObject({
      ...{ lifted: { reason: "abuse" }, liftedAll: false, effective: "immediately" },
    });
    expect((await app("/v1/nothing", { key: key.key })).status).toBe(429);
    expect((await operator("DELETE", path, { forgive: true })).body).toMatchObject({
      ...{ lifted: { cause: "strikes" }, liftedAll: true },
    });
    setClock(T0 + MINUTE);
    expect((await app("/v1/nothing", { key: key.key })).status).toBe(404);
  });

  it("without a live ban or one to forgive returns null and writes no audit row", async ({ expect }) => {
    const { id } = await createKey();
    for (const forgive of [false, true]) {
      expect((await operator("DELETE", `/keys/${id}/ban`, { forgive })).body).toEqual({
        lifted: null,
        liftedAll: true,
        effective: "immediately",
      });
    }
    expect((await operator("GET", `/audit?object=${id}`)).body.audit).toEqual([]);
    expect(log.text()).not.toContain("ban_lifted");
  });

  it("forgives a ban that is over, once", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await banByStrikes(key, app, T0);
    setClock(T0 + 6 * MINUTE);
    for (const _ of [1, 2]) {
      const { body } = await operator("DELETE", `/keys/${key.id}/ban`, { forgive: true });
      expect(body).toEqual({ lifted: null, liftedAll: true, effective: "immediately" });
    }
    expect((await operator("GET", `/audit?object=${key.id}`)).body.audit).toMatchObject([
      { call: "bans.lift", before: null, after: { forgive: true } },
    ]);
    expect(log.lines().filter(({ event }) => event === "ban_lifted")).toMatchObject([
      { bans: 0, forgiven: 1 },
    ]);
  });
});

describe("an operator ban", () => {
  it("that ends before the ban for strikes that it replaces leaves the key free", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await banByStrikes(key, app, T0);
    await untilStored("select 1 from bans where key_id = ?", key.id);
    await operator("PUT", `/keys/${key.id}/ban`, { seconds: 60, reason: "shorter" });
    setClock(T0 + 2 * MINUTE);
    expect((await app("/v1/nothing", { key: key.key })).status).toBe(404);
  });

  it("says which live bans it replaced, also longer ones, in its answer and the audit log", async ({
    expect,
  }) => {
    const key = await createKey({ perMinute: 1 });
    await withoutReportsTo(["bans"], () => banByStrikes(key, app, T0));
    const unreachable = operatorOf(startApp({ KEY_LIMITER: unreachableLimiters() }));
    const path = `/keys/${key.id}/ban`;
    const first = await unreachable("PUT", path, { seconds: 86_400, reason: "fraud" });
    expect(first.body).toMatchObject({ replaced: [], replacedAll: false });
    setClock(T0 + MINUTE);
    const { body } = await operator("PUT", path, { seconds: 60, reason: "a slip" });
    const ended = { live: false, liftedBy: "mo", liftedAt: "2035-01-01T12:01:00Z" };
    expect(body.replacedAll).toBe(true);
    expect(body.replaced).toHaveLength(2);
    expect(body.replaced).toContainEqual(expect.objectContaining({ ...ended, cause: "strikes" }));
    expect(body.replaced).toContainEqual(
      expect.objectContaining({ ...ended, reason: "fraud", endsAt: "2035-01-02T12:00:01Z" }),
    );
    const { audit } = (await operator("GET", `/audit?object=${key.id}&call=bans.set`)).body;
    const [fraud, strikes] = (body.replaced as { id: string; cause: string }[]) // the body of this route
      .sort((a, b) => a.cause.localeCompare(b.cause))
      .map(({ id }) => id);
    expect((audit as { before: unknown }[])[0]?.before).toEqual({
      ...{ ban: fraud, cause: "operator", reason: "fraud", endsAt: "2035-01-02T12:00:01Z" },
      also: strikes,
    });
  });

  it("replaces a live ban, which is then past, and lifted by the same operator", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await banByStrikes(key, app, T0);
    await untilStored("select 1 from bans where key_id = ?", key.id);
    setClock(T0 + MINUTE);
    const { body } = await operator("PUT", `/keys/${key.id}/ban`, { seconds: 3_600, reason: "abuse" });
    expect(body.ban).toMatchObject({ cause: "operator", endsAt: "2035-01-01T13:01:00Z", live: true });
    expect(await bansOf(key.id)).toMatchObject([
      { cause: "operator", reason: "abuse", strikes: 0, live: true },
      { cause: "strikes", live: false, liftedBy: "mo" },
    ]);
    expect((await operator("GET", `/keys/${key.id}`)).body.live).toMatchObject({
      ban: { cause: "operator", reason: "abuse", endsAt: "2035-01-01T13:01:00Z" },
    });
    setClock(T0 + 10 * MINUTE);
    expect((await app("/v1/nothing", { key: key.key })).status).toBe(429);
  });
});
