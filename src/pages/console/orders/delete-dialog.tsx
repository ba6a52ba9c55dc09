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
  readonly onClose: () => void;
};

export function DeleteDialog({ order, requireUnchanged, onClose }: Props) {
  const { session, announce } = useAdmin();
  const { route } = useLocation();
  const remove = async (left: AbortSignal) => {
    await changeOrder(session, { id: order.id }, { method: "DELETE" });
    announce(`Order ${order.id} is deleted.`);
    if (!left.aborted) route("/console/orders");
  };
  return (
    <ActionDialog
      title={`Delete order ${order.id}?`}
      action="Delete"
      isDangerous
      look={requireUnchanged}
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
