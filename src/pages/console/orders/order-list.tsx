/** Orders by id, filtered by status and pet. */
import { useLocation } from "preact-iso";
import { fetchOrders, textOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import { SelectField } from "../components/field.tsx";
import { WhenLoaded } from "../components/notices.tsx";
import { Pager } from "../components/pager.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { addressOf } from "../query.ts";
import { useLoad } from "../use-load.ts";
import { isOrderStatus, ORDER_STATUSES, type Order, parseOrders } from "./order-types.ts";

const ORDERS_PER_PAGE = 50;
const PATH = "/console/orders";

export function OrderList() {
  const { session } = useAdmin();
  const { query, route } = useLocation();
  const status = isOrderStatus(query.status ?? "") ? query.status : undefined;
  const { after } = query;
  const loaded = useLoad(
    async () => {
      const path = addressOf("", { status, after, limit: String(ORDERS_PER_PAGE) });
      return parseOrders(await textOf(fetchOrders(session, path)));
    },
    JSON.stringify([status, after]),
  );
  return (
    <section>
      <div class="section-head">
        <h2>All orders</h2>
        <SelectField
          label="Status"
          value={status ?? ""}
          options={[["", "All"], ...ORDER_STATUSES.map((each) => [each, each] as const)]}
          onChange={(chosen) => route(addressOf(PATH, { status: chosen }))}
        />
      </div>
      <WhenLoaded loaded={loaded}>
        {({ orders, next }) => (
          <>
            <Table
              caption="All orders"
              columns={COLUMNS}
              rows={orders}
              rowKey={(order) => order.id}
              empty={
                next === null ? "No order matches." : "No order matches so far. More follow on the next page."
              }
            />
            <Pager
              first={after ? addressOf(PATH, { status }) : undefined}
              next={next === null ? undefined : addressOf(PATH, { status, after: next })}
            />
          </>
        )}
      </WhenLoaded>
    </section>
  );
}

const COLUMNS: readonly Column<Order>[] = [
  { name: "Order", cell: (order) => <a href={`/console/orders/${order.id}`}>{order.id}</a> },
  { name: "Status", cell: (order) => order.status },
  { name: "Pet", cell: (order) => order.petId ?? "–" },
  { name: "Quantity", cell: (order) => order.quantity ?? "–" },
  { name: "Ship date", cell: (order) => <Time iso={order.shipDate} /> },
];
