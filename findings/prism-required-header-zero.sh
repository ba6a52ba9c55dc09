#!/bin/sh
# Prism 5.16.0, mock server: a required response header whose example is 0 or an empty text.
# Guess: the mock sends the header and finds nothing wrong with its own answer.
# Behaviour: the mock sends `X-RateLimit-Remaining: 0`, and in the same answer reports in `sl-violations` that the required
#   header is missing. An example of 1 is fine. So the answer that a client must be tested with, 0 requests remaining,
#   counts as a violation; with `--errors` it is a 500.
# Seen with Node 20.20.2: sent "0" and "1"; reported missing: x-zero.
set -eu
dir=$(mktemp -d)
server=
trap 'test -z "$server" || kill "$server" || true; rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts @stoplight/prism-cli@5.16.0

cat > openapi.yaml <<'EOF'
openapi: 3.1.0
info: { title: Orders, version: "1" }
paths:
  /orders:
    get:
      responses:
        "200":
          description: The orders.
          headers:
            X-Zero: { required: true, schema: { type: integer }, example: 0 }
            X-One: { required: true, schema: { type: integer }, example: 1 }
          content:
            application/json: { schema: { type: array, items: {} }, example: [] }
EOF
node node_modules/@stoplight/prism-cli/dist/index.js mock --host 127.0.0.1 --port 9178 openapi.yaml > log.txt 2>&1 &
server=$!
cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";

let response;
for (let attempt = 0; !response; attempt += 1) {
  response = await fetch("http://127.0.0.1:9178/orders").catch((error) => {
    if (attempt > 60) throw error;
  });
  if (!response) await wait(500);
}
const [zero, one] = [response.headers.get("x-zero"), response.headers.get("x-one")];
const missing = JSON.parse(response.headers.get("sl-violations")).map(({ message }) => message);
console.log(`sent ${zero} and ${one}; reported: ${missing.join()}`);
assert.deepEqual([zero, one], ["0", "1"]);
assert.equal(missing.length, 1);
assert.match(missing[0], /required property 'x-zero'/);
EOF
node run.mjs
