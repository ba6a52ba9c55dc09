/** A key's requests by hour and by day. */
import { useMemo, useState } from "preact/hooks";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { UsageOfKey } from "../api-types.ts";
import { SelectField } from "../components/field.tsx";
import { WhenLoaded } from "../components/notices.tsx";
import { pointsOfDays, pointsOfHours } from "../usage/points.ts";
import { UsageChart } from "../usage/usage-chart.tsx";
import { useLoad } from "../use-load.ts";

const REFRESH_MS = 30_000;

export function KeyUsage({ id }: { readonly id: string }) {
  const { client } = useAdmin();
  const [days, setDays] = useState("30");
  const loaded = useLoad(
    () => jsonOf(client.keys[":id"].usage.$get({ param: { id }, query: { days, hours: "24" } })),
    `${id} ${days}`,
    REFRESH_MS,
  );
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
      <WhenLoaded loaded={loaded}>{(usage) => <Charts usage={usage} days={days} />}</WhenLoaded>
    </section>
  );
}

function Charts({ usage, days }: { readonly usage: UsageOfKey; readonly days: string }) {
  const hours = useMemo(() => pointsOfHours(usage.hours), [usage]);
  const points = useMemo(() => pointsOfDays(usage.days), [usage]);
  return (
    <>
      <UsageChart title="The last 24 hours" points={hours} />
      <UsageChart title={`The last ${days} days`} points={points} />
    </>
  );
}
