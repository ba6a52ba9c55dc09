/** The triggers and constraints of the database, which also apply to plain SQL. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { openDatabase } from "../../../src/worker/db/database.ts";
import { loadKeyPolicy } from "../../../src/worker/key/key-policy-sql.ts";
import { createKey, giveKeys, insertOrders } from "../../support/factories.ts";
import { wrapDatabase } from "../../support/wrap-database.ts";

async function run(query: string, ...bindings: (string | number | null)[]): Promise<void> {
  await env.DB.prepare(query)
    .bind(...bindings)
    .run();
}

async function revision(): Promise<{ revision: number; token: string }> {
  const row = await env.DB.prepare(
    "select revision, token from order_changes order by revision desc limit 1",
  ).first<{
    revision: number;
    token: string;
  }>();
  if (!row) throw new Error("order_changes has no row");
  return row;
}

describe("the revision of the orders", () => {
  it("changes with every insert, update and delete, and its token never repeats", async ({ expect }) => {
    const seen = [await revision()];
    const note = async () => void seen.push(await revision());
    await insertOrders({ id: "901" });
    await note();
    await run("update orders set quantity = 2 where id = 901");
    await note();
    await run("insert or replace into orders (id) values (901)");
    await note();
    await run("delete from orders where id = 901");
    await note();
    expect(seen.every((each, i) => i === 0 || each.revision > (seen[i - 1]?.revision ?? 0))).toBe(true);
    expect(new Set(seen.map(({ token }) => token)).size).toBe(seen.length);
  });

  it("does not change with a statement that changes no order", async ({ expect }) => {
    const before = await revision();
    await run("delete from orders where id = 999999");
    await run("update orders set quantity = 1 where id = 999999");
    expect(await revision()).toEqual(before);
  });

  it("stays when nothing changes that clients can see", async ({ expect }) => {
    await insertOrders({ id: "902", quantity: "5" });
    const before = await revision();
    await run("update orders set status = 'shipped', quantity = 5 where id = 902");
    expect(await revision()).toEqual(before);
  });

  it("comes with the id of the order, and of both if the id changes", async ({ expect }) => {
    await insertOrders({ id: "903" });
    await run("update orders set quantity = 7 where id = 903");
    await run("update orders set id = 904 where id = 903");
    await run("delete from orders where id = 904");
    const { results } = await env.DB.prepare(
      "select order_id as id from order_changes where order_id in (903, 904) order by revision",
    ).all<{ id: number }>();
    expect(results.map(({ id }) => id)).toEqual([903, 903, 903, 904, 904]);
  });
});

describe("a key without a limit cannot exist", () => {
  const missing = /CHECK constraint failed: plans_limits_of_keys/;

  it("as a new key of a plan that has none", async ({ expect }) => {
    for (const own of [{}, { perMinute: 5 }, { perDay: 5 }]) {
      await expect(createKey({ plan: "enterprise", ...own })).rejects.toThrow(missing);
    }
    await createKey({ plan: "enterprise", perMinute: 5, perDay: 5 });
  });

  it("by a change to such a plan, or by removal of its own limit", async ({ expect }) => {
    const { id } = await createKey({ plan: "free" });
    await expect(run("update api_keys set plan = 'enterprise' where id = ?", id)).rejects.toThrow(missing);
    const { id: custom } = await createKey({ plan: "enterprise", perMinute: 5, perDay: 5 });
    for (const limit of ["requests_per_minute", "requests_per_day"]) {
      const giveUp = run(`update api_keys set ${limit} = null where id = ?`, custom);
      await expect(giveUp, limit).rejects.toThrow(missing);
    }
    await run("update api_keys set plan = 'pro', requests_per_minute = null where id = ?", custom);
  });

  it("by removal of its plan's limit, unless all of its keys have their own", async ({ expect }) => {
    const { id } = await createKey({ plan: "pro", perMinute: 5 });
    const takeAway = (limit: string) => run(`update plans set ${limit} = null where id = 'pro'`);
    await expect(takeAway("requests_per_day")).rejects.toThrow(missing);
    await run("update api_keys set requests_per_minute = 5 where plan = 'pro'");
    await takeAway("requests_per_minute");
    await run("update plans set requests_per_minute = 300 where id = 'pro'");
    await run("update api_keys set requests_per_minute = null where id = ?", id);
    await expect(takeAway("requests_per_minute")).rejects.toThrow(missing);
  });

  it("although it is disabled or expired, but when it is revoked, and then it cannot be enabled again", async ({
    expect,
  }) => {
    const { id } = await createKey({ plan: "enterprise", perMinute: 5, perDay: 5 });
    for (const change of ["status = 'disabled'", "expires_at = 1"]) {
      await run(`update api_keys set ${change} where id = ?`, id);
      const giveUp = run("update api_keys set requests_per_day = null where id = ?", id);
      await expect(giveUp, change).rejects.toThrow(missing);
    }
    await run("update api_keys set status = 'revoked' where id = ?", id);
    await run("update api_keys set requests_per_day = null where id = ?", id);
    const enable = run("update api_keys set status = 'active' where id = ?", id);
    await expect(enable).rejects.toThrow("a revoked key stays revoked");
  });

  it("refuses shares of the day that are no list", async ({ expect }) => {
    for (const shares of ["null", "80", '"80"', "{}", "80,100"])
      await expect(
        run("update plans set alert_percents = ? where id = 'free'", shares),
        shares,
      ).rejects.toThrow();
  });

  it("with a limit of 0 or less, nor can such a plan", async ({ expect }) => {
    for (const limit of [0, -1]) {
      await expect(createKey({ perMinute: limit })).rejects.toThrow(/CHECK constraint/);
      await expect(createKey({ perDay: limit })).rejects.toThrow(/CHECK constraint/);
      await expect(run("update plans set requests_per_day = ? where id = 'free'", limit)).rejects.toThrow(
        /CHECK/,
      );
    }
  });
});

describe("an order's row", () => {
  it("accepts a ship date in one format only: RFC 3339 in UTC with milliseconds", async ({ expect }) => {
    await insertOrders({ id: "911", shipDate: "2026-11-21T10:00:00.000Z" }, { id: "912" });
    for (const shipDate of [
      "2026-11-21",
      "2026-11-21T10:00:00Z",
      "2026-11-21T10:00:00.000+01:00",
      "2026-11-21 10:00:00.000Z",
      "2026-02-30T10:00:00.000Z",
      "2026-11-21T24:00:00.000Z",
      'x","complete":true,"x":"',
      "",
    ]) {
      await expect(insertOrders({ id: "913", shipDate }), shipDate).rejects.toThrow(/CHECK constraint/);
    }
  });

  it("accepts only integers in integer columns, and only known statuses", async ({ expect }) => {
    for (const column of ["pet_id", "quantity", "complete"]) {
      await expect(run(`insert into orders (id, ${column}) values (914, 'many')`)).rejects.toThrow();
      await expect(run(`insert into orders (id, ${column}) values (914, 1.5)`)).rejects.toThrow();
    }
    await expect(run("insert into orders (id, complete) values (914, 2)")).rejects.toThrow(
      /CHECK constraint/,
    );
    await expect(insertOrders({ id: "914", status: "lost" })).rejects.toThrow(/CHECK constraint/);
    await expect(run("insert into orders (id, status) values (914, null)")).rejects.toThrow(/NOT NULL/);
  });
});

type KeyCounts = { id: string; keys: number; noMinute: number; noDay: number };

/** As the triggers count. */
const keyCounts = () =>
  countsOf(`
    select id, key_count as keys, keys_without_minute_limit as noMinute, keys_without_day_limit as noDay
    from plans order by id`);

/** As the keys are. */
const countedKeys = () =>
  countsOf(`
    select plans.id, count(k.id) as keys,
      count(iif(k.requests_per_minute is null, k.id, null)) as noMinute,
      count(iif(k.requests_per_day is null, k.id, null)) as noDay
    from plans left join api_keys k on k.plan = plans.id and status <> 'revoked' group by plans.id order by plans.id`);

async function countsOf(query: string): Promise<KeyCounts[]> {
  return (await env.DB.prepare(query).all<KeyCounts>()).results;
}

describe("the plans", () => {
  const changesOfCount: [what: string, sql: string][] = [
    ["no change of either", "update api_keys set name = 'renamed', status = 'disabled' where id = ?"],
    ["another plan", "update api_keys set plan = 'pro' where id = ?"],
    ["a limit of its own", "update api_keys set requests_per_minute = 5 where id = ?"],
    ["both, and another plan", "update api_keys set requests_per_day = 5, plan = 'pro' where id = ?"],
    ["revoking", "update api_keys set status = 'revoked' where id = ?"],
    ["revoking and another plan", "update api_keys set plan = 'pro', status = 'revoked' where id = ?"],
    ["deleting", "delete from api_keys where id = ?"],
  ];
  for (const [what, sql] of changesOfCount) {
    it(`count their keys that are not revoked, and those without a limit: ${what}`, async ({ expect }) => {
      const { id } = await createKey({ plan: "free" });
      const { id: own } = await createKey({ plan: "free", perMinute: 7 });
      await createKey({ plan: "free", status: "revoked" });
      for (const key of [id, own]) {
        await run("delete from key_secrets where key_id = ?", key);
        await run(sql, key);
        expect(await keyCounts()).toEqual(await countedKeys());
      }
      expect((await keyCounts()).find((plan) => plan.id === "free")?.keys).toBeGreaterThan(0);
    });
  }
});

describe("the keys whose limiters must be told", () => {
  /** The token of the key's row. */
  const tokenOf = (id: string) =>
    env.DB.prepare("select token from outdated_keys where key_id = ?").bind(id).first<string>("token");
  const POLICY = [
    ...["plan = 'pro'", "requests_per_minute = 5", "requests_per_day = 5", "status = 'disabled'"],
    ...["temporary_until = 86400, temporary_requests_per_minute = 5", "temporary_requests_per_day = null"],
    ...["expires_at = 9", "banned_until = 9", "ban_reason = 'r'", "pardoned_ban_id = 'b'"],
  ];
  const changes = [
    ...POLICY.map((assignment) => `update api_keys set ${assignment} where id = ?`),
    "update or ignore api_keys set requests_per_day = 6 where id = ?",
    "insert into key_secrets (hash, key_id, hint, created_at) values (hex(randomblob(8)), ?, '', 0)",
    "update key_secrets set expires_at = 9 where key_id = ?",
    "update plans set requests_per_minute = 301 where id = (select plan from api_keys where id = ?)",
    "update plans set requests_per_day = 10001 where id = (select plan from api_keys where id = ?)",
    "update key_secrets set expires_at = null where key_id = ?",
    "delete from key_secrets where key_id = ?",
  ];

  it("are the used ones, and each change of a policy gives another token", async ({ expect }) => {
    const [used, unused] = [await createKey({ used: true }), await createKey()];
    const tokens = new Set<string | null>([null]);
    for (const change of changes) {
      for (const { id } of [used, unused]) await run(change, id);
      expect(tokens.has(await tokenOf(used.id)), change).toBe(false);
      tokens.add(await tokenOf(used.id));
      expect(await tokenOf(unused.id), change).toBeNull();
    }
    await run("update plans set requests_per_minute = 300, requests_per_day = 10000 where id = 'pro'");
  });

  it("come from triggers on each column that a policy is read from", async ({ expect }) => {
    const { id } = await createKey({ used: true });
    const read: string[] = [];
    const database = wrapDatabase(env.DB, (statements, execute) => {
      read.push(...statements);
      return execute();
    });
    await loadKeyPolicy(openDatabase(database), id, 0);
    const columnsOf = (table: string) =>
      [...read.join().matchAll(new RegExp(`\\b${table}\\.(\\w+)`, "g"))].map(([, name]) => name);
    const watchedBy = async (trigger: string) => {
      const select = env.DB.prepare("select sql from sqlite_schema where type = 'trigger' and name = ?");
      const text = await select.bind(trigger).first<string>("sql");
      if (text === null) throw new Error(`there is no trigger ${trigger}`);
      return /UPDATE OF (.+?) ON/s.exec(text)?.[1]?.match(/\w+/g) ?? [];
    };
    // No change gives a key another id.
    const ofKey = [
      ...(await watchedBy("api_keys_update_is_outdated")),
      ...(await watchedBy("api_keys_move_is_outdated")),
    ];
    expect(new Set(columnsOf("k"))).toEqual(new Set(["id", ...ofKey]));
    expect(new Set(columnsOf("c"))).toEqual(
      new Set(["id", ...(await watchedBy("customers_update_is_outdated"))]),
    );
    expect(new Set(columnsOf("p"))).toEqual(
      new Set(["id", ...(await watchedBy("plans_update_is_outdated"))]),
    );
    expect(await watchedBy("key_secrets_update_is_outdated"), "every column of a secret").toEqual([]);
  });

  it("are those of a customer that gets its first limit or loses its last, and else the customer itself", async ({
    expect,
  }) => {
    const [used, unused, revoked, other] = [
      await createKey({ used: true }),
      await createKey(),
      await createKey({ used: true, status: "revoked" }),
      await createKey({ used: true }),
    ];
    const id = await giveKeys("limited", used.id, unused.id, revoked.id);
    const another = await giveKeys("without a limit", other.id);
    await run("insert into limiters values (?)", id);
    const outdatedAfter = async (change: string, ...values: string[]) => {
      await run("delete from outdated_keys");
      await run(change, ...values);
      const rows = await env.DB.prepare("select key_id as id from outdated_keys").all<{ id: string }>();
      return new Set(rows.results.map((row) => row.id));
    };
    const all = new Set([id, used.id]);
    const own = new Set([id]);
    expect(await outdatedAfter("update customers set requests_per_day = 5 where id = ?", id)).toEqual(all);
    expect(await outdatedAfter("update customers set requests_per_minute = 5 where id = ?", id)).toEqual(own);
    expect(await outdatedAfter("update customers set requests_per_day = null where id = ?", id)).toEqual(own);
    const move = "update api_keys set customer_id = ? where id = ?";
    expect(await outdatedAfter(move, another, used.id)).toEqual(new Set([used.id]));
    expect(await outdatedAfter(move, id, used.id)).toEqual(new Set([used.id]));
    expect(await outdatedAfter("update customers set requests_per_minute = null where id = ?", id)).toEqual(
      all,
    );
    expect(await outdatedAfter(move, another, used.id)).toEqual(new Set());
    await run("update customers set requests_per_day = 5 where id = ?", another);
    const replace =
      "insert or replace into customers (id, name, name_key, created_at) values (?1, ?1, ?1, 0)";
    expect(await outdatedAfter(replace, another)).toEqual(new Set([used.id, other.id]));
  });

  it("are not those that change otherwise, nor revoked ones of a plan", async ({ expect }) => {
    const { id } = await createKey({ used: true, plan: "free", status: "revoked" });
    await run("delete from outdated_keys");
    await run("update api_keys set name = 'n', customer_id = null, note = 'n', version = 2 where id = ?", id);
    await run("update plans set requests_per_minute = 60 where id = 'free'");
    expect(await tokenOf(id)).toBeNull();
  });
});

describe("plain SQL", () => {
  it("cannot revive a revoked key", async ({ expect }) => {
    const { id } = await createKey({ status: "revoked" });
    for (const status of ["active", "disabled"]) {
      await expect(run(`update api_keys set status = '${status}' where id = ?`, id)).rejects.toThrow(
        "a revoked key stays revoked",
      );
    }
    const replace = run(
      `insert or replace into api_keys (id, name, plan, status, created_at)
       select id, name, plan, 'active', created_at from api_keys where id = ?`,
      id,
    );
    await expect(replace).rejects.toThrow("a revoked key stays revoked");
    await run("update api_keys set status = 'revoked' where id = ?", id);
  });

  it("can end temporary limits only at a midnight UTC", async ({ expect }) => {
    const { id } = await createKey();
    const endAt = (seconds: number) =>
      run(
        "update api_keys set temporary_requests_per_day = 1, temporary_until = ? where id = ?",
        seconds,
        id,
      );
    await expect(endAt(86_401)).rejects.toThrow("CHECK");
    await endAt(86_400);
  });

  it("can neither change an audit entry nor delete one of the last day", async ({ expect }) => {
    const nowSeconds = Math.floor(Date.now() / 1_000);
    const insert = `insert into audit_log (at, request_id, actor, call, object)
      values (cast(? as integer), 'r', 'mo', 'keys.update', 'audited')`;
    await run(insert, nowSeconds);
    await run(insert, nowSeconds - 86_500);
    const change = run("update audit_log set actor = ? where object = 'audited'", "somebody else");
    await expect(change).rejects.toThrow("an audit entry cannot be changed");
    for (const replace of ["insert or replace", "replace"]) {
      const forge = run(
        `${replace} into audit_log (id, at, request_id, actor, call, object)
         select id, at, request_id, 'somebody else', call, object from audit_log where object = 'audited'`,
      );
      await expect(forge).rejects.toThrow("an audit entry cannot be changed");
    }
    const remove = (at: number) => run("delete from audit_log where at = cast(? as integer)", at);
    await expect(remove(nowSeconds)).rejects.toThrow("an audit entry of the last day cannot be deleted");
    await remove(nowSeconds - 86_500);
  });
});
