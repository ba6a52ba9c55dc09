/** Deletes an order. */
import { useLocation } from "preact-iso";
import { useAdmin } from "../admin-context.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { changeOrder } from "./change-order.ts";
import type { Order } from "./order-types.ts";

type Props = {
  /** As it was when the dialog opened. */
  readonly order: Order;
  readonly requireUnchanged: (left: AbortSignal) => Promise<void>;
  /** Shows how it is now. Also called after a failure: a try whose answer was lost, or others, can have deleted the order. */
  readonly onChanged: () => Promise<void>;
  readonly onClose: () => void;
};

export function DeleteDialog({ order, requireUnchanged, onChanged, onClose }: Props) {
  const { session, announce } = useAdmin();
  const { route } = useLocation();
  const afterFailure = (thrown: unknown) => {
    void onChanged();
    throw thrown;
  };
  const remove = async (left: AbortSignal) => {
    await changeOrder(session, { id: order.id }, { method: "DELETE" }).catch(afterFailure);
    announce(`Order ${order.id} is deleted.`);
    if (left.aborted) void onChanged();
    else route("/console/orders");
  };
  return (
    <ActionDialog
      title={`Delete order ${order.id}?`}
      action="Delete"
      isDangerous
      look={(left) => requireUnchanged(left).catch(afterFailure)}
      run={remove}
      onClose={onClose}
    >
      <p>
        Clients no longer see this order, which is {order.status}. <strong>This is permanent.</strong> The
        audit log keeps all its values.
      </p>
    </ActionDialog>
  );
}
