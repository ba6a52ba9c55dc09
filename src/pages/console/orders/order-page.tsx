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
  const { id = "" } = useRoute().params;
  // When the history leads to the page of another order, the dialog is gone.
  return <PageOfOrder key={id} id={id} />;
}

function PageOfOrder({ id }: { readonly id: string }) {
  const { session } = useAdmin();
  const load = async () => {
    // Other words lead to other lists of the admin API, such as `imports`.
    if (!isInteger(id)) throw new Problem("not-found", "No order has this id.", "An id is a whole number.");
    return parseOrder(await textOf(fetchOrders(session, `/${id}`)));
  };
  const loaded = useLoad(load, id);
  const isGone = loaded.problem?.kind === "not-found";
  const [open, setOpen] = useState<"status" | "delete">();
  const close = () => setOpen(undefined);
  return (
    <Page title={`Order ${id}`} actions={<a href="/console/orders">Orders</a>}>
      <WhenLoaded loaded={isGone ? { ...loaded, data: undefined } : loaded}>
        {(order) => (
          <>
            <div class="actions">
              <button type="button" class="button" onClick={() => setOpen("status")}>
                Change status…
              </button>
              <button type="button" class="button danger" onClick={() => setOpen("delete")}>
                Delete…
              </button>
            </div>
            <OrderFacts order={order} />
            <a href={addressOf("/console/audit", { object: order.id })}>Changes of this order</a>
          </>
        )}
      </WhenLoaded>
      {open && (
        <FreshDialog of={id} load={load} onClose={close}>
          {(opened, requireUnchanged) => {
            const props = { order: opened, requireUnchanged, onClose: close };
            if (open === "delete") return <DeleteDialog {...props} onChanged={loaded.reload} />;
            return <StatusDialog {...props} onChanged={loaded.reload} />;
          }}
        </FreshDialog>
      )}
    </Page>
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
