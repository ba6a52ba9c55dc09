#!/bin/sh
# express-rate-limit 8.7.5, @fastify/rate-limit 11.2.0, rate-limiter-flexible 11.4.0: a limit of 2.5.
# Guess: an error, or the limit is cut to 2 and the headers say so.
# Behaviour: three answers. Each admits two. express-rate-limit sends the fractions: X-RateLimit-Remaining "0.5", and in
#   `RateLimit` the item r=0.5, which draft 8 defines as an integer, so that a strict reader has no number. @fastify cuts the
#   limit. rate-limiter-flexible says that 0.5 points remain, which no request can take.
# Seen with Node 20.20.2: express 1.5 0.5 "2.5-in-1min"; r=0.5; t=60 | fastify 1 0 | flexible 1.5 0.5.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts express@5.3.0 express-rate-limit@8.7.5 fastify@5.12.8 @fastify/rate-limit@11.2.0 rate-limiter-flexible@11.4.0

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { once } from "node:events";
import fastifyRateLimit from "@fastify/rate-limit";
import express from "express";
import { rateLimit } from "express-rate-limit";
import Fastify from "fastify";
import { RateLimiterMemory } from "rate-limiter-flexible";

const app = express();
app.use(rateLimit({ limit: 2.5, windowMs: 60_000, standardHeaders: "draft-8", legacyHeaders: true }));
app.get("/", (_, response) => response.send("yes"));
const server = app.listen(0, "127.0.0.1");
await once(server, "listening");
const ask = () => fetch(`http://127.0.0.1:${server.address().port}/`);
const ofExpress = [await ask(), await ask()].map(({ headers }) => headers);
const fastify = Fastify();
await fastify.register(fastifyRateLimit, { max: 2.5, timeWindow: 60_000 });
fastify.get("/", () => "yes");
const ofFastify = [await fastify.inject("/"), await fastify.inject("/"), await fastify.inject("/")];
const flexible = new RateLimiterMemory({ points: 2.5, duration: 60 });
const seen = {
  express: ofExpress.map((headers) => headers.get("x-ratelimit-remaining")),
  header: ofExpress[1].get("ratelimit"),
  third: [(await ask()).status, ofFastify[2].statusCode],
  fastify: ofFastify.slice(0, 2).map(({ headers }) => headers["x-ratelimit-remaining"]),
  flexible: [(await flexible.consume("a")).remainingPoints, (await flexible.consume("a")).remainingPoints],
};
console.log(JSON.stringify(seen));
assert.deepEqual(seen, {
  express: ["1.5", "0.5"],
  header: '"2.5-in-1min"; r=0.5; t=60',
  third: [429, 429],
  fastify: ["1", "0"],
  flexible: [1.5, 0.5],
});
process.exit();
EOF
node --no-warnings run.mjs
