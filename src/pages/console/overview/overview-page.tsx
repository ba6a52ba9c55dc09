/** The overview: requests today and over 30 days, live bans, and keys that need attention. Refreshes by itself. */
import { useRef } from "preact/hooks";
import { formatNumber, formatPercent } from "../../shared/format.ts";
import { type AdminClient, csvOf, jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { DayFigures, UsageOfDay } from "../api-types.ts";
import { LiveBans } from "../bans/live-bans.tsx";
import { CsvButton } from "../components/csv-button.tsx";
import { WhenLoaded } from "../components/notices.tsx";
import { Page } from "../components/page.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Countdown, Time } from "../components/time.tsx";
import { UsageChart } from "../usage/usage-chart.tsx";
import { useLoad } from "../use-load.ts";
import { ExpiringKeys, UnusedKeys } from "./attention.tsx";
import { DAYS, loadUsage } from "./load-usage.ts";

const REFRESH_MS = 60_000;
const BANS_SHOWN = 10;
/** The largest page of the admin API. */
const KEYS_IN_CSV = 500;

export function OverviewPage() {
  const { client } = useAdmin();
  const past = useRef(new Map<string, DayFigures>());
  const usage = useLoad(() => loadUsage(client, past.current), "", { everyMs: REFRESH_MS });
  const bans = useLoad(
    () => jsonOf(client.bans.$get({ query: { state: "live", limit: String(BANS_SHOWN) } }), "bans"),
    "",
    { everyMs: REFRESH_MS },
  );
  return (
    <Page title="Overview">
      <WhenLoaded loaded={usage}>
        {({ today, nearest, refused, hours, days }) => (
          <>
            <section aria-label="Today">
              <Tiles total={today.total} />
              <p class="muted">
                All hours before <Time iso={today.asOf} /> are in these figures, later ones only in part.
              </p>
            </section>
            <section>
              <div class="section-head">
                <h2>Requests</h2>
                <div class="actions">
                  <CsvButton
                    text="Today by key as CSV"
                    file={`usage-${today.day}.csv`}
                    load={() => loadCsv(client, today.day, "key")}
                  />
                  <CsvButton
                    text="Today by hour as CSV"
                    file={`usage-${today.day}-by-hour.csv`}
                    load={() => loadCsv(client, today.day, "hour")}
                  />
                </div>
              </div>
              <UsageChart title="Today, by hour" points={hours} />
              <UsageChart title={`The last ${DAYS} days`} points={days} />
            </section>
            <section>
              <h2>Nearest to their limit today</h2>
              <p class="muted">Those at the top are the ones for whom the next plan is worth an offer.</p>
              <Table
                caption="Keys nearest to their limit today"
                columns={PERCENT_COLUMNS}
                rows={nearest}
                rowKey={(key) => key.keyId}
                empty="No request was admitted today."
              />
            </section>
            <section>
              <h2>Refused most by a limit today</h2>
              <Table
                caption="Keys refused most by a limit today"
                columns={REFUSED_COLUMNS}
                rows={refused}
                rowKey={(key) => key.keyId}
                empty="No key was refused by a limit today."
              />
            </section>
          </>
        )}
      </WhenLoaded>
      <section>
        <h2>Live bans</h2>
        <WhenLoaded loaded={bans}>
          {(live) => (
            <>
              <LiveBans
                columns={[
                  {
                    name: "Key",
                    cell: (ban) => <a href={`/console/keys/${ban.keyId}`}>{ban.keyName ?? ban.keyId}</a>,
                  },
                  { name: "Ends in", cell: (ban) => <Countdown until={ban.endsAt} /> },
                  { name: "Cause", cell: (ban) => ban.cause },
                ]}
                bans={live.bans}
              />
              <a href="/console/bans">All bans</a>
            </>
          )}
        </WhenLoaded>
      </section>
      <ExpiringKeys everyMs={REFRESH_MS} />
      <UnusedKeys everyMs={REFRESH_MS} />
    </Page>
  );
}

function loadCsv(client: AdminClient, day: string, by: "key" | "hour"): Promise<string> {
  const query = { day, by, sort: "percent", limit: String(KEYS_IN_CSV), format: "csv" } as const;
  return csvOf(client.usage.$get({ query }));
}

type KeyUsage = UsageOfDay["keys"][number];

const KEY: Column<KeyUsage> = {
  name: "Key",
  cell: (key) => <a href={`/console/keys/${key.keyId}`}>{key.keyName}</a>,
};
const OWNER: Column<KeyUsage> = { name: "Owner", cell: (key) => key.ownerName ?? key.ownerEmail ?? "–" };
const PLAN: Column<KeyUsage> = { name: "Plan", cell: (key) => key.plan };
const USED: Column<KeyUsage> = { name: "Used", isNumber: true, cell: usedPercent };
const PERCENT_COLUMNS: readonly Column<KeyUsage>[] = [
  KEY,
  OWNER,
  PLAN,
  USED,
  { name: "Admitted", isNumber: true, cell: (key) => formatNumber(key.admitted) },
  { name: "Limit per day", isNumber: true, cell: (key) => formatNumber(key.limits.requestsPerDay) },
];
const REFUSED_COLUMNS: readonly Column<KeyUsage>[] = [
  KEY,
  OWNER,
  PLAN,
  { name: "Refused", isNumber: true, cell: (key) => formatNumber(key.refused) },
  { name: "While banned", isNumber: true, cell: (key) => formatNumber(key.refusedWhileBanned) },
  { name: "Of the limit", isNumber: true, cell: refusedPercent },
  USED,
];

/** As the service rounds it, to one decimal. */
function usedPercent({ percent, admitted }: KeyUsage): string {
  return percent === 0 && admitted > 0 ? "< 0.1 %" : `${percent} %`;
}

/** Refused requests, as percent of the day's limit. */
function refusedPercent({ refused, refusedWhileBanned, limits }: KeyUsage): string {
  return formatPercent(refused + refusedWhileBanned, limits.requestsPerDay);
}

function Tiles({ total }: { readonly total: UsageOfDay["total"] }) {
  return (
    <div class="tiles">
      <Tile value={total.admitted} name="admitted today (UTC)" />
      <Tile value={total.refused} name="refused" />
      <Tile value={total.refusedWhileBanned} name="while banned" />
      <Tile value={total.keyCount} name={total.keyCount === 1 ? "key in use" : "keys in use"} />
    </div>
  );
}

function Tile({ value, name }: { readonly value: number; readonly name: string }) {
  return (
    <div class="tile">
      <p>
        <strong>{formatNumber(value)}</strong> {name}
      </p>
    </div>
  );
}
