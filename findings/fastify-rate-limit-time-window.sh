#!/bin/sh
# @fastify/rate-limit 11.2.0 with fastify 5.12.8: `timeWindow` as text.
# Guess: "1 month" is 30 days, or an error when the plugin is registered.
# Behaviour: "1 month" is registered, and then every request is a 500, "params.timeWindow is not a function". "60" is 60
#   milliseconds (the headers say 1 second). With "1.5 hours" the headers say 5400, and the message "retry in 2 hours".
# Seen with Node 20.20.2: 1 month 500 500; 60 200 429, after 100 ms 200; 1.5 hours 200 429 5400 "Rate limit exceeded, retry in 2 hours".
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts fastify@5.12.8 @fastify/rate-limit@11.2.0

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import rateLimit from "@fastify/rate-limit";
import Fastify from "fastify";

async function serviceWith(timeWindow) {
  const app = Fastify();
  await app.register(rateLimit, { max: 1, timeWindow });
  app.get("/", () => "yes");
  return () => app.inject("/");
}
const month = await serviceWith("1 month");
const sixty = await serviceWith("60");
const hours = await serviceWith("1.5 hours");
const statuses = async (ask) => [(await ask()).statusCode, (await ask()).statusCode];
const seen = { month: await statuses(month), sixty: await statuses(sixty), hours: await statuses(hours) };
await wait(100);
seen.sixty.push((await sixty()).statusCode);
const refused = await hours();
seen.hours.push(refused.headers["retry-after"], refused.json().message);
console.log(JSON.stringify(seen));
assert.deepEqual(seen, {
  month: [500, 500],
  sixty: [200, 429, 200],
  hours: [200, 429, "5400", "Rate limit exceeded, retry in 2 hours"],
});
process.exit();
EOF
node --no-warnings run.mjs
