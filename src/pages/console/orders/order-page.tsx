/** The page of one order. */

import { useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import { fetchOrders, textOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import { Fact } from "../components/fact.tsx";
import { FreshDialog } from "../components/fresh-dialog.tsx";
import { WhenLoaded } from "../components/notices.tsx";
import { Page } from "../components/page.tsx";
import { Time } from "../components/time.tsx";
import { Problem } from "../problem.ts";
import { addressOf } from "../query.ts";
import { useLoad } from "../use-load.ts";
import { DeleteDialog } from "./delete-dialog.tsx";
import { isInteger, type Order, parseOrder } from "./order-types.ts";
import { StatusDialog } from "./status-dialog.tsx";

export function OrderPage() {
  const { session } = useAdmin();
  const { id = "" } = useRoute().params;
  const load = async () => {
    // Other words lead to other lists of the admin API, such as `imports`.
    if (!isInteger(id)) throw new Problem("not-found", "No order has this id.", "An id is a whole number.");
    return parseOrder(await textOf(fetchOrders(session, `/${id}`)));
  };
  const loaded = useLoad(load, id);
  return (
    <Page title={`Order ${id}`} actions={<a href="/console/orders">Orders</a>}>
      <WhenLoaded loaded={loaded}>
        {(order) => (
          <>
            <OrderActions id={id} load={load} onChanged={loaded.reload} />
            <OrderFacts order={order} />
            <a href={addressOf("/console/audit", { object: order.id })}>Changes of this order</a>
          </>
        )}
      </WhenLoaded>
    </Page>
  );
}

type ActionsProps = {
  readonly id: string;
  readonly load: () => Promise<Order>;
  readonly onChanged: () => Promise<void>;
};

/** Of one order: when the history leads to another one's page, the dialog is gone. */
function OrderActions({ id, load, onChanged }: ActionsProps) {
  const [open, setOpen] = useState<"status" | "delete">();
  const close = () => setOpen(undefined);
  return (
    <div class="actions">
      <button type="button" class="button" onClick={() => setOpen("status")}>
        Change status…
      </button>
      <button type="button" class="button danger" onClick={() => setOpen("delete")}>
        Delete…
      </button>
      {open && (
        <FreshDialog of={id} load={load} onClose={close}>
          {(opened, requireUnchanged) => {
            const props = { order: opened, requireUnchanged, onClose: close };
            if (open === "delete") return <DeleteDialog {...props} />;
            return <StatusDialog {...props} onChanged={onChanged} />;
          }}
        </FreshDialog>
      )}
    </div>
  );
}

function OrderFacts({ order }: { readonly order: Order }) {
  return (
    <dl class="facts narrow">
      <Fact name="Status">{order.status}</Fact>
      <Fact name="Pet">{order.petId ?? "–"}</Fact>
      <Fact name="Quantity">{order.quantity ?? "–"}</Fact>
      <Fact name="Ship date">
        <Time iso={order.shipDate} />
      </Fact>
      <Fact name="Complete">{order.complete === null ? "–" : order.complete ? "yes" : "no"}</Fact>
    </dl>
  );
}
