#!/bin/sh
# ratelimit-header-parser 0.1.0: a response with X-RateLimit-* and the structured RateLimit header of two windows.
# Guess: the parser reads one of the two families, or the first window.
# Behaviour: the RateLimit header wins although the parser cannot read its form, so every member is NaN, and the
#   X-RateLimit-* headers beside it are never looked at. Without RateLimit the same headers are read.
# Seen with Node 20.20.2: limit NaN, remaining NaN; then limit 60, remaining 59.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts ratelimit-header-parser@0.1.0

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { parseRateLimit } from "ratelimit-header-parser";

const reset = String(Math.floor(Date.now() / 1000) + 17);
const headers = { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "59", "x-ratelimit-reset": reset };
const both = { ...headers, ratelimit: '"minute";r=59;t=17, "day";r=940;t=50357' };
const [withBoth, alone] = [parseRateLimit(both), parseRateLimit(headers)];
console.log(`with RateLimit: limit ${withBoth.limit}, remaining ${withBoth.remaining}`);
console.log(`without: limit ${alone.limit}, remaining ${alone.remaining}`);
assert.equal(withBoth.remaining, Number.NaN);
assert.equal(alone.remaining, 59);
EOF
node run.mjs
