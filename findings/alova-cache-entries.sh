#!/bin/sh
# alova 3.5.5, its fetch adapter: GETs that are answered with `Cache-Control: private, no-cache`, and one that is refused first.
# Guess: a GET is kept five minutes in memory, whatever the answer says; another `Authorization` is another entry.
# Behaviour: so it is, but for a key that `beforeRequest` sets, as one does it for all calls: the entry is chosen before, so
#   after a change of the key the list of the former key is shown. A 429 is kept too, beyond its `Retry-After`. `cacheFor: null`
#   turns this off; a `responded` that throws keeps a 429 out.
# Seen with Node 20.20.2: 429 twice of 1 request; "Bearer a" twice of 1 request; with `cacheFor: null` 429 and then 200.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts alova@3.5.5

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createAlova } from "alova";
import fetchAdapter from "alova/fetch";

let requests = 0;
const server = createServer(({ url, headers }, response) => {
  requests++;
  const status = url === "/refused" && requests === 1 ? 429 : 200;
  response.writeHead(status, { "Cache-Control": "private, no-cache", "Retry-After": "1" }).end(headers.authorization);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const baseURL = `http://127.0.0.1:${server.address().port}`;

async function askTwice(path, responded, options) {
  requests = 0;
  const keys = ["Bearer a", "Bearer b"];
  const beforeRequest = ({ config }) => Object.assign(config.headers, { Authorization: keys.shift() });
  const common = { baseURL, cacheLogger: false, requestAdapter: fetchAdapter(), beforeRequest, responded };
  const client = createAlova({ ...common, ...options });
  const first = await client.Get(path);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  return [first, await client.Get(path), requests];
}

const status = (response) => response.status;
const seen = {
  refused: await askTwice("/refused", status),
  list: await askTwice("/list", (response) => response.text()),
  withoutCache: await askTwice("/refused", status, { cacheFor: null }),
};
console.log(seen);
assert.deepEqual(seen, {
  refused: [429, 429, 1],
  list: ["Bearer a", "Bearer a", 1],
  withoutCache: [429, 200, 2],
});
process.exit();
EOF
node --no-warnings run.mjs
