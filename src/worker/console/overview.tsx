/** `/console`: first what needs an operator, then how many requests there were. */

import { listBans, type NamedBan } from "../admin/bans/list-sql.ts";
import { listKeys } from "../admin/keys/list-sql.ts";
import type { KeyView } from "../admin/keys/schema.ts";
import { findUsageOfDay, type KeyUsageView, sumOf } from "../admin/usage/service.ts";
import { type Bucket, type Figures, listTotals } from "../admin/usage/sql.ts";
import type { Bindings } from "../context.ts";
import { openDatabase } from "../db/database.ts";
import { failuresOf } from "../health/health-check.ts";
import { DAY_SECONDS, dayName, HOUR_SECONDS, nowSeconds, rfc3339 } from "../time.ts";
import { UsageChart } from "./chart.tsx";
import { counted, formatNumber, formatPercent } from "./format.ts";
import { addressOf } from "./forms.ts";
import { type ConsoleContext, page } from "./page.tsx";
import { Notice, Relative, Table, Time } from "./ui.tsx";

const SHOWN = 10;
const MOST_USED = addressOf("/console/keys", { sort: "used", direction: "desc" });
const NEAR_LIMIT_PERCENT = 80;
const EXPIRING_DAYS = 30;

const RANGES = {
  "24h": { name: "24 hours", seconds: DAY_SECONDS, bucketSeconds: HOUR_SECONDS },
  "7d": { name: "7 days", seconds: 7 * DAY_SECONDS, bucketSeconds: 6 * HOUR_SECONDS },
  "30d": { name: "30 days", seconds: 30 * DAY_SECONDS, bucketSeconds: DAY_SECONDS },
} as const;

export async function overviewPage(c: ConsoleContext) {
  const db = openDatabase(c.env.DB);
  const now = nowSeconds();
  const expiringBefore = now + EXPIRING_DAYS * DAY_SECONDS;
  const range = RANGES[c.req.query("range") as keyof typeof RANGES] ?? RANGES["24h"];
  const [bans, today, expiring, failures, requests] = await Promise.all([
    listBans(db, { state: "live", limit: SHOWN }, now),
    findUsageOfDay(c.env, { sort: "percent", limit: SHOWN }),
    listKeys(
      db,
      {
        status: "usable",
        expiringBefore,
        sort: "expiry",
        direction: "asc",
        limit: SHOWN,
      },
      now,
    ),
    failuresOf(c.env),
    readRequests(c.env, range, now),
  ]);
  const near = today.keys.filter(({ percent }) => percent >= NEAR_LIMIT_PERCENT);
  const allExpiring = addressOf("/console/keys", {
    status: "usable",
    expiringBefore: dayName(expiringBefore),
    sort: "expiry",
  });
  return page(
    c,
    { title: "Overview" },
    <>
      {failures.length > 0 ? (
        <Notice kind="bad">
          <p>Cannot be reached: {failures.join(", ")}.</p>
        </Notice>
      ) : (
        <p class="health">
          <span class="badge good">healthy</span> The database and the limiters answer.
        </p>
      )}
      <div class="columns">
        <section>
          <h2>Live bans</h2>
          <Table caption="Live bans" columns={BAN_COLUMNS} rows={bans} empty="No key is banned." />
          {bans.length === SHOWN && <a href="/console/bans">All live bans</a>}
        </section>
        <section>
          <h2>Over {NEAR_LIMIT_PERCENT} % of the daily limit today</h2>
          <Table
            caption="Keys close to their daily limit"
            columns={NEAR_COLUMNS}
            rows={near}
            empty={`No key is over ${NEAR_LIMIT_PERCENT} %.`}
          />
          {near.length === SHOWN && <a href={MOST_USED}>All keys, by use today</a>}
          <p class="hint">
            As of <Time iso={today.asOf} />
          </p>
        </section>
        <section>
          <h2>Expire within {EXPIRING_DAYS} days</h2>
          <Table
            caption="Keys that expire soon"
            columns={EXPIRING_COLUMNS}
            rows={expiring.keys}
            empty={`No key expires within ${EXPIRING_DAYS} days.`}
          />
          {expiring.next !== null && <a href={allExpiring}>All keys that expire</a>}
        </section>
      </div>
      <Requests {...requests} range={range} />
    </>,
  );
}

type Range = (typeof RANGES)[keyof typeof RANGES];
type RequestFigures = {
  readonly buckets: readonly Bucket[];
  readonly now: Figures;
  readonly before: Figures;
  readonly fromSeconds: number;
};

/** Of the range that ends with the present hour, and of the one before. Limiters report an hour when it is over. */
async function readRequests(
  env: Bindings,
  { seconds, bucketSeconds }: Range,
  nowSeconds: number,
): Promise<RequestFigures> {
  const toSeconds = nowSeconds - (nowSeconds % HOUR_SECONDS) + HOUR_SECONDS;
  const fromSeconds = toSeconds - seconds;
  const both = { fromSeconds: fromSeconds - seconds, toSeconds, bucketSeconds };
  const totals = await listTotals(openDatabase(env.DB), both);
  const isNow = ({ start }: Bucket) => start >= fromSeconds;
  return {
    fromSeconds,
    buckets: totals.filter(isNow),
    now: sumOf(totals.filter(isNow)),
    before: sumOf(totals.filter((each) => !isNow(each))),
  };
}

function Requests({ buckets, now, before, fromSeconds, range }: RequestFigures & { readonly range: Range }) {
  const all = (figures: Figures) => figures.admitted + figures.refused + figures.refusedWhileBanned;
  return (
    <section>
      <div class="section-head">
        <h2>Requests</h2>
        <p class="presets">
          {Object.entries(RANGES).map(([id, { name }]) => (
            <a
              href={addressOf("/console", { range: id })}
              aria-current={name === range.name ? "true" : undefined}
            >
              {name}
            </a>
          ))}
        </p>
      </div>
      <div class="tiles">
        <Tile
          name="admitted"
          value={now.admitted}
          before={before.admitted}
          rate={`${formatNumber(Math.round((now.admitted / range.seconds) * 60))} a minute`}
        />
        <Tile
          name="refused by a limit"
          value={now.refused}
          before={before.refused}
          rate={`${formatPercent(now.refused, all(now))} of all`}
        />
        <Tile
          name="blocked by bans"
          value={now.refusedWhileBanned}
          before={before.refusedWhileBanned}
          rate={`${formatPercent(now.refusedWhileBanned, all(now))} of all`}
        />
      </div>
      <UsageChart
        title={`The last ${range.name}. A key reports an hour when it is over.`}
        buckets={buckets}
        bucketSeconds={range.bucketSeconds}
        fromSeconds={fromSeconds}
        toSeconds={fromSeconds + range.seconds}
      />
    </section>
  );
}

type TileProps = {
  readonly name: string;
  readonly value: number;
  readonly before: number;
  readonly rate: string;
};

function Tile({ name, value, before, rate }: TileProps) {
  return (
    <div class="tile">
      <p>
        <strong>{formatNumber(value)}</strong> {name}
      </p>
      <p class="muted">
        {rate} · {comparison(value, before)}
      </p>
    </div>
  );
}

/** With the period before, which has the same length. */
function comparison(value: number, before: number): string {
  if (before === 0) return value === 0 ? "none in the period before either" : "none in the period before";
  const percent = Math.round((100 * (value - before)) / before);
  return percent === 0
    ? "as many as before"
    : `${percent > 0 ? "+" : "−"}${Math.abs(percent)} % on the period before`;
}

const BAN_COLUMNS = [
  {
    name: "Key",
    cell: ({ ban, keyName }: NamedBan) => <a href={`/console/keys/${ban.keyId}`}>{keyName ?? ban.keyId}</a>,
  },
  { name: "Ends", cell: ({ ban }: NamedBan) => <Relative iso={rfc3339(ban.endsAt)} /> },
  { name: "Why", cell: ({ ban }: NamedBan) => ban.reason ?? counted(ban.strikes, "strike") },
];

const NEAR_COLUMNS = [
  { name: "Key", cell: (key: KeyUsageView) => <a href={`/console/keys/${key.keyId}`}>{key.keyName}</a> },
  { name: "Owner", cell: (key: KeyUsageView) => key.ownerName ?? key.ownerEmail ?? "–" },
  { name: "Plan", cell: (key: KeyUsageView) => key.plan },
  { name: "Used", isNumber: true, cell: (key: KeyUsageView) => `${key.percent} %` },
];

const EXPIRING_COLUMNS = [
  { name: "Key", cell: (key: KeyView) => <a href={`/console/keys/${key.id}`}>{key.name}</a> },
  { name: "Owner", cell: (key: KeyView) => key.ownerName ?? key.ownerEmail ?? "–" },
  { name: "Expires", cell: (key: KeyView) => key.expiresAt !== null && <Relative iso={key.expiresAt} /> },
];
