#!/bin/sh
# p-throttle 8.1.1: the smallest limit and long intervals.
# Guess: a limit of 0 lets no call through; with 1 call in 20 or 30 days, the second and third call wait.
# Behaviour: a limit of 0 lets the first call through. A wait that is longer than a timer of Node can be (2^31 milliseconds,
#   some 24.8 days) is no wait: Node makes it 1 millisecond. With 20 days the third call (due in 40 days) overtakes the
#   second, and with 30 days nothing is throttled. Only a warning of Node says so.
# Seen with Node 20.20.2: limit 0: calls 1; 1 in 20 days: calls 1, 3; 1 in 30 days: calls 1, 2, 3.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts p-throttle@8.1.1

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import pThrottle from "p-throttle";

async function calls(limit, interval) {
  const ran = [];
  const throttled = pThrottle({ limit, interval })((call) => ran.push(call));
  for (const call of [1, 2, 3]) void throttled(call);
  await wait(200);
  return ran;
}
const day = 86_400_000;
const seen = [await calls(0, 1000), await calls(1, 20 * day), await calls(1, 30 * day)];
console.log(`limit 0: calls ${seen[0]}; 1 in 20 days: calls ${seen[1]}; 1 in 30 days: calls ${seen[2]}`);
assert.deepEqual(seen, [[1], [1, 3], [1, 2, 3]]);
process.exit();
EOF
node --no-warnings run.mjs
