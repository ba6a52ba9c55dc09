#!/bin/sh
# json-bigint 1.0.0 with `useNativeBigInt`: numbers that are long but not whole.
# Guess: a fraction stays a number, however many digits it has.
# Behaviour: every number of more than 15 characters goes to BigInt(), a fraction too, so a valid document that holds a
#   price or a coordinate with many digits cannot be read at all. Shorter fractions are numbers.
# Seen with Node 20.20.2: 0.1234567890123 is read, 0.12345678901234567 ends with "Cannot convert 0.12345678901234567 to a BigInt".
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts json-bigint@1.0.0

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import jsonBigint from "json-bigint";

const { parse } = jsonBigint({ useNativeBigInt: true });
assert.equal(parse('{"id":9007199254740993,"score":0.1234567890123}').score, 0.1234567890123);
assert.throws(
  () => parse('{"id":9007199254740993,"score":0.12345678901234567}'),
  (error) => {
    console.log(error.message);
    return error instanceof SyntaxError && error.message.includes("to a BigInt");
  },
);
EOF
node run.mjs
