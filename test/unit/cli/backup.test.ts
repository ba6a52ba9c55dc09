import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { describe, it } from "vitest";
import {
  type BackupQuery,
  type BackupRow,
  backUp,
  newDatabase,
  TABLES,
} from "../../../src/cli/commands/backup.ts";
import { CliError } from "../../../src/cli/io.ts";
import { SCHEMA_NUMBER } from "../../../src/worker/db/schema-number.ts";
import { temporaryFolder } from "../../support/cli.ts";

/** Lost after a restore. Triggers write the changes and the outdated keys, and operators sign in again. */
const NOT_SAVED = [
  "alert_receivers",
  "alerts",
  "loads",
  "removed_orders",
  "console_sessions",
  "order_changes",
  "outdated_keys",
  // Triggers sum again what is restored.
  ...["plan_days", "key_fortnights", "key_fortnights_end", "key_counts"],
];

const AUDIT = `insert into audit_log (at, request_id, actor, call, object) values (1, 'r', 'mo', 'keys.create', 'k')`;
/** An operator gives a plan limits and makes a key that relies on them, with a secret of a new MAC key. */
const OPERATOR = `${AUDIT};
  update plans set requests_per_minute = 9, requests_per_day = 9 where id = 'enterprise';
  insert into mac_keys (key) values (lower(hex(randomblob(32))));
  insert into api_keys (id, name, plan, created_at) values ('key_late', 'late', 'enterprise', 1);
  insert into key_secrets (hash, key_id, hint, created_at) values ('${"a".repeat(64)}', 'key_late', 'abcd', 1)`;
/** A client cancels the first order and the last one. */
const CLIENT = `insert into cancelled_orders (order_id, cancelled_at, cancelled_by, request_id)
    select id, 1, 'key_a', 'r' from orders where id in (1, 1100);
  delete from orders where id in (1, 1100)`;

/** Several pages of keys and of orders. */
function newSource(): DatabaseSync {
  const source = newDatabase();
  const numbers = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1100)";
  source.exec(`${numbers} insert into api_keys (id, name, plan, created_at) select 'key_' || i, 'a', 'pro', 1 from n;
    ${numbers} insert into orders (id) select i from n`);
  return source;
}

/** Answers as D1 does, and runs `meanwhile` before each of these queries. */
function queryOf(source: DatabaseSync, meanwhile: (query: number) => string) {
  let asked = 0;
  const query: BackupQuery = async (sql) => {
    source.exec(meanwhile(asked++));
    return sql.split("; ").map((each) => source.prepare(each).all() as BackupRow[]); // no value is a blob
  };
  return { query, asked: () => asked };
}

function rowsOf(database: DatabaseSync): string {
  return JSON.stringify(TABLES.map((table) => database.prepare(`select * from ${table}`).all()));
}

describe("a backup", () => {
  const file = join(temporaryFolder(), "backup.sql");

  it("has every table that is not left out on purpose", ({ expect }) => {
    const tables = newDatabase().prepare(
      "select name from pragma_table_list where schema = 'main' and type = 'table'",
    );
    const names = tables.all().map(({ name }) => String(name));
    const ours = names.filter((name) => !name.startsWith("sqlite_"));
    expect([...TABLES, ...NOT_SAVED].toSorted()).toEqual(ours.toSorted());
  });

  it.for([
    ["an operator", OPERATOR],
    ["a client", CLIENT],
  ] as const)("is of one time, whenever %s changes something meanwhile", async ([, change], { expect }) => {
    for (let at = 0, queries = 1; at < queries; at++) {
      const source = newSource();
      const states = [rowsOf(source)];
      const { query, asked } = queryOf(source, (each) => (each === at ? change : ""));
      await backUp(file, query);
      states.push(rowsOf(source));
      const restored = newDatabase();
      restored.exec(readFileSync(file, "utf8"));
      expect(states).toContain(rowsOf(restored));
      queries = asked();
    }
  });

  it("is none of a database of another version", async ({ expect }) => {
    const source = newSource();
    source.exec(
      `drop view schema_number; create view schema_number as select ${SCHEMA_NUMBER + 1} as number`,
    );
    const { query } = queryOf(source, () => "");
    await expect(backUp(file, query)).rejects.toThrow("The database is of a newer version");
  });

  it("is none if operators change something all the time, and leaves the file of before", async ({
    expect,
  }) => {
    const { query } = queryOf(newSource(), () => AUDIT);
    writeFileSync(file, "the file of before");
    await expect(backUp(file, query)).rejects.toThrow(CliError);
    expect(readFileSync(file, "utf8")).toBe("the file of before");
  });
});
