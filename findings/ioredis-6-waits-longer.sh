#!/bin/sh
# ioredis 6.0.0 beside 5.8.2: a command while no Redis answers, both with their default of 20 retries for each request.
# Guess: MaxRetriesPerRequestError after some 10 seconds, as ever, and then the fallback of a limiter decides.
# Behaviour: the pauses between the 20 retries double up to 5 seconds, where they were 50 ms more each time, at most 2 seconds.
#   So a command waits 73 seconds for its error. A limiter on Redis with a fallback (`insuranceLimiter` of
#   rate-limiter-flexible) keeps each request open as long. `commandTimeout` has no default.
# Seen with Node 20.20.2: 5.8.2 10.6 s; 6.0.0 73 s.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts five@npm:ioredis@5.8.2 six@npm:ioredis@6.0.0

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { createServer } from "node:net";
import Five from "five";
import Six from "six";

// A port that nobody listens on.
const server = createServer().listen(0, "127.0.0.1");
await new Promise((done) => server.once("listening", done));
const { port } = server.address();
await new Promise((done) => server.close(done));

async function secondsOf(Redis) {
  const redis = new Redis(port, "127.0.0.1");
  redis.on("error", () => {});
  assert.equal(redis.options.maxRetriesPerRequest, 20);
  const start = Date.now();
  const error = await redis.get("a").catch(({ name }) => name);
  redis.disconnect();
  assert.equal(error, "MaxRetriesPerRequestError");
  return (Date.now() - start) / 1000;
}
const [five, six] = await Promise.all([secondsOf(Five), secondsOf(Six)]);
console.log(`5.8.2: ${five.toFixed(1)} s; 6.0.0: ${six.toFixed(1)} s`);
assert.ok(five < 20 && six > 50);
process.exit();
EOF
node --no-warnings run.mjs
