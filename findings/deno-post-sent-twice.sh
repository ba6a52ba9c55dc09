#!/bin/sh
# Deno 2.9.6 and Bun 1.4.4, fetch: a request that arrives on a connection that was used before, and whose connection then ends
# without an answer.
# Guess: Deno sends nothing again that was written; Bun sends a DELETE again.
# Behaviour: Deno sends the DELETE and the POST again, on its own, with the body: the server has each twice, and the program
#   sees one error or one answer. Bun is as guessed, and sends the POST once.
# Seen: Deno DELETE 2, POST 2; Bun DELETE 2, POST 1.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts @deno/linux-x64-glibc@2.9.6 @oven/bun-linux-x64@1.4.4

cat > client.mjs <<'EOF'
const url = process.argv[2];
for (const method of ["DELETE", "POST"]) {
  await (await fetch(`${url}/ready`)).text();
  await fetch(`${url}/lost`, { method, body: method === "POST" ? "order" : null }).catch(() => {});
}
EOF
cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { promisify } from "node:util";

let arrived = [];
const server = createServer(async (request, response) => {
  const body = (await request.toArray()).join("");
  if (request.url === "/ready") return response.end("ready");
  arrived.push(`${request.method} ${body}`.trim());
  request.socket.destroy();
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${server.address().port}`;
const run = async (file, args) => {
  arrived = [];
  await promisify(execFile)(file, [...args, "client.mjs", url], { timeout: 60_000 });
  return arrived;
};
const seen = {
  deno: await run("node_modules/@deno/linux-x64-glibc/deno", ["run", "--allow-all"]),
  bun: await run("node_modules/@oven/bun-linux-x64/bin/bun", ["run"]),
};
console.log(seen);
assert.deepEqual(seen, {
  deno: ["DELETE", "DELETE", "POST order", "POST order"],
  bun: ["DELETE", "DELETE", "POST order"],
});
process.exit();
EOF
DENO_DIR="$dir/deno" node --no-warnings run.mjs
