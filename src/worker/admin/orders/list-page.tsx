/** `/console/orders`: the orders, the newest ids first, and the cancelled ones. */
import { Hono } from "hono";
import { queryOf } from "../../console/forms.ts";
import { CsvLink, Filters, NoRows, Pages, Presets } from "../../console/list.tsx";
import { type ConsoleContext, page } from "../../console/page.tsx";
import { Badge, type Column, Table, Time } from "../../console/ui.tsx";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { counted, formatNumber } from "../../format.ts";
import { findKeyNames } from "../keys/sql.ts";
import { fileOf, inputOf } from "../serve.ts";
import { orderCalls } from "./calls.ts";
import { type ShownCancellation, type ShownOrder, toShown } from "./order-view.ts";
import { cancelledQuery, orderQuery } from "./schema.ts";
import { countOrders } from "./sql.ts";

const PATH = "/console/orders";
const CANCELLED = `${PATH}/cancelled`;
const ORDERS_PER_PAGE = 50;

const LOAD = (
  <a class="button primary" href={`${PATH}/load`}>
    Load orders
  </a>
);

type ShownOrders = { readonly orders: readonly ShownOrder[]; readonly next: string | null };
type CancelledPage = { readonly cancelled: readonly ShownCancellation[]; readonly next: string | null };

export const orderListPages = new Hono<AppEnv>()
  .get("/", async (c) => {
    const query = { ...queryOf(c, orderQuery, { direction: "desc" }), limit: ORDERS_PER_PAGE };
    if (query.format === "csv") return fileOf(c, orderCalls.list, query);
    const [answer, total] = await Promise.all([
      orderCalls.list.run(inputOf(c, { query })),
      countOrders(openDatabase(c.env.DB), query),
    ]);
    const { orders, next } = toShown<ShownOrders>(answer);
    return page(
      c,
      { title: "Orders", actions: <Actions c={c} /> },
      <>
        <Tabs c={c} />
        <Filters c={c} schema={orderQuery} names={["status", "petId"]} texts={c.req.query()} />
        <p class="muted">{counted(total, "order")}</p>
        <Table
          caption="Orders"
          columns={[
            { name: "Order", cell: ({ id }) => <a href={`${PATH}/${id}`}>{id}</a> },
            ...COLUMNS,
            { name: "Status", cell: ({ status }) => <Badge status={status} /> },
          ]}
          rows={orders}
          empty={
            <NoRows c={c} noun="order">
              {!c.var.mayOnlyRead && LOAD}
            </NoRows>
          }
        />
        <Pages c={c} next={next} />
      </>,
    );
  })

  .get("/cancelled", async (c) => {
    const query = { ...queryOf(c, cancelledQuery), limit: ORDERS_PER_PAGE };
    if (query.format === "csv") return fileOf(c, orderCalls.cancelled, query);
    const answer = await orderCalls.cancelled.run(inputOf(c, { query }));
    const { cancelled, next } = toShown<CancelledPage>(answer);
    const ids = cancelled.map(({ cancelledBy }) => cancelledBy);
    const names = await findKeyNames(openDatabase(c.env.DB), ids);
    return page(
      c,
      { title: "Cancelled orders", actions: <Actions c={c} /> },
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
          rows={cancelled}
          empty="No order was cancelled."
        />
        <Pages c={c} next={next} by="before" />
      </>,
    );
  });

function Actions({ c }: { readonly c: ConsoleContext }) {
  return (
    <>
      <CsvLink c={c} />
      {!c.var.mayOnlyRead && LOAD}
    </>
  );
}

function Tabs({ c }: { readonly c: ConsoleContext }) {
  return (
    <Presets
      links={[
        ["Orders", PATH, c.req.path === PATH],
        ["Cancelled", CANCELLED, c.req.path === CANCELLED],
      ]}
    />
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
