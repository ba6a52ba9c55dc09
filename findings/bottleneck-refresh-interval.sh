#!/bin/sh
# bottleneck 2.19.5: a reservoir of 3 that is filled again each 100 ms.
# Guess: 3 jobs each 100 ms, as `reservoirRefreshInterval: 100` says; eight jobs take some 200 ms.
# Behaviour: the reservoir is looked at each 250 ms only, so eight jobs take 500 ms: the rate is two fifths of what was asked
#   for. Nothing says so at run time.
# Seen with Node 20.20.2: 0 0 0 250 250 250 500 500 (to the next 50 ms).
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts bottleneck@2.19.5

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import Bottleneck from "bottleneck";

const limiter = new Bottleneck({ reservoir: 3, reservoirRefreshAmount: 3, reservoirRefreshInterval: 100 });
const start = Date.now();
const jobs = Array.from({ length: 8 }, () => limiter.schedule(async () => Date.now() - start));
const seen = (await Promise.all(jobs)).map((ms) => Math.floor(ms / 50) * 50);
console.log(seen.join(" "));
assert.ok(seen[3] >= 200 && seen[6] >= 450, "faster than each 250 ms");
process.exit();
EOF
node --no-warnings run.mjs
