/** A database of version 2.2 has its customers, and the use of each, after the migration to 2.3. */
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, it } from "vitest";
import { runs } from "../../support/deep.ts";
import { readText } from "../../support/sources.ts";

const DAY = 86_400;
const [OF_2_2, TO_2_3] = ["0000_init", "0001_version_2_3"].map((name) => readText(`migrations/${name}.sql`));

function databaseOf22(): DatabaseSync {
  const db = new DatabaseSync(":memory:");
  db.exec(OF_2_2 ?? "");
  return db;
}

type Key = {
  name?: string;
  owner?: string | null;
  email?: string | null;
  note?: string | null;
  key?: string;
};

/** As the admin API of 2.2 stored a key: with its folded texts, a line each. */
function insertKey(
  db: DatabaseSync,
  id: string,
  { name = id, owner = null, email = null, note = null, key }: Key,
) {
  const fold = (text: string | null) => (text ?? "").toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
  db.prepare(
    `insert into api_keys (id, name, owner_name, owner_email, note, search, owner_key, plan, created_at)
     values (?, ?, ?, ?, ?, ?, ?, 'free', 7)`,
  ).run(
    ...[id, name, owner, email, note, [name, owner, email, note].map(fold).join("\n")],
    key ?? (owner ?? email ?? "").toLowerCase(),
  );
}

const rows = (db: DatabaseSync, sql: string) =>
  db
    .prepare(sql)
    .all()
    .map((row) => ({ ...row }));

describe("the migration to 2.3", () => {
  it("makes a customer of each owner, as the newest key calls it, and loses no address", ({ expect }) => {
    const db = databaseOf22();
    insertKey(db, "key_1", { owner: "müller ag", email: "old@m.example", note: "Nöte\nof two lines" });
    insertKey(db, "key_2", { owner: "Müller AG", email: "new@m.example" });
    insertKey(db, "key_3", { owner: "Müller AG" });
    insertKey(db, "key_4", { owner: "Muller AG" });
    insertKey(db, "key_5", { email: "Only@Mail.example" });
    insertKey(db, "key_6", {});
    db.exec(
      "insert into api_keys (id, name, owner_name, note, plan, created_at) values ('sql', 'By SQL', 'Sql', 'n', 'free', 1)",
    );
    db.exec(TO_2_3 ?? "");
    const customers = rows(
      db,
      "select name, name_key, email, note, created_at, version from customers order by name",
    );
    const about = { note: null, email: null, created_at: 7, version: 0 };
    expect(customers).toEqual([
      { ...about, name: "Muller AG", name_key: "muller ag" },
      {
        ...{ ...about, name: "Müller AG", name_key: "müller ag", email: "new@m.example" },
        note: "Other e-mail addresses: old@m.example",
      },
      { ...about, name: "Only@Mail.example", name_key: "only@mail.example", email: "Only@Mail.example" },
      { ...about, name: "Sql", name_key: "sql", created_at: 1 },
    ]);
    const keys = rows(
      db,
      "select k.search, c.name from api_keys k left join customers c on c.id = customer_id order by k.id",
    );
    expect(keys).toEqual([
      { search: "key_1\nnote\nof two lines", name: "Müller AG" },
      { search: "key_2\n", name: "Müller AG" },
      { search: "key_3\n", name: "Müller AG" },
      { search: "key_4\n", name: "Muller AG" },
      { search: "key_5\n", name: "Only@Mail.example" },
      { search: "key_6\n", name: null },
      { search: "by sql\nn", name: "Sql" },
    ]);
    for (const { id, search } of rows(db, "select id, search from customers where name like 'M%'")) {
      expect(id).toMatch(/^cus_[0-9A-Za-z]{12}$/);
      expect(String(search).split("\n")).toContain("muller ag");
    }
  });

  it("gives a key the version of its last entry, unless this has members that no key has any more", ({
    expect,
  }) => {
    const db = databaseOf22();
    for (const id of ["key_1", "key_2", "key_3"]) insertKey(db, id, {});
    const insert = db.prepare(
      "insert into audit_log (at, request_id, actor, call, object, before, after) values (1, 'r', 'mo', 'keys.update', ?, ?, '{}')",
    );
    insert.run("key_1", '{"ownerName":"Ada"}');
    insert.run("key_1", '{"plan":"free"}');
    insert.run("key_2", '{"plan":"free"}');
    insert.run("key_2", '{"note":"n","ownerEmail":null}');
    db.exec(TO_2_3 ?? "");
    expect(rows(db, "select version from api_keys order by id").map(({ version }) => version)).toEqual([
      2, 0, 0,
    ]);
  });

  it("keeps the links of who has a key, and no other", ({ expect }) => {
    const db = databaseOf22();
    insertKey(db, "key_1", { owner: "Ada" });
    insertKey(db, "key_2", { owner: "Gone" });
    db.exec("update api_keys set status = 'revoked' where id = 'key_2'");
    for (const owner of ["Ada", "Gone", "Nobody"])
      db.prepare("insert into owner_links values (?1, 'hash', ?1, lower(?1), 1, 'mo', 9)").run(owner);
    db.exec(TO_2_3 ?? "");
    expect(rows(db, "select l.id, name from owner_links l join customers c on c.id = l.customer_id")).toEqual(
      [{ id: "Ada", name: "Ada" }],
    );
  });

  it("gives each day and ban to the customer and plan that 2.2 counted it for, through any changes", ({
    expect,
  }) => {
    const event = fc.oneof(
      fc.record({ key: fc.nat(1), isBan: fc.boolean() }),
      fc.record({
        key: fc.nat(1),
        owner: fc.constantFrom(null, "Ada", "ada", "Bo"),
        plan: fc.constantFrom("free", "pro"),
      }),
      fc.record({ days: fc.integer({ min: 1, max: 2 }) }),
    );
    const property = fc.property(fc.array(event, { maxLength: 25 }), (events) => {
      const db = databaseOf22();
      const now = [0, 1].map((key) => {
        insertKey(db, `key_${key}`, {});
        return { owner: null as string | null, plan: "free", used: -1 };
      });
      const expected = new Map<string, object>();
      const bans: object[] = [];
      let day = 0;
      for (const each of events) {
        if ("days" in each) day += each.days;
        if ("isBan" in each) {
          const of = now[each.key] ?? { owner: null, plan: "", used: 0 };
          const place = `${day} key_${each.key}`;
          const whose = expected.get(place) ?? { customer: of.owner?.toLowerCase() ?? null, plan: of.plan };
          expected.set(place, whose);
          db.prepare("insert into usage values (?, ?, 1, 0, 0, 100, '[1]') on conflict do nothing").run(
            ...[day * DAY, `key_${each.key}`],
          );
          if (each.isBan) {
            db.prepare("insert into bans values (?, ?, 'strikes', null, 20, ?, ?, null, null)").run(
              ...[String(bans.length).padStart(2, "0"), `key_${each.key}`, day * DAY + 5, day * DAY + 9],
            );
            bans.push({ customer: Object(whose).customer });
          }
        }
        if ("plan" in each) {
          now[each.key] = { owner: each.owner, plan: each.plan, used: day };
          db.prepare("update api_keys set owner_name = ?, plan = ? where id = ?").run(
            ...[each.owner, each.plan, `key_${each.key}`],
          );
        }
      }
      db.exec(TO_2_3 ?? "");
      const found = rows(
        db,
        "select (u.day / 86400) || ' ' || key_id as place, name_key as customer, plan from usage u left join customers c on c.id = customer_id",
      );
      expect(new Map(found.map(({ place, ...whose }) => [place, whose]))).toEqual(expected);
      // Triggers sum each row that comes back, and so make of no sums what the migration made.
      const sums = () => ["plan_days", "key_fortnights"].map((table) => rows(db, `select * from ${table}`));
      const migrated = sums();
      db.exec("create table kept as select * from usage; delete from usage");
      expect(sums()).toEqual([[], []]);
      db.exec("insert into usage select * from kept");
      expect(sums()).toEqual(migrated);
      expect(
        rows(
          db,
          "select name_key as customer from bans b left join customers c on c.id = customer_id order by b.id",
        ),
      ).toEqual(bans);
    });
    fc.assert(property, { numRuns: runs(15) });
  });
});
