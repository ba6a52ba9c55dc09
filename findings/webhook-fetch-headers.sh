#!/bin/sh
# standardwebhooks 1.1.1, svix 2.5.0: verifying a webhook in a handler that has a `Request` of the web.
# Guess: `verify(body, request.headers)` works.
# Behaviour: both look for members of the object, and a `Headers` object has none for its headers. A request that has every
#   header is refused with "Missing required headers". `Object.fromEntries(request.headers)` verifies.
# Seen with Node 20.20.2: refused, verified, for each of the two.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts standardwebhooks@1.1.1 svix@2.5.0

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import * as standard from "standardwebhooks";
import * as svix from "svix";

const secret = `whsec_${Buffer.from("a secret of thirty-two characters").toString("base64")}`;
const body = '{"type":"test"}';
const now = new Date();
for (const [name, library] of Object.entries({ standardwebhooks: standard, svix })) {
  const hook = new library.Webhook(secret);
  const request = new Request("https://receiver.example", {
    method: "POST",
    body,
    headers: {
      "webhook-id": "msg_1",
      "webhook-timestamp": String(Math.floor(now / 1000)),
      "webhook-signature": hook.sign("msg_1", now, body),
    },
  });
  assert.throws(() => hook.verify(body, request.headers), { message: "Missing required headers" });
  hook.verify(body, Object.fromEntries(request.headers));
  console.log(`${name}: Headers refused, a plain object of them verified`);
}
EOF
node run.mjs
