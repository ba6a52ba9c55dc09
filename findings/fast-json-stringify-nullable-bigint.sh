#!/bin/sh
# fast-json-stringify 7.3.10, which Fastify answers with: ids above 2^53 by the schema of the answer.
# Guess: a BigInt is written with all digits wherever the schema says integer, with or without null.
# Behaviour: with `type: "integer"` all digits are there. With `type: ["integer", "null"]` the same BigInt is an error, "does
#   not match schema definition". Digits in a text, which a database driver gives for such ids, become a rounded number.
# Seen with Node 20.20.2: {"id":9007199254740993}; an error; {"id":9007199254740992}.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts fast-json-stringify@7.3.10

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import build from "fast-json-stringify";

const plain = build({ type: "object", properties: { id: { type: "integer" } } });
const nullable = build({ type: "object", properties: { id: { type: ["integer", "null"] } } });
const id = 9007199254740993n;
console.log("integer, BigInt:", plain({ id }));
console.log("integer, text:", plain({ id: String(id) }));
assert.equal(plain({ id }), '{"id":9007199254740993}');
assert.equal(plain({ id: String(id) }), '{"id":9007199254740992}');
assert.equal(nullable({ id: 5 }), '{"id":5}');
assert.throws(
  () => nullable({ id }),
  ({ message }) => {
    console.log("integer or null, BigInt:", message);
    return message.includes("does not match schema definition");
  },
);
EOF
node run.mjs
