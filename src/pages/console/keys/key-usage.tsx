/** A key's requests by hour and by day. */
import { useMemo, useState } from "preact/hooks";
import { csvOf, jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { UsageOfKey } from "../api-types.ts";
import { CsvButton } from "../components/csv-button.tsx";
import { SelectField } from "../components/field.tsx";
import { WhenLoaded } from "../components/notices.tsx";
import { pointsOfDays, pointsOfHours } from "../usage/points.ts";
import { UsageChart } from "../usage/usage-chart.tsx";
import { useLoad } from "../use-load.ts";

const REFRESH_MS = 30_000;
/** The most that the admin API has. */
const HOURS_IN_CSV = "168";

export function KeyUsage({ id }: { readonly id: string }) {
  const { client } = useAdmin();
  const [days, setDays] = useState("90");
  const loaded = useLoad(
    () =>
      jsonOf(client.keys[":id"].usage.$get({ param: { id }, query: { days, hours: "24" } }), "days", "hours"),
    `${id} ${days}`,
    { everyMs: REFRESH_MS },
  );
  const loadCsv = (range: { readonly hours?: string; readonly days?: string }) =>
    csvOf(client.keys[":id"].usage.$get({ param: { id }, query: { ...range, format: "csv" } }));
  return (
    <section>
      <div class="section-head">
        <h2>Usage</h2>
        <SelectField
          label="Days"
          value={days}
          options={["7", "30", "90"].map((count) => [count, count] as const)}
          onChange={setDays}
        />
      </div>
      <div class="actions">
        <CsvButton
          text="By hour as CSV (7 days)"
          file={`usage-${id}-by-hour.csv`}
          load={() => loadCsv({ hours: HOURS_IN_CSV })}
        />
        <CsvButton
          text="By day as CSV (90 days)"
          file={`usage-${id}.csv`}
          load={() => loadCsv({ days: "90" })}
        />
      </div>
      <WhenLoaded loaded={loaded}>{(usage) => <Charts usage={usage} days={days} />}</WhenLoaded>
    </section>
  );
}

const NOT_COMPLETE = "The key's limiter cannot be reached: what it has not reported yet is missing.";

function Charts({ usage, days }: { readonly usage: UsageOfKey; readonly days: string }) {
  const hours = useMemo(() => pointsOfHours(usage.hours), [usage]);
  const points = useMemo(() => pointsOfDays(usage.days), [usage]);
  return (
    <>
      {!usage.complete && <p class="muted">{NOT_COMPLETE}</p>}
      <UsageChart title="The last 24 hours" points={hours} />
      <UsageChart title={`The last ${days} days`} points={points} />
    </>
  );
}
