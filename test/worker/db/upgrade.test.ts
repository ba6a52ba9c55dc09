/** A database of 2.2 (test/fixtures) becomes one of this version: nothing is lost, and its keys and links go on. */
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, it } from "vitest";
import type { AuditView } from "../../../src/worker/admin/audit/schema.ts";
import { saysOf } from "../../../src/worker/admin/says.ts";
import { membersOf } from "../../../src/worker/text/says.ts";
import { foldForSearch } from "../../../src/worker/text/text.ts";
import of22 from "../../fixtures/database-2.2.sql?raw";
import { LIST, startApp } from "../../support/worker.ts";
import { operatorOf } from "../admin/admin-support.ts";

/** Columns that are gone, or have another value: tests of their own say which. */
const MOVED: Readonly<Record<string, readonly string[]>> = {
  api_keys: ["owner_name", "owner_email", "owner_key", "search", "version"],
  orders: ["version"],
  owner_links: ["owner", "owner_key"],
  plans: ["version"],
};
/** `past_owners` is in usage and bans. A load of 2.2 cannot be undone. */
const GONE = ["loads", "past_owners"];

/** The values as literals of SQL, because a number of JavaScript has no 64 bits. */
type Row = Readonly<Record<string, string>>;
type Tables = ReadonlyMap<string, readonly Row[]>;

let [before, after]: [Tables, Tables] = [new Map(), new Map()];
let [fresh, migrated]: [unknown, unknown] = [null, null];

async function run(sql: readonly string[]): Promise<void> {
  await env.DB.batch(sql.map((statement) => env.DB.prepare(statement)));
}

async function all<Found>(sql: string): Promise<Found[]> {
  return (await env.DB.prepare(sql).all<Found>()).results;
}

/** The rows of all tables, in the order in which a scan finds them. */
async function readTables(): Promise<Tables> {
  const tables = await all<{ name: string }>(
    "select name from pragma_table_list where schema = 'main' and type = 'table' and name not glob '_cf_*' and name not glob 'sqlite_*'",
  );
  const read = tables.map(async ({ name }) => {
    const columns = await all<{ name: string }>(`select name from pragma_table_info('${name}')`);
    const values = columns.map((column) => `quote("${column.name}") as "${column.name}"`);
    return [name, await all<Row>(`select ${values.join()} from "${name}"`)] as const;
  });
  return new Map(await Promise.all(read));
}

function readSchema() {
  return all(
    "select type, name, sql from sqlite_schema where name not glob '_cf_*' and name not glob 'sqlite_*' order by type, name",
  );
}

beforeAll(async () => {
  fresh = await readSchema();
  await reset();
  const [first, ...later] = env.TEST_MIGRATIONS.map(({ queries }) => queries);
  await run(first ?? []);
  await run(of22.split("--> statement-breakpoint"));
  before = await readTables();
  for (const queries of later) await run(queries);
  after = await readTables();
  migrated = await readSchema();
});

const rowsOf = (tables: Tables, table: string): readonly Row[] => tables.get(table) ?? [];

describe("the migrations", () => {
  it("make of a database of 2.2 the schema of a new one", ({ expect }) => {
    expect(migrated).toEqual(fresh);
  });

  it("keep every value of every row, but those that are moved", ({ expect }) => {
    expect(before.size).toBe(18);
    for (const [table, rows] of before) {
      if (GONE.includes(table)) continue;
      expect(rows.length, table).toBeGreaterThan(0);
      const kept = Object.keys(rows[0] ?? {}).filter((column) => !MOVED[table]?.includes(column));
      const only = (all: readonly Row[]) => all.map((row) => kept.map((column) => row[column]));
      const expected = table === "owner_links" ? rows.filter(isLinkOfKeys) : rows;
      expect(only(rowsOf(after, table)), table).toEqual(only(expected));
    }
  });

  it("leave in the search text of a key its name and its note", ({ expect }) => {
    for (const { name = "", note, search, id } of rowsOf(after, "api_keys")) {
      const texts = [name, ...(note === undefined || note === "NULL" ? [] : [note])].map((text) =>
        text.slice(1, -1),
      );
      for (const text of texts) expect(search).toContain(isPlain(id) ? lower(text) : foldForSearch(text));
      expect(search?.length).toBeLessThanOrEqual(texts.join("\n").length + 3);
    }
  });

  it("call a customer as its newest key does, also folded, and search has all its texts", ({ expect }) => {
    const newest = new Map(rowsOf(before, "api_keys").map((key) => [key.owner_key, key]));
    for (const customer of rowsOf(after, "customers")) {
      const { id, owner_name, owner_email } = newest.get(customer.name_key) ?? {};
      const name = (owner_name === "NULL" ? owner_email : owner_name) ?? customer.name ?? "";
      expect(customer.name).toBe(name);
      if (id !== undefined && !isPlain(id))
        expect(customer.search).toContain(foldForSearch(name.slice(1, -1)));
      for (const text of [name, customer.email ?? "", customer.note ?? ""])
        if (text !== "NULL") expect(customer.search).toContain(lower(text.slice(1, -1)));
    }
  });

  it("give each day and ban to the customer whose key it was, and a day to the plan", ({ expect }) => {
    const names = new Map(rowsOf(after, "customers").map(({ id = "", name_key }) => [id, name_key]));
    for (const row of [...rowsOf(after, "usage"), ...rowsOf(after, "bans")]) {
      const time = Number(row.day ?? row.started_at);
      // They come in the order of their last days.
      const past = rowsOf(before, "past_owners").find(
        ({ key_id, until_day }) => key_id === row.key_id && Number(until_day) > time,
      );
      const whose = past ?? rowsOf(before, "api_keys").find(({ id }) => id === row.key_id);
      const { owner_key = "''", plan = "''" } = whose ?? {};
      const found = [names.get(row.customer_id ?? "") ?? "''", row.plan ?? plan];
      expect(found, `${row.key_id} at ${time}`).toEqual([owner_key, plan]);
    }
  });
});

/** Whether plain SQL made the key: it folds A to Z only. */
const isPlain = (key: string | undefined) => key?.includes("sqlSql");
const lower = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

function isLinkOfKeys({ owner_key }: Row): boolean {
  return rowsOf(before, "api_keys").some((key) => key.owner_key === owner_key && key.status !== "'revoked'");
}

/** Secrets of the fixture, whose MAC key is of no other database. */
const SECRETS = {
  used: "sok_0WpnVnI0yYk48rp6lRwhBwdWOqtEkfzRsPRaWMF2k7gpi",
  neverUsed: "sok_06AztACxyiv6T85r2vD8gp7hV8w3bhuUtkh6mMjULFmxy",
  enterprise: "sok_0dKOSS1BlGUdmOhUgEkIWfyaZeeu6VBo7Vy3RlKVDqz4E",
  temporarilyLimited: "sok_0cPNpxpiqOuMV3ewVvUC074kj3UL5c0kn055uTYaxKSex",
  onceTemporarilyLimited: "sok_0nII52J7Cpe4uglO66UmXw2JKQ7OvDlcoqnQKkUEcahiO",
  ownMinute: "sok_0X1aFVMdgmNlr1kTDYomFJ8XOco0lPNn04ObPf6a5jqp9",
  far: "sok_68xK6398hqQVmQwcfGLXwnJpI7ZMKwVXOche5jh8uYB1a",
  oldWithGrace: "sok_0MPboOXJFnaTuHi77hubmXNgGxPGObGRDfKSvEcX3F6WB",
  newWithGrace: "sok_0MPboOXJFnaTuo6hHtBpqFAuHyy8CFeap3ILFUsJPudeV",
  rotatedByOwner: "sok_00YPYBMVd174bru8pCTxPWH4IQ9xxBuCOntbWFtCHgLLF",
  oldWithoutGrace: "sok_07N1xyj1XLJuYHbN10SyTXltTq4ivseYqkyi2xvfQwJ7J",
  ended: "sok_0nSfQiwADWZxO9L567EB1hroeVEOs5rfwr1ocnIV6qX3R",
  revoked: "sok_07HuBugJERmhUHZqFFWXBMeX2xMcrRAMXFJLTTdk4sTIh",
  disabled: "sok_0euduQ0wrEqdg8tzBtmWikiN1qF0BhRh5s9JdF7XYLfpd",
  expired: "sok_0RKP6vpXNkr0cKsNr4hHSFd4CPxeufJndSsHz9tgKft6d",
  banned: "sok_0B6GwDL9KJ7ZVSRUrxoERif0eGthuhIGURCGOgkMa1IzX",
  onlyLists: "sok_04ZbbJbyJun80hoEUtS2wuDD2ZUJlWZlJSwi0Ex3Tn1SG",
} as const;

describe("the keys of 2.2", () => {
  const app = startApp();
  const list = (key: keyof typeof SECRETS) => app(LIST, { key: SECRETS[key] });

  it.for([
    ["used", 300],
    ["neverUsed", 61],
    ["enterprise", 3000],
    ["temporarilyLimited", 500],
    ["onceTemporarilyLimited", 300],
    ["ownMinute", 7],
    ["far", 1000],
    ["oldWithGrace", 300],
    ["newWithGrace", 300],
    ["rotatedByOwner", 61],
  ] as const)("list orders with the limit that they had: %s", async ([key, limit], { expect }) => {
    const response = await list(key);
    expect([response.status, response.headers.get("X-RateLimit-Limit")]).toEqual([200, String(limit)]);
    expect(await response.text()).toContain(
      '{"id":9223372036854775807,"petId":-9223372036854775808,"quantity":9007199254740993}',
    );
  });

  it.for(["oldWithoutGrace", "ended", "revoked", "disabled", "expired"] as const)(
    "stay refused: %s",
    async (key, { expect }) => {
      expect((await list(key)).status).toBe(401);
    },
  );

  it("stay banned, and keys that may only list cancel nothing", async ({ expect }) => {
    const banned = await list("banned");
    expect([banned.status, await banned.json()]).toEqual([
      429,
      expect.objectContaining({
        code: "key_banned",
        message: expect.stringContaining("2100-01-01T00:00:00Z"),
      }),
    ]);
    const cancel = (key: string) => app(`${LIST}/1003`, { key, method: "DELETE" });
    expect((await cancel(SECRETS.onlyLists)).status).toBe(403);
    expect((await cancel(SECRETS.used)).status).toBe(204);
  });
});

describe("the links of 2.2", () => {
  const app = startApp();

  async function open(code: string) {
    const opened = await app("/owner", {
      method: "POST",
      body: new URLSearchParams({ code }),
      headers: { Origin: "https://orders.example" },
      redirect: "manual",
    });
    const Cookie = (opened.headers.get("Set-Cookie") ?? "").split(";")[0] ?? "";
    const page = await app("/owner", { headers: { Cookie } });
    const names = [...(await page.text()).matchAll(/<h2>([^<]+?) </g)].map(([, name]) => name);
    return { status: opened.status, names };
  }

  it.for([
    ["of a name", "sol_7fCQpvSCLCsl7tC5JrWQAGnbqnv3TASwr0N3PnlV", ["disabled", "mail of another", "used"]],
    [
      "of an e-mail address",
      "sol_6rvFgxZ2X2fUBfaz6laNeu6wT22n7ndc3uG9LYQI",
      ["expiring", "name is a mail", "same mail"],
    ],
    ["of the name ..", "sol_TaGyGy15AXOIaN3tkcmLND6EVLkVpZHlBnsyN5ez", ["dots"]],
  ] as const)("open the keys of their customer: one %s", async ([, code, names], { expect }) => {
    expect(await open(code)).toEqual({ status: 303, names });
  });

  it.for([
    ["was revoked", "sol_7fCQpvSCR48iuyBnbx3xObakhU54zCDLD1ftztRX"],
    ["has ended", "sol_D9aLWe42lbdxLvHxOyZduY15zdMrfB4hYK2qxsMi"],
    ["is of a name that no key has", "sol_kMWQz9yJ7dJ7N5igJGDreNQNSs7CZzIb6kiAUzZq"],
  ] as const)("open nothing: one that %s", async ([, code], { expect }) => {
    expect(await open(code)).toEqual({ status: 401, names: [] });
  });
});

describe("the audit log of 2.2", () => {
  it("says for whom a link was made", async ({ expect }) => {
    const { body } = await operatorOf(startApp())("GET", "/audit?limit=200");
    // The service's own answer.
    const entries = (body.audit as AuditView[]).filter(({ call }) => call.startsWith("links."));
    expect(new Set(entries.map(({ call }) => call)).size).toBe(2);
    for (const entry of entries)
      expect(saysOf(entry)).toContain(`made for ${membersOf(entry.after ?? entry.before).owner}`);
  });

  it("offers an undo only of the last change of a key or plan, and each that is offered works", async ({
    expect,
  }) => {
    const operator = operatorOf(startApp());
    const { body } = await operator("GET", "/audit?limit=200");
    // The service's own answer.
    const entries = body.audit as { id: number; object: string; undoable: boolean }[];
    const undoable = entries.filter((entry) => entry.undoable);
    expect(undoable.length).toBeGreaterThan(0);
    for (const { id, object } of undoable) {
      expect(entries.find((entry) => entry.object === object)?.id, object).toBe(id);
      expect(object).toMatch(/^(key_\w+|free|pro|business)$/);
      const dryRun = await operator("POST", `/audit/${id}/undo?dry-run`, {});
      expect([dryRun.status, dryRun.body.undone], JSON.stringify(dryRun.body)).toEqual([200, [object]]);
    }
  });
});
