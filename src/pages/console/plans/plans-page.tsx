/** The plans page: the limits of each plan, and how many keys it has. */
import { useState } from "preact/hooks";
import { formatNumber } from "../../shared/format.ts";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { PlanView } from "../api-types.ts";
import { FreshDialog } from "../components/fresh-dialog.tsx";
import { WhenLoaded } from "../components/notices.tsx";
import { Page } from "../components/page.tsx";
import { Table } from "../components/table.tsx";
import { Problem } from "../problem.ts";
import { addressOf } from "../query.ts";
import { useLoad } from "../use-load.ts";
import { PlanDialog } from "./plan-dialog.tsx";

export function PlansPage() {
  const { client } = useAdmin();
  const load = () => jsonOf(client.plans.$get(), "plans");
  const loaded = useLoad(load, "");
  const [open, setOpen] = useState<string>();
  const close = () => setOpen(undefined);
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
                    onClick={() => setOpen(plan.id)}
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
      {open && (
        <FreshDialog of={open} load={async () => planOf(await load(), open)} onClose={close}>
          {(plan) => <PlanDialog plan={plan} onChanged={loaded.reload} onClose={close} />}
        </FreshDialog>
      )}
    </Page>
  );
}

function planOf({ plans }: { readonly plans: readonly PlanView[] }, id: string): PlanView {
  const plan = plans.find((each) => each.id === id);
  if (!plan) throw new Problem("not-found", "No plan has this id.", "Reload this page.");
  return plan;
}

function limitText(limit: number | null): string {
  return limit === null ? "each key's own" : formatNumber(limit);
}
