/** Deletes an order. */
import { useLocation } from "preact-iso";
import { fetchOrders, textOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import type { Order } from "./order-types.ts";

export function DeleteDialog({ order, onClose }: { readonly order: Order; readonly onClose: () => void }) {
  const { session, announce } = useAdmin();
  const { route } = useLocation();
  const remove = async () => {
    await textOf(fetchOrders(session, `/${order.id}`, { method: "DELETE" }));
    announce(`Order ${order.id} is deleted.`);
    route("/console/orders");
  };
  return (
    <ActionDialog
      title={`Delete order ${order.id}?`}
      action="Delete"
      isDangerous
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
