/** The hourly deletion of old rows: what goes, what stays, also if the rows of one table cannot go. */
import { env } from "cloudflare:workers";
import { describe, it, vi } from "vitest";
import { deleteExpiredRows } from "../../src/worker/db/retention.ts";
import { log } from "../support/worker.ts";

// The real time: a trigger compares the age of an audit entry with the clock of the database.
const NOW = Math.floor(Date.now() / 1_000) * 1_000;
const NOW_SECONDS = NOW / 1_000;
const DAY = 86_400;

async function column(query: string): Promise<unknown[]> {
  const { results } = await env.DB.prepare(query).all<Record<string, unknown>>();
  return results.map((row) => Object.values(row)[0]);
}

/** Two rows in each table: one a second older than its retention, one a second younger. */
async function insertRows(): Promise<void> {
  const at = (days: number, offset: number) => NOW_SECONDS - days * DAY + offset;
  const audit = env.DB.prepare(
    "insert into audit_log (at, request_id, actor, call, object) values (?, 'r', 'mo', 'keys.update', ?)",
  );
  const ban = env.DB.prepare(
    "insert into bans (id, key_id, cause, strikes, started_at, ends_at, lifted_at) values (?, 'key', 'strikes', 20, 0, ?, ?)",
  );
  const cancelled = env.DB.prepare(
    "insert into cancelled_orders (order_id, cancelled_at, cancelled_by, request_id) values (?, ?, 'key', 'r')",
  );
  const alert = env.DB.prepare(
    "insert into alerts (id, type, key_id, at, text, data) values (?, 'ban.set', 'key', ?, '', '{}')",
  );
  const session = env.DB.prepare("insert into console_sessions values (?, 'mo', '', ?, 0)");
  const usage = env.DB.prepare("insert into usage values (?, ?, null, 'free', 1, 0, 0, 10, '{}', '[1]')");
  const change = env.DB.prepare("insert into order_changes (order_id, changed_at) values (?, ?)");
  const [keepAudit] = await column("select sql from sqlite_master where name = 'audit_log_is_kept'");
  await env.DB.batch([
    env.DB.prepare("drop trigger audit_log_is_kept"),
    ...["alerts", "audit_log", "bans", "cancelled_orders", "console_sessions", "usage", "order_changes"].map(
      (table) => env.DB.prepare(`delete from ${table}`),
    ),
    env.DB.prepare(String(keepAudit)),
    alert.bind("old", at(30, -1)),
    alert.bind("young", at(30, 1)),
    audit.bind(at(730, -1), "old"),
    audit.bind(at(730, 1), "young"),
    session.bind("old", at(0, -1)),
    session.bind("young", at(0, 1)),
    ban.bind("old", at(730, -1), null),
    ban.bind("young", at(730, 1), at(730, -1)), // its planned end counts
    cancelled.bind(1, at(730, -1)),
    cancelled.bind(2, at(730, 1)),
    usage.bind(at(400, -1), "old"),
    usage.bind(at(400, 1), "young"),
    change.bind(1, at(1, -1)),
    change.bind(2, at(1, 1)),
  ]);
}

async function left(): Promise<Record<string, unknown[]>> {
  return {
    alerts: await column("select id from alerts"),
    audit: await column("select object from audit_log"),
    bans: await column("select id from bans"),
    cancelled: await column("select order_id from cancelled_orders"),
    sessions: await column("select id_hash from console_sessions"),
    usage: await column("select key_id from usage"),
    changes: await column("select order_id from order_changes"),
  };
}

/** A new key with these secrets, oldest first, each with the days since its end (null: valid). */
async function keyWithSecrets(...daysSinceEnd: (number | null)[]): Promise<string> {
  const key = `key_${crypto.randomUUID()}`;
  const secret = env.DB.prepare("insert into key_secrets values (?, ?, 'sok_ab…wxyz', ?, ?)");
  await env.DB.batch([
    env.DB.prepare("insert into api_keys (id, name, plan, created_at) values (?, 'test', 'pro', 0)").bind(
      key,
    ),
    ...daysSinceEnd.map((days, i) =>
      secret.bind(`${key}${i}`, key, i, days === null ? null : NOW_SECONDS - days * DAY),
    ),
  ]);
  return key;
}

/** The secrets of such a key that stay. */
async function secretsLeft(...daysSinceEnd: (number | null)[]): Promise<unknown[]> {
  const key = await keyWithSecrets(...daysSinceEnd);
  await deleteExpiredRows(env, NOW);
  return column(`select created_at from key_secrets where key_id = '${key}' order by created_at`);
}

describe("the hourly deletion", () => {
  it("deletes a key's secrets 90 days after their end, but never the last one", async ({ expect }) => {
    expect(await secretsLeft(200, 91, 89, null)).toEqual([2, 3]);
    expect(await secretsLeft(200, 100, 91)).toEqual([2]);
    expect(await secretsLeft(91)).toEqual([0]);
    expect(await secretsLeft(null, -1, -91)).toEqual([0, 1, 2]);
  });

  it("deletes what is older than its retention, and keeps the rest", async ({ expect }) => {
    await insertRows();
    await deleteExpiredRows(env, NOW);
    expect(await left()).toEqual({
      alerts: ["young"],
      audit: ["young"],
      bans: ["young"],
      cancelled: [2],
      sessions: ["young"],
      usage: ["young"],
      changes: [2],
    });
    expect(log.lines()).toContainEqual({ event: "expired_rows_deleted", table: "audit_log", deleted: 1 });
  });

  it("follows the settings", async ({ expect }) => {
    await insertRows();
    await deleteExpiredRows({ ...env, AUDIT_RETENTION_DAYS: "731" }, NOW);
    expect((await left()).audit).toEqual(["old", "young"]);
    await env.DB.exec(
      `insert into audit_log (at, request_id, actor, call, object) values (${NOW_SECONDS - DAY - 1}, 'r', 'mo', 'keys.update', 'a day old')`,
    );
    await deleteExpiredRows({ ...env, AUDIT_RETENTION_DAYS: "1" }, NOW);
    // Versions are ids of entries: the last one stays, so that no id comes twice.
    expect((await left()).audit).toEqual(["a day old"]);
  });

  it("deletes nothing of a table whose setting is wrong", async ({ expect }) => {
    await insertRows();
    await deleteExpiredRows({ ...env, AUDIT_RETENTION_DAYS: "ten years" }, NOW);
    expect(await left()).toMatchObject({ audit: ["old", "young"], bans: ["young"] });
  });

  it("keeps the current revision of the list, however old it is", async ({ expect }) => {
    await env.DB.exec("delete from order_changes");
    await env.DB.exec("insert into order_changes (order_id, changed_at) values (1, 0), (2, 0)");
    await deleteExpiredRows(env, NOW);
    expect(await column("select order_id from order_changes")).toEqual([2]);
  });

  it("leaves no gap in the changes of the list, also if D1's clock was set back meanwhile", async ({
    expect,
  }) => {
    await env.DB.exec("delete from order_changes");
    await env.DB.exec(
      `insert into order_changes (order_id, changed_at) values (1, 0), (2, ${NOW_SECONDS}), (3, 0), (4, ${NOW_SECONDS})`,
    );
    await deleteExpiredRows(env, NOW);
    expect(await column("select order_id from order_changes order by revision")).toEqual([2, 3, 4]);
  });

  it("deletes more rows than one statement does", async ({ expect }) => {
    await env.DB.exec("delete from order_changes");
    await env.DB.exec(
      "with recursive n(i) as (select 1 union all select i + 1 from n where i < 2500) insert into order_changes (order_id, changed_at) select i, 0 from n",
    );
    await deleteExpiredRows(env, NOW);
    expect(await column("select order_id from order_changes")).toEqual([2500]);
  });

  it("makes at most 30 queries, in which each table has its turn, and logs what it left", async ({
    expect,
  }) => {
    await insertRows();
    await env.DB.exec("delete from order_changes");
    await env.DB.exec(
      "with recursive n(i) as (select 1 union all select i + 1 from n where i < 45000) insert into order_changes (order_id, changed_at) select i, 0 from n",
    );
    const queries = vi.spyOn(env.DB, "prepare");
    await deleteExpiredRows(env, NOW);
    expect(queries).toHaveBeenCalledTimes(30);
    queries.mockRestore();
    expect(await left()).toMatchObject({ usage: ["young"], cancelled: [2] });
    expect(log.lines()).toContainEqual(
      expect.objectContaining({ event: "expired_rows_left", table: "order_changes" }),
    );
    await env.DB.exec("delete from order_changes");
  });

  it("goes on with the other tables when one fails", async ({ expect }) => {
    await insertRows();
    await env.DB.prepare(
      "create trigger no_delete before delete on audit_log begin select raise(abort, 'no'); end",
    ).run();
    await deleteExpiredRows(env, NOW);
    await env.DB.exec("drop trigger no_delete");
    expect(await left()).toMatchObject({ audit: ["old", "young"], bans: ["young"] });
    expect(log.lines()).toContainEqual(
      expect.objectContaining({ event: "expired_rows_not_deleted", table: "audit_log" }),
    );
  });

  // The last test, as nothing can delete the entry of today.
  it("deletes old audit entries also if its clock is ahead of the one that protects those of a day", async ({
    expect,
  }) => {
    await insertRows();
    await env.DB.exec(
      `insert into audit_log (at, request_id, actor, call, object) values (${NOW_SECONDS - DAY + 600}, 'r', 'mo', 'keys.update', 'today')`,
    );
    await deleteExpiredRows({ ...env, AUDIT_RETENTION_DAYS: "1" }, NOW + 900_000);
    expect((await left()).audit).toEqual(["today"]);
  });
});
