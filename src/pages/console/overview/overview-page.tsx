/** The overview: requests today and over 30 days, live bans, and keys that need attention. Refreshes by itself. */
import { useRef } from "preact/hooks";
import { formatNumber } from "../../shared/format.ts";
import { type AdminClient, jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { DayFigures, UsageOfDay } from "../api-types.ts";
import { WhenLoaded } from "../components/notices.tsx";
import { Page } from "../components/page.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Countdown } from "../components/time.tsx";
import { UsageChart } from "../usage/usage-chart.tsx";
import { useLoad } from "../use-load.ts";
import { ExpiringKeys, UnusedKeys } from "./attention.tsx";
import { lastDays, mostRefused, sumOf } from "./days.ts";

/** Each refresh asks up to 500 limiters for usage that is not reported yet. */
const REFRESH_MS = 60_000;
const DAYS = 30;
const KEYS_SHOWN = 10;
/** The largest page of the admin API. Further keys of a day are not in the sums. */
const MAX_KEYS_SUMMED = 500;

export function OverviewPage() {
  const { client } = useAdmin();
  const past = useRef(new Map<string, DayFigures>());
  const usage = useLoad(() => loadUsage(client, past.current), "", REFRESH_MS);
  const bans = useLoad(
    () => jsonOf(client.bans.$get({ query: { state: "live", limit: String(KEYS_SHOWN) } })),
    "",
    REFRESH_MS,
  );
  return (
    <Page title="Overview">
      <WhenLoaded loaded={usage}>
        {({ today, days }) => (
          <>
            <section aria-label="Today">
              <Tiles today={sumOf(today)} keyCount={today.keys.length} />
            </section>
            <section>
              <h2>Requests by day</h2>
              <UsageChart title={`The last ${DAYS} days`} days={days} />
            </section>
            <section>
              <h2>Refused most today</h2>
              <Table
                caption="Keys refused most today"
                columns={REFUSED_COLUMNS}
                rows={mostRefused(today, KEYS_SHOWN)}
                rowKey={(key) => key.keyId}
                empty="No key was refused today."
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
              <Table
                caption="Live bans"
                columns={[
                  {
                    name: "Key",
                    cell: (ban) => <a href={`/console/keys/${ban.keyId}`}>{ban.keyName ?? ban.keyId}</a>,
                  },
                  { name: "Ends in", cell: (ban) => <Countdown until={ban.endsAt} /> },
                  { name: "Cause", cell: (ban) => ban.cause },
                ]}
                rows={live.bans}
                rowKey={(ban) => ban.id}
                empty="No key is banned."
              />
              <a href="/console/bans">All bans</a>
            </>
          )}
        </WhenLoaded>
      </section>
      <ExpiringKeys />
      <UnusedKeys />
    </Page>
  );
}

/** Past days are loaded once: all but yesterday are final, and yesterday's last figures arrive within a day. */
async function loadUsage(
  client: AdminClient,
  past: Map<string, DayFigures>,
): Promise<{ today: UsageOfDay; days: DayFigures[] }> {
  const names = lastDays(DAYS, Date.now());
  const load = (day: string) => jsonOf(client.usage.$get({ query: { day, limit: String(MAX_KEYS_SUMMED) } }));
  const todayName = names.pop() ?? "";
  const missing = names.filter((day) => !past.has(day));
  const [today, ...loaded] = await Promise.all([load(todayName), ...missing.map(load)]);
  for (const usage of loaded) past.set(usage.day, sumOf(usage));
  return { today, days: [...names.flatMap((day) => past.get(day) ?? []), sumOf(today)] };
}

const REFUSED_COLUMNS: readonly Column<UsageOfDay["keys"][number]>[] = [
  { name: "Key", cell: (key) => <a href={`/console/keys/${key.keyId}`}>{key.keyName}</a> },
  { name: "Refused", isNumber: true, cell: (key) => formatNumber(key.refused) },
  { name: "While banned", isNumber: true, cell: (key) => formatNumber(key.refusedWhileBanned) },
  { name: "Admitted", isNumber: true, cell: (key) => formatNumber(key.admitted) },
];

function Tiles({ today, keyCount }: { readonly today: DayFigures; readonly keyCount: number }) {
  return (
    <div class="tiles">
      <Tile value={today.admitted} name="admitted today (UTC)" />
      <Tile value={today.refused} name="refused" />
      <Tile value={today.refusedWhileBanned} name="while banned" />
      <Tile value={keyCount} name={keyCount === 1 ? "key in use" : "keys in use"} />
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
