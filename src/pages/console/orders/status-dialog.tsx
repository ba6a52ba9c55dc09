/** Changes the status of an order, with a warning when it goes backwards. */
import { useState } from "preact/hooks";
import { ORDER_STATUSES } from "../../../worker/db/values.ts";
import { useAdmin } from "../admin-context.ts";
import { tryMembers } from "../changes.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { SelectField } from "../components/field.tsx";
import { changeOrder } from "./change-order.ts";
import { isBackwards, isOrderStatus, type Order } from "./order-types.ts";

type Props = {
  /** As it was when the dialog opened. */
  readonly order: Order;
  readonly requireUnchanged: (left: AbortSignal) => Promise<void>;
  readonly onChanged: () => Promise<void>;
  readonly onClose: () => void;
};

export function StatusDialog({ order, requireUnchanged, onChanged, onClose }: Props) {
  const { session, announce } = useAdmin();
  const next = ORDER_STATUSES[ORDER_STATUSES.indexOf(order.status) + 1];
  const [status, setStatus] = useState(next ?? order.status);
  const [tried] = useState(() => new Set<string>());
  const isUnchanged = status === order.status && tried.size === 0;
  const goesBackwards = isBackwards(order.status, status);
  const change = async () => {
    if (isUnchanged) return;
    const json = { status, ...(goesBackwards ? { allowBackwards: true } : {}) };
    const answer = changeOrder(
      session,
      { id: order.id, status },
      { method: "PATCH", body: JSON.stringify(json) },
    );
    await tryMembers(answer, json, tried);
    announce(`Order ${order.id} is ${status}.`);
  };
  return (
    <ActionDialog
      title={`Change the status of order ${order.id}?`}
      action={goesBackwards ? "Change it backwards" : "Change status"}
      isDangerous={goesBackwards}
      look={isUnchanged ? undefined : requireUnchanged}
      run={change}
      onChanged={onChanged}
      onClose={onClose}
    >
      <p>It is {order.status} now. Only a pending order can be cancelled by clients.</p>
      <SelectField
        label="New status"
        value={status}
        options={ORDER_STATUSES.map((each) => [each, each] as const)}
        onChange={(chosen) => isOrderStatus(chosen) && setStatus(chosen)}
      />
      <p role="status" class="problem">
        {goesBackwards && backwardsWarning(order.status, status)}
      </p>
    </ActionDialog>
  );
}

function backwardsWarning(from: string, to: string): string {
  const warning = `This goes backwards, from ${from} to ${to}.`;
  return to === "pending"
    ? `${warning} The order can then be cancelled, even if it has left the store.`
    : warning;
}
