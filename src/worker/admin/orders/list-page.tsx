/** `/console/orders`: the orders, the newest ids first, and the cancelled ones. */
import { Hono } from "hono";
import { counted, formatNumber } from "../../console/format.ts";
import { addressOf, queryOf } from "../../console/forms.ts";
import { type ConsoleContext, page } from "../../console/page.tsx";
import { Badge, type Column, Field, optionsOf, Pager, Select, Table, Time } from "../../console/ui.tsx";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { ORDER_STATUSES } from "../../db/values.ts";
import { keyNamesOf } from "../audit/page.tsx";
import { type ShownCancellation, type ShownOrder, toShown } from "./order-view.ts";
import { cancelledQuery, orderQuery } from "./schema.ts";
import { countOrders, listCancelledJson, listOrders } from "./sql.ts";

const PATH = "/console/orders";
const CANCELLED = `${PATH}/cancelled`;
const ORDERS_PER_PAGE = 50;

const LOAD = (
  <a class="button primary" href={`${PATH}/load`}>
    Load orders
  </a>
);

export const orderListPages = new Hono<AppEnv>()
  .get("/", async (c) => {
    const query = queryOf(c, orderQuery);
    const db = openDatabase(c.env.DB);
    const [{ orders, next }, total] = await Promise.all([
      listOrders(db, { ...query, limit: ORDERS_PER_PAGE, direction: "desc" }),
      countOrders(db, query),
    ]);
    const shown = c.req.query();
    return page(
      c,
      { title: "Orders", actions: LOAD },
      <>
        <Tabs c={c} />
        <search>
          <form class="filters" method="get">
            <Select
              name="status"
              label="Status"
              value={shown.status}
              options={[["", "All"], ...optionsOf(ORDER_STATUSES)]}
            />
            <Field
              name="petId"
              label="Pet id"
              type="search"
              value={shown.petId}
              attributes={{ inputmode: "numeric", pattern: "-?[0-9]+" }}
            />
            <button type="submit" class="button">
              Filter
            </button>
          </form>
        </search>
        <p class="muted">{counted(total, "order")}</p>
        <Table
          caption="Orders"
          columns={[
            { name: "Order", cell: ({ id }) => <a href={`${PATH}/${id}`}>{id}</a> },
            ...COLUMNS,
            { name: "Status", cell: ({ status }) => <Badge status={status} /> },
          ]}
          rows={orders.map((json) => toShown<ShownOrder>(json))}
          empty="No order matches."
        />
        <Pager
          first={query.after === undefined ? undefined : addressOf(PATH, { ...shown, after: "" })}
          next={next === null ? undefined : addressOf(PATH, { ...shown, after: next })}
        />
      </>,
    );
  })

  .get("/cancelled", async (c) => {
    const { before } = queryOf(c, cancelledQuery);
    const db = openDatabase(c.env.DB);
    const rows = await listCancelledJson(db, before, ORDERS_PER_PAGE);
    const orders = rows.map(({ json }) => toShown<ShownCancellation>(json));
    const names = await keyNamesOf(
      db,
      orders.map(({ cancelledBy }) => ({ object: cancelledBy })),
    );
    const last = rows.length < ORDERS_PER_PAGE ? undefined : rows.at(-1);
    return page(
      c,
      { title: "Cancelled orders", actions: LOAD },
      <>
        <Tabs c={c} />
        <Table
          caption="Cancelled orders"
          columns={[
            { name: "Order", cell: ({ id }) => id },
            ...COLUMNS,
            {
              name: "Cancelled by",
              cell: ({ cancelledBy }) => (
                <a href={`/console/keys/${cancelledBy}`}>{names.get(cancelledBy) ?? cancelledBy}</a>
              ),
            },
            { name: "When", cell: ({ cancelledAt }) => <Time iso={cancelledAt} /> },
            { name: "Request", cell: ({ requestId }) => <code>{requestId}</code> },
          ]}
          rows={orders}
          empty="No order was cancelled."
        />
        <Pager
          first={before === undefined ? undefined : CANCELLED}
          next={last && addressOf(CANCELLED, { before: last.id })}
        />
      </>,
    );
  });

function Tabs({ c }: { readonly c: ConsoleContext }) {
  const current = (path: string) => (c.req.path === path ? "true" : undefined);
  return (
    <p class="presets">
      <a href={PATH} aria-current={current(PATH)}>
        Orders
      </a>
      <a href={CANCELLED} aria-current={current(CANCELLED)}>
        Cancelled
      </a>
    </p>
  );
}

const COLUMNS: readonly Column<Pick<ShownOrder, "petId" | "quantity" | "shipDate" | "complete">>[] = [
  { name: "Pet", isNumber: true, cell: ({ petId }) => petId ?? "–" },
  {
    name: "Quantity",
    isNumber: true,
    cell: ({ quantity }) => (quantity === null ? "–" : formatNumber(BigInt(quantity))),
  },
  { name: "Ship date", cell: ({ shipDate }) => <Time iso={shipDate} /> },
  {
    name: "Complete",
    cell: ({ complete }) => (complete === null ? "–" : complete ? "yes" : "no"),
  },
];
