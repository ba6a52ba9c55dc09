/** Orders by id, filtered by status and pet. */
import { useLocation } from "preact-iso";
import { ORDER_STATUSES } from "../../../worker/db/values.ts";
import { fetchOrders, textOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import { InputField, SelectField } from "../components/field.tsx";
import { WhenLoaded } from "../components/notices.tsx";
import { Pager } from "../components/pager.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { addressOf } from "../query.ts";
import { useLoad } from "../use-load.ts";
import { useTyped } from "../use-typed.ts";
import { useRoute } from "../visits.ts";
import { isInteger, isOrderStatus, type Order, parseOrders } from "./order-types.ts";

const ORDERS_PER_PAGE = 50;
const PATH = "/console/orders";

export function OrderList() {
  const { session } = useAdmin();
  const { query } = useLocation();
  const status = isOrderStatus(query.status ?? "") ? query.status : undefined;
  const petId = isInteger(query.petId ?? "") ? query.petId : undefined;
  const { after } = query;
  const loaded = useLoad(
    async () => {
      const path = addressOf("", { status, petId, after, limit: String(ORDERS_PER_PAGE) });
      return parseOrders(await textOf(fetchOrders(session, path)));
    },
    JSON.stringify([status, petId, after]),
  );
  return (
    <section>
      <h2>All orders</h2>
      <Filters status={status} petId={petId} />
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
              label="Pages of all orders"
              first={after ? addressOf(PATH, { ...query, after: "" }) : undefined}
              next={next === null ? undefined : addressOf(PATH, { ...query, after: next })}
            />
          </>
        )}
      </WhenLoaded>
    </section>
  );
}

type FilterProps = { readonly status: string | undefined; readonly petId: string | undefined };

function Filters({ status = "", petId = "" }: FilterProps) {
  const { query } = useLocation();
  const route = useRoute();
  const pet = useTyped(petId);
  // A change of the status does not check the pattern of the other field. What is no filter must not stay in it.
  const filterBy = (chosen: string) => {
    const typed = { status: chosen, petId: isInteger(pet.value.trim()) ? pet.value.trim() : "" };
    pet.onInput(typed.petId);
    route(addressOf(PATH, { ...query, after: "", ...typed }));
  };
  return (
    <search>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          filterBy(status);
        }}
      >
        <SelectField
          label="Status"
          value={status}
          options={[["", "All"], ...ORDER_STATUSES.map((each) => [each, each] as const)]}
          onChange={filterBy}
        />
        <InputField
          label="Pet id"
          pattern="\s*-?\d{1,19}\s*"
          title="A whole number"
          autocomplete="off"
          {...pet}
        />
        <button type="submit" class="button">
          Filter
        </button>
      </form>
    </search>
  );
}

const COLUMNS: readonly Column<Order>[] = [
  { name: "Order", cell: (order) => <a href={`/console/orders/${order.id}`}>{order.id}</a> },
  { name: "Status", cell: (order) => order.status },
  { name: "Pet", cell: (order) => order.petId ?? "–" },
  { name: "Quantity", cell: (order) => order.quantity ?? "–" },
  { name: "Ship date", cell: (order) => <Time iso={order.shipDate} /> },
];
