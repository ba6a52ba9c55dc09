#!/bin/sh
# hono 4.13.19, hono/jsx on the server: a bigint as a child, in an attribute, and in `html`.
# Guess: its digits, as of a number. React and hono's own `html` print it.
# Behaviour: as a child nothing is printed, and nothing is said. In an attribute and in `html` the digits are there. A Date
#   and an object as a child are nothing, too.
# Seen with Node 20.20.2: <p title="9007199254740993">5 </p>, then 9007199254740993.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts hono@4.13.19

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { html } from "hono/html";
import { jsx } from "hono/jsx";

const id = 9007199254740993n;
const seen = [String(jsx("p", { title: id }, 5, " ", id, new Date(0), { a: 1 })), String(html`${id}`)];
console.log(seen.join(", then "));
assert.deepEqual(seen, ['<p title="9007199254740993">5 </p>', "9007199254740993"]);
EOF
node --no-warnings run.mjs
