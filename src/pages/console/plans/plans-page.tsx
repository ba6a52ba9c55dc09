/** The plans page: the limits of each plan, and how many keys it has. */
import { useState } from "preact/hooks";
import { formatNumber } from "../../shared/format.ts";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { PlanView } from "../api-types.ts";
import { WhenLoaded } from "../components/notices.tsx";
import { Page } from "../components/page.tsx";
import { Table } from "../components/table.tsx";
import { addressOf } from "../query.ts";
import { useLoad } from "../use-load.ts";
import { PlanDialog } from "./plan-dialog.tsx";

export function PlansPage() {
  const { client } = useAdmin();
  const loaded = useLoad(() => jsonOf(client.plans.$get()), "");
  const [open, setOpen] = useState<PlanView>();
  return (
    <Page title="Plans">
      <WhenLoaded loaded={loaded}>
        {({ plans }) => (
          <Table
            caption="Plans"
            columns={[
              { name: "Plan", cell: (plan) => plan.id },
              {
                name: "Requests per minute",
                isNumber: true,
                cell: (plan) => limitText(plan.requestsPerMinute),
              },
              { name: "Requests per day", isNumber: true, cell: (plan) => limitText(plan.requestsPerDay) },
              {
                name: "Keys",
                isNumber: true,
                cell: (plan) => (
                  <a href={addressOf("/console/keys", { plan: plan.id })}>{formatNumber(plan.keys)}</a>
                ),
              },
              {
                name: "Action",
                cell: (plan) => (
                  <button
                    type="button"
                    class="button small"
                    aria-label={`Change limits: ${plan.id}…`}
                    onClick={() => setOpen(plan)}
                  >
                    Change limits…
                  </button>
                ),
              },
            ]}
            rows={plans}
            rowKey={(plan) => plan.id}
            empty="There are no plans."
          />
        )}
      </WhenLoaded>
      {open && <PlanDialog plan={open} onChanged={loaded.reload} onClose={() => setOpen(undefined)} />}
    </Page>
  );
}

function limitText(limit: number | null): string {
  return limit === null ? "each key's own" : formatNumber(limit);
}
