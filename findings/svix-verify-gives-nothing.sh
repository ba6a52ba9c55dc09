#!/bin/sh
# svix 2.5.0: what `Webhook.verify` gives back.
# Guess: the parsed body, as `Webhook.verify` of standardwebhooks does, whose authors are the same.
# Behaviour: svix gives back nothing, so `const { data } = webhook.verify(body, headers)` fails on a webhook that is right.
#   standardwebhooks 1.1.1 gives the parsed body back.
# Seen with Node 20.20.2: svix undefined, standardwebhooks {"type":"test"}.
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
function verified(Webhook) {
  const hook = new Webhook(secret);
  const now = new Date();
  return hook.verify(body, {
    "webhook-id": "msg_1",
    "webhook-timestamp": String(Math.floor(now / 1000)),
    "webhook-signature": hook.sign("msg_1", now, body),
  });
}
console.log("svix:", verified(svix.Webhook));
console.log("standardwebhooks:", JSON.stringify(verified(standard.Webhook)));
assert.equal(verified(svix.Webhook), undefined);
assert.deepEqual(verified(standard.Webhook), { type: "test" });
EOF
node run.mjs
