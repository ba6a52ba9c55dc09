#!/bin/sh
# hono 4.13.19: `accepts()` chooses between two media types by `Accept`.
# Guess: by q, as RFC 9110 has it: with "text/plain;q=0.3, */*" the other type, which `*/*` allows with q=1, and with
#   "application/openmetrics-text;q=0, */*" text/plain, because the other one is refused.
# Behaviour: `*/*` counts for nothing, and q=0 only as long as another range names a type. So text/plain wins with q=0.3, and
#   the type that the client refuses is the answer, if it is the default. Parameters such as `version=` are not compared.
# Seen with Node 20.20.2: text/plain, application/openmetrics-text, application/openmetrics-text.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts hono@4.13.19

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { Hono } from "hono";
import { accepts } from "hono/accepts";

const OPEN = "application/openmetrics-text";
const app = new Hono();
const supports = [OPEN, "text/plain"];
app.get("/", (c) => c.text(accepts(c, { header: "Accept", supports, default: OPEN })));
const seen = [];
for (const Accept of ["text/plain;q=0.3, */*", `${OPEN};q=0, */*`, `${OPEN};version=2.0.0, text/plain;q=0.5`])
  seen.push(await (await app.request("/", { headers: { Accept } })).text());
console.log(seen.join(", "));
assert.deepEqual(seen, ["text/plain", OPEN, OPEN]);
EOF
node --no-warnings run.mjs
