#!/bin/sh
# pretty-ms 9.3.1 beside ms 2.1.3: times near the next unit.
# Guess: both round: 999.6 ms is 1s, or 1000ms.
# Behaviour: pretty-ms cuts: 999ms and 59.9s, so a wait in its words is up to a unit too short for a "try again in". ms rounds
#   in one unit only: 999.6ms, 60s, and 90 seconds are 2m.
# Seen with Node 20.20.2: 999ms, 59.9s, 1m 29.9s; 999.6ms, 60s, 2m.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts pretty-ms@9.3.1 ms@2.1.3

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import ms from "ms";
import prettyMs from "pretty-ms";

const seen = [999.6, 59_999, 89_999].map((time) => prettyMs(time)).concat([999.6, 59_999, 90_000].map((time) => ms(time)));
console.log(seen.join(", "));
assert.deepEqual(seen, ["999ms", "59.9s", "1m 29.9s", "999.6ms", "60s", "2m"]);
EOF
node --no-warnings run.mjs
