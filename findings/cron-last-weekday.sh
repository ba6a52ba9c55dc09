#!/bin/sh
# cron-schedule 6.0.0, cron-parser 5.10.5, croner 11.0.0: crons with L and W, as Cloudflare's cron triggers take them.
# Guess: croner reads them; cron-parser reads `6L` and refuses `LW`; cron-schedule refuses both.
# Behaviour: cron-schedule takes `6L` for each Saturday and `15W` for the 15th, without a word: it reads the digits in front
#   and drops the letter, so a job of the last Saturday runs each week. It refuses only what begins with a letter. cron-parser
#   refuses W in any form.
# Seen with Node 20.20.2, after 2026-11-29T12:00Z: the table that is printed (15 August 2026 is a Saturday).
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts cron-schedule@6.0.0 cron-parser@5.10.5 croner@11.0.0

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import { CronExpressionParser } from "cron-parser";
import { parseCronExpression } from "cron-schedule";
import { Cron } from "croner";

const readers = {
  croner: (cron, from) => new Cron(cron, { timezone: "UTC" }).nextRun(from),
  "cron-parser": (cron, from) => CronExpressionParser.parse(cron, { currentDate: from, tz: "UTC" }).next().toDate(),
  "cron-schedule": (cron, from) => parseCronExpression(cron).getNextDate(from),
};
const seen = {};
for (const [cron, from] of [
  ["0 18 * * 6L", "2026-11-29"],
  ["0 0 15W * *", "2026-08-01"],
  ["59 23 LW * *", "2026-11-29"],
]) {
  const dayOf = (next) => {
    try {
      return next(cron, new Date(`${from}T12:00:00Z`)).toISOString().slice(0, 10);
    } catch {
      return "refused";
    }
  };
  seen[cron] = Object.fromEntries(Object.entries(readers).map(([name, next]) => [name, dayOf(next)]));
}
console.table(seen);
assert.deepEqual(seen, {
  "0 18 * * 6L": { croner: "2026-12-26", "cron-parser": "2026-12-26", "cron-schedule": "2026-12-05" },
  "0 0 15W * *": { croner: "2026-08-14", "cron-parser": "refused", "cron-schedule": "2026-08-15" },
  "59 23 LW * *": { croner: "2026-11-30", "cron-parser": "refused", "cron-schedule": "refused" },
});
EOF
TZ=UTC node run.mjs
