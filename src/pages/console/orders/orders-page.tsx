/** The orders page: finds an order by its id, and lists orders and cancelled ones. */

import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { fetchOrders, textOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import { InputField } from "../components/field.tsx";
import { WhenLoaded } from "../components/notices.tsx";
import { Page } from "../components/page.tsx";
import { Pager } from "../components/pager.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { addressOf } from "../query.ts";
import { useLoad } from "../use-load.ts";
import { useRoute } from "../visits.ts";
import { OrderList } from "./order-list.tsx";
import { type CancelledOrder, parseCancelled } from "./order-types.ts";

const ORDERS_PER_PAGE = 50;

export function OrdersPage() {
  return (
    <Page
      title="Orders"
      actions={
        <a class="button" href="/console/orders/import">
          Import orders
        </a>
      }
    >
      <FindOrder />
      <OrderList />
      <h2>Cancelled orders</h2>
      <CancelledOrders />
    </Page>
  );
}

function FindOrder() {
  const route = useRoute();
  const [id, setId] = useState("");
  return (
    <search>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          route(`/console/orders/${id.trim()}`);
        }}
      >
        <InputField
          label="Order id"
          required
          pattern="\s*-?\d{1,19}\s*"
          title="A whole number"
          autocomplete="off"
          value={id}
          onInput={setId}
        />
        <button type="submit" class="button">
          Find order
        </button>
      </form>
    </search>
  );
}

function CancelledOrders() {
  const { session } = useAdmin();
  const { query } = useLocation();
  const { before } = query;
  const loaded = useLoad(async () => {
    const path = addressOf("/cancelled", { before, limit: String(ORDERS_PER_PAGE) });
    return parseCancelled(await textOf(fetchOrders(session, path)));
  }, before ?? "");
  return (
    <WhenLoaded loaded={loaded}>
      {({ cancelled, next }) => (
        <>
          <Table
            caption="Cancelled orders"
            columns={COLUMNS}
            rows={cancelled}
            rowKey={(order) => order.number}
            empty={before ? "No more cancelled orders." : "No order was cancelled."}
          />
          <Pager
            label="Pages of cancelled orders"
            first={before ? addressOf("/console/orders", { ...query, before: "" }) : undefined}
            next={next === null ? undefined : addressOf("/console/orders", { ...query, before: next })}
          />
        </>
      )}
    </WhenLoaded>
  );
}

const COLUMNS: readonly Column<CancelledOrder>[] = [
  { name: "Order", cell: (order) => order.id },
  { name: "Cancelled", cell: (order) => <Time iso={order.cancelledAt} /> },
  {
    name: "By key",
    cell: (order) => <a href={`/console/keys/${order.cancelledBy}`}>{order.cancelledBy}</a>,
  },
  { name: "Pet", cell: (order) => order.petId ?? "–" },
  { name: "Quantity", cell: (order) => order.quantity ?? "–" },
  { name: "Ship date", cell: (order) => <Time iso={order.shipDate} /> },
];
