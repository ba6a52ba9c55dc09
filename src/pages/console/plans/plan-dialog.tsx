/** Changes a plan's limits, for all of its keys that have none of their own. */
import { useState } from "preact/hooks";
import { counted } from "../../shared/format.ts";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { PlanView } from "../api-types.ts";
import { changedMembers, tryMembers } from "../changes.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { InputField } from "../components/field.tsx";
import { limitOf } from "../keys/key-types.ts";

type Props = {
  /** As it was when the dialog opened. */
  readonly plan: PlanView;
  readonly onChanged: () => Promise<void>;
  readonly onClose: () => void;
};

const HINT = "Empty: none. Each key of the plan then needs its own.";

export function PlanDialog({ plan, onChanged, onClose }: Props) {
  const { client, announce } = useAdmin();
  const [perMinute, setPerMinute] = useState(String(plan.requestsPerMinute ?? ""));
  const [perDay, setPerDay] = useState(String(plan.requestsPerDay ?? ""));
  const [tried] = useState(() => new Set<string>());
  const { requestsPerMinute, requestsPerDay } = plan;
  const json = changedMembers(
    { requestsPerMinute, requestsPerDay },
    { requestsPerMinute: limitOf(perMinute), requestsPerDay: limitOf(perDay) },
    tried,
  );
  const save = async () => {
    if (Object.keys(json).length === 0) return;
    const call = client.plans[":id"].$patch({ param: { id: plan.id }, json });
    const { effective } = await tryMembers(jsonOf(call, "effective"), json, tried);
    announce(`Plan ${plan.id} is changed, effective ${effective}.`);
  };
  const limit = { type: "number", min: 1, inputMode: "numeric", hint: HINT } as const;
  return (
    <ActionDialog
      title={`Change the limits of ${plan.id}?`}
      action="Change limits"
      run={save}
      onChanged={onChanged}
      onClose={onClose}
    >
      <p>
        This plan has {counted(plan.keys, "key")}. The change applies to each of them that has no limits of
        its own, also within the present minute and day: a lower limit may refuse requests at once.
      </p>
      <div class="pair">
        <InputField {...limit} label="Requests per minute" value={perMinute} onInput={setPerMinute} />
        <InputField {...limit} label="Requests per day" value={perDay} onInput={setPerDay} />
      </div>
    </ActionDialog>
  );
}
