/** A key's requests by day. */
import { useState } from "preact/hooks";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import { SelectField } from "../components/field.tsx";
import { WhenLoaded } from "../components/notices.tsx";
import { UsageChart } from "../usage/usage-chart.tsx";
import { useLoad } from "../use-load.ts";

const REFRESH_MS = 30_000;

export function KeyUsage({ id }: { readonly id: string }) {
  const { client } = useAdmin();
  const [days, setDays] = useState("30");
  const loaded = useLoad(
    () => jsonOf(client.keys[":id"].usage.$get({ param: { id }, query: { days } })),
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
      <WhenLoaded loaded={loaded}>
        {(usage) => <UsageChart title={`The last ${days} days`} days={usage.days} />}
      </WhenLoaded>
    </section>
  );
}
