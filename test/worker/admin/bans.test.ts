import { env } from "cloudflare:workers";
import { describe, it, vi } from "vitest";
import { createKey, type TestKey } from "../../support/factories.ts";
import { limiters, log, setClock, startApp, startEachTestAt } from "../../support/worker.ts";
import {
  banByStrikes,
  operatorOf,
  unreachableLimiters,
  untilStored,
  withoutReportsTo,
  writingAfter,
} from "./admin-support.ts";

const T0 = Date.UTC(2035, 0, 1, 12);
const DAY = 86_400_000;
const MINUTE = 60_000;

const app = startApp();
const operator = operatorOf(app);

startEachTestAt(T0);

async function bansOf(keyId: string, state = "all"): Promise<unknown> {
  return (await operator("GET", `/bans?key=${keyId}&state=${state}`)).body.bans;
}

const ban = (id: string, reason: string, by = operator, seconds = 600) =>
  by("PUT", `/keys/${id}/ban`, { seconds, reason });
const lift = (id: string, by = operator) => by("DELETE", `/keys/${id}/ban`);
const statusOf = async ({ key }: TestKey) => (await app("/v1/nothing", { key })).status;
const auditOf = async (id: string) => (await operator("GET", `/audit?object=${id}`)).body.audit;

async function bannedByStrikes(startMs = T0): Promise<TestKey> {
  const key = await createKey({ perMinute: 1 });
  await banByStrikes(key, app, startMs);
  return key;
}

describe("the list of bans", () => {
  it("has the key, cause, strikes, start and end of a ban, which is reported as soon as it begins", async ({
    expect,
  }) => {
    const key = await bannedByStrikes();
    await untilStored("select 1 from bans where key_id = ?", key.id);
    const shown = {
      id: expect.stringContaining(key.id),
      keyId: key.id,
      keyName: "test",
      cause: "strikes",
      reason: null,
      strikes: 20,
      startedAt: "2035-01-01T12:00:21Z",
      endsAt: "2035-01-01T12:05:21Z",
      liftedAt: null,
      liftedBy: null,
      live: true,
      customer: null,
      keyVersion: 0,
    };
    expect(await bansOf(key.id)).toEqual([shown]);
    expect(await bansOf(key.id, "live")).toEqual([shown]);
    expect(await bansOf(key.id, "past")).toEqual([]);
    setClock(T0 + 6 * MINUTE);
    expect(await bansOf(key.id, "live")).toEqual([]);
    expect(await bansOf(key.id, "past")).toEqual([{ ...shown, live: false }]);
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
      insert.bind("lifted", now - 300, now + 2_000, now - 30),
    ]);
    const shown = async (query: string) => (await operator("GET", `/bans?${query}`)).body.bans;
    expect(await shown("state=live&limit=1")).toMatchObject([{ id: "live_older" }]);
    expect(await shown("state=live&limit=9")).toMatchObject([{ id: "live_older" }, { id: "live_newer" }]);
    expect(await shown("state=past&limit=1")).toMatchObject([{ id: "over_older" }]);
    expect(await shown("state=past&limit=2")).toMatchObject([{ id: "over_older" }, { id: "lifted" }]);
    expect(await shown("state=all&limit=1")).toMatchObject([{ id: "over_newer" }]);
  });
});

describe("a ban for strikes whose report failed", () => {
  it("is in force, is logged, and is reported again with the next look at the key", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await withoutReportsTo(["bans"], async () => {
      await banByStrikes(key, app, T0);
      await vi.waitFor(() =>
        expect(log.lines()).toContainEqual(
          expect.objectContaining({ event: "usage_report_failed", keyId: key.id }),
        ),
      );
    });
    expect(await statusOf(key)).toBe(429);
    expect(await bansOf(key.id)).toEqual([]);
    await operator("GET", `/keys/${key.id}/usage`);
    expect(await bansOf(key.id)).toMatchObject([{ cause: "strikes", live: true }]);
  });

  it("is lifted like any other", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await withoutReportsTo(["bans"], () => banByStrikes(key, app, T0));
    setClock(T0 + MINUTE);
    expect((await lift(key.id)).body).toMatchObject({
      lifted: expect.objectContaining({ cause: "strikes", liftedAt: "2035-01-01T12:01:00Z", liftedBy: "mo" }),
      effective: "immediately",
    });
    expect(await bansOf(key.id)).toMatchObject([{ live: false, liftedBy: "mo" }]);
    expect(await statusOf(key)).toBe(404);
  });
});

describe("the log", () => {
  it("has the begin of a ban, once, and what operators do to it, without the reason", async ({ expect }) => {
    const { id: keyId, key } = await bannedByStrikes();
    for (let i = 0; i < 3; i++) await app("/v1/nothing", { key });
    await lift(keyId);
    await ban(keyId, "a test");
    const events = log.lines().filter((line) => line.keyId === keyId && line.event !== "request");
    expect(events).toMatchObject([
      { event: "ban_started", keyId, strikes: 20 },
      { event: "ban_lifted", keyId, bans: 1 },
      { event: "ban_set", keyId },
    ]);
    for (const text of ["a test", env.ADMIN_TOKEN]) expect(log.text()).not.toContain(text);
  });
});

describe("setting a ban", () => {
  it("replaces each live ban, also one that ends later, and says which, in its answer and the audit log", async ({
    expect,
  }) => {
    const key = await bannedByStrikes();
    await untilStored("select 1 from bans where key_id = ?", key.id);
    await env.DB.prepare(
      `insert into bans (id, key_id, cause, reason, strikes, started_at, ends_at) values ('ban_fraud', ?, 'operator', 'fraud', 0, ?, ?)`,
    )
      .bind(key.id, T0 / 1000, T0 / 1000 + 86_400)
      .run();
    setClock(T0 + MINUTE);
    const { body } = await ban(key.id, "a slip", operator, 60);
    const ended = { live: false, liftedBy: "mo", liftedAt: "2035-01-01T12:01:00Z" };
    expect(body.replaced).toHaveLength(2);
    expect(body.replaced).toContainEqual(expect.objectContaining({ ...ended, cause: "strikes" }));
    expect(body.replaced).toContainEqual(expect.objectContaining({ ...ended, reason: "fraud" }));
    const [strikes] = (body.replaced as { id: string; cause: string }[]).filter(
      ({ cause }) => cause === "strikes",
    ); // of this route
    expect(await auditOf(key.id)).toMatchObject([
      {
        call: "bans.set",
        before: { ban: "ban_fraud", reason: "fraud", endsAt: "2035-01-02T12:00:00Z", also: strikes?.id },
        after: { reason: "a slip", endsAt: "2035-01-01T12:02:00Z" },
      },
    ]);
    setClock(T0 + 2 * MINUTE);
    expect(await statusOf(key)).toBe(404);
  });

  it("of two at the same time keeps the one that is written last, and each has its audit row", async ({
    expect,
  }) => {
    const key = await createKey();
    await ban(
      key.id,
      "late",
      writingAfter(() => ban(key.id, "meanwhile")),
    );
    expect(await bansOf(key.id, "live")).toMatchObject([{ reason: "late" }]);
    expect((await operator("GET", `/keys/${key.id}`)).body.live).toMatchObject({ ban: { reason: "late" } });
    expect(await auditOf(key.id)).toMatchObject([
      { before: { reason: "meanwhile" }, after: { reason: "late" } },
      { before: null, after: { reason: "meanwhile" } },
    ]);
  });
});

describe("lifting", () => {
  it("returns the ban with its end, when it was lifted, and by whom", async ({ expect }) => {
    const { id } = await createKey();
    await ban(id, "abuse");
    setClock(T0 + 1_000);
    const { body } = await lift(id);
    expect(body.lifted).toMatchObject({ liftedAt: "2035-01-01T12:00:01Z", liftedBy: "mo", live: false });
    expect(await bansOf(id)).toMatchObject([body.lifted]);
    expect((await operator("GET", `/keys/${id}`)).body.live).toMatchObject({ ban: null });
    const before = { reason: "abuse", endsAt: "2035-01-01T12:10:00Z" };
    expect(await auditOf(id)).toMatchObject([{ call: "bans.lift", before, after: null }, {}]);
  });

  it.for([
    {
      does: "pardons: the next ban for strikes is a first one again",
      act: (id: string) => lift(id),
      endsAt: "2035-01-01T12:13:21Z",
    },
    {
      does: "is what makes the difference: without a lift, the next ban is twice as long",
      act: async () => undefined,
      endsAt: "2035-01-01T12:18:21Z",
    },
    {
      does: "of an operator's ban does not pardon a ban for strikes that was over",
      atMs: T0 + 6 * MINUTE,
      act: async (id: string) => {
        await ban(id, "abuse");
        await lift(id);
      },
      endsAt: "2035-01-01T12:18:21Z",
    },
  ])("$does", async ({ atMs = T0 + MINUTE, act, endsAt }, { expect }) => {
    const key = await bannedByStrikes();
    setClock(atMs);
    await act(key.id);
    const startMs = T0 + 8 * MINUTE;
    await banByStrikes(key, app, startMs);
    await untilStored("select 1 from bans where key_id = ? and started_at > ?", key.id, startMs / 1000);
    expect(await bansOf(key.id, "live")).toMatchObject([{ cause: "strikes", endsAt }]);
  });

  it("without a live ban returns null, and writes no audit row and no log line", async ({ expect }) => {
    const [banned, { id: never }] = [await bannedByStrikes(), await createKey()];
    setClock(T0 + 6 * MINUTE);
    for (const id of [banned.id, never]) {
      const state = () =>
        env.DB.prepare(
          "select version, pardoned_ban_id, (select count(*) from audit_log) from api_keys where id = ?",
        )
          .bind(id)
          .raw();
      const before = await state();
      expect((await lift(id)).body).toMatchObject({ lifted: null, effective: "immediately" });
      expect(await state()).toEqual(before);
    }
    expect(log.text()).not.toContain("ban_lifted");
  });

  it("an operator ban does not revive the ban for strikes that it replaced", async ({ expect }) => {
    const key = await bannedByStrikes();
    await ban(key.id, "abuse");
    expect((await lift(key.id)).body.lifted).toMatchObject({ cause: "operator" });
    setClock(T0 + MINUTE);
    expect(await statusOf(key)).toBe(404);
  });

  it("does not mark a ban as lifted that was already over", async ({ expect }) => {
    const { id } = await createKey();
    await ban(id, "first", operator, 60);
    setClock(T0 + 2 * MINUTE);
    await ban(id, "second", operator, 60);
    setClock(T0 + 2 * MINUTE + 1_000);
    await lift(id);
    expect(await bansOf(id)).toMatchObject([
      { reason: "second", liftedAt: "2035-01-01T12:02:01Z" },
      { reason: "first", liftedAt: null, liftedBy: null },
    ]);
  });

  it("of a ban that another operator lifts at the same time: one lifts it, and there is one audit row", async ({
    expect,
  }) => {
    const key = await createKey();
    await ban(key.id, "before");
    const { body } = await lift(
      key.id,
      writingAfter(() => lift(key.id)),
    );
    expect(body.lifted).toBeNull();
    expect(await auditOf(key.id)).toHaveLength(2);
    expect(await statusOf(key)).toBe(404);
  });

  it("again reaches the limiter that an earlier lift did not reach", async ({ expect }) => {
    const key = await createKey();
    expect(await statusOf(key)).toBe(404);
    await ban(key.id, "abuse");
    expect(await statusOf(key)).toBe(429);
    await lift(key.id, operatorOf(startApp({ KEY_LIMITER: unreachableLimiters() })));
    expect(await statusOf(key)).toBe(429);
    expect((await lift(key.id)).body).toMatchObject({ lifted: null, effective: "immediately" });
    expect(await statusOf(key)).toBe(404);
  });

  it("takes effect within minutes, as does a ban, if the limiter cannot report an earlier ban", async ({
    expect,
  }) => {
    const { id } = await createKey({ used: true });
    const flush = () => Promise.reject(new Error("D1 is down"));
    const KEY_LIMITER = limiters(() => ({ flush, forget: () => Promise.resolve() }));
    const by = operatorOf(startApp({ KEY_LIMITER }));
    for (const { status, body } of [await ban(id, "abuse", by), await lift(id, by)])
      expect([status, body.effective]).toEqual([200, "within minutes"]);
  });

  it("ends no ban before it began, if the clock of this operator's isolate is behind", async ({ expect }) => {
    const { id } = await createKey();
    setClock(T0 + 2_000);
    await ban(id, "ahead");
    setClock(T0);
    expect((await lift(id)).body.lifted).toMatchObject({
      startedAt: "2035-01-01T12:00:02Z",
      liftedAt: "2035-01-01T12:00:02Z",
    });
  });
});
