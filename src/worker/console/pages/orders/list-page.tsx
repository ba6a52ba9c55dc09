/** `/console/orders` lists and ships orders, the highest ids first, and lists cancelled orders. */
import { Hono } from "hono";
import { auditCalls } from "../../../admin/audit/calls.ts";
import type { AuditView } from "../../../admin/audit/schema.ts";
import { checked } from "../../../admin/http/request-validation.ts";
import { orderCalls } from "../../../admin/orders/calls.ts";
import { cancelledQuery, orderQuery, orderShipment, type Shipment } from "../../../admin/orders/schema.ts";
import { fileOf, inputOf } from "../../../admin/serve.ts";
import type { AppEnv } from "../../../context.ts";
import { MAX_ORDERS_PER_SHIPMENT, ORDER_STATUSES, UNSHIPPED } from "../../../db/values.ts";
import { invalidRequest } from "../../../platform/errors.ts";
import { counted } from "../../../text/format.ts";
import { answerForm, type Failure, FailureNotice } from "../../kit/failure.tsx";
import { addressOf, ask, queryOf } from "../../kit/forms.ts";
import { answerList, CsvLink, Filters, NoRows, Pages, Presets, Tick, TickForm } from "../../kit/list.tsx";
import { EntryUndo } from "../../kit/object.tsx";
import { type ConsoleContext, page } from "../../kit/page.tsx";
import { type Preview, PreviewPanel } from "../../kit/preview.tsx";
import { Badge, Notice, Table, Time } from "../../kit/ui.tsx";
import { LISTED_COLUMNS } from "./order-view.tsx";

const PATH = "/console/orders";
/** More orders are shipped only after a question. */
const MAX_UNASKED = 10;
const CANCELLED = `${PATH}/cancelled`;
const ORDERS_PER_PAGE = 50;
const BY_DEFAULT = { direction: "desc" };
const FILTERS = { schema: orderQuery, names: ["status", "petId"] } as const;

const LOAD = (
  <a class="button primary" href={`${PATH}/load`}>
    Load orders
  </a>
);

/** A script says on the button how many orders are ticked. */
const SHIP = (
  <button type="submit" class="button primary" data-ticked="Ship">
    Ship ticked orders
  </button>
);

export const orderListPages = new Hono<AppEnv>()
  .get("/", (c) =>
    answerList(c, orderCalls.list, () => showOrders(c), {
      ...{ title: "Orders", byDefault: BY_DEFAULT },
      filters: (failure) => <Filters {...{ c, ...FILTERS, failure }} />,
    }),
  )
  .post("/", (c) =>
    answerForm(
      c,
      "ship",
      (context, failure) => showOrders(context, { failure }),
      async ({ all, apply }, ids) => {
        if (all !== undefined) return previewOfShipment(await findMatching(c));
        if (ids.length > MAX_UNASKED && apply === undefined) return previewOfShipment(ids);
        if (ids.length === 0) throw invalidRequest("Tick the orders to ship.");
        const body = checked(c.env, orderShipment, { ids });
        return showOrders(c, { shipment: await orderCalls.ship.run(inputOf(c, { body })) });
      },
    ),
  )

  .get("/cancelled", async (c) => {
    const query = { ...queryOf(c, cancelledQuery), limit: ORDERS_PER_PAGE };
    if (query.format === "csv") return fileOf(c, orderCalls.cancelled, { query });
    const { cancelled, next } = await orderCalls.cancelled.run(inputOf(c, { query }));
    return page(
      c,
      { title: "Cancelled orders", actions: <Actions c={c} /> },
      <>
        <Tabs c={c} />
        <Table
          caption="Cancelled orders"
          columns={[
            { name: "Order", cell: ({ id }) => id },
            ...LISTED_COLUMNS,
            {
              name: "Cancelled by",
              cell: ({ cancelledBy, cancelledByName }) => (
                <a href={`/console/keys/${cancelledBy}`}>{cancelledByName ?? cancelledBy}</a>
              ),
            },
            { name: "When", cell: ({ cancelledAt }) => <Time iso={cancelledAt} /> },
          ]}
          rows={cancelled}
          empty="No order was cancelled."
        />
        <Pages c={c} next={next} />
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

/** Returns the ids of the first orders of the filter that have not left the store. */
async function findMatching(c: ConsoleContext): Promise<string[]> {
  const query = { ...queryOf(c, orderQuery, BY_DEFAULT), after: undefined, limit: MAX_ORDERS_PER_SHIPMENT };
  const statuses = ORDER_STATUSES.filter((status) => UNSHIPPED.includes(status));
  const asked = statuses.filter((status) => status === (query.status ?? status));
  const answers = await Promise.all(
    asked.map((status) => orderCalls.list.run(inputOf(c, { query: { ...query, status } }))),
  );
  const ids = answers.flatMap(({ orders }) => orders.map(({ id }) => id));
  if (ids.length === 0) throw invalidRequest("Each order that matches has left the store.");
  return ids.slice(0, MAX_ORDERS_PER_SHIPMENT);
}

function previewOfShipment(ids: readonly string[]): Preview {
  const effects = [
    "Shipped orders cannot be cancelled. An order that has left the store meanwhile stays as it is.",
    ...(ids.length === MAX_ORDERS_PER_SHIPMENT
      ? ["More are not shipped at once: ship the others afterwards."]
      : []),
  ];
  return { effects, sent: { ids: ids.join(" ") }, body: {} };
}

type Outcome = { readonly failure?: Failure; readonly shipment?: Shipment };

async function showOrders(c: ConsoleContext, { failure, shipment }: Outcome = {}) {
  const query = { ...queryOf(c, orderQuery, BY_DEFAULT), limit: ORDERS_PER_PAGE };
  const { orders, next } = await orderCalls.list.run(inputOf(c, { query }));
  const { requestId: batch } = c.var.author;
  const [entry] = shipment ? (await ask(c, auditCalls.list, { batch, limit: "1" })).audit : [];
  const preview = failure?.preview;
  const here = addressOf(c.req.path, c.req.query());
  const mayShip = !c.var.mayOnlyRead && orders.some(({ status }) => UNSHIPPED.includes(status));
  const table = (
    <Table
      caption="Orders"
      columns={[
        {
          name: "Order",
          cell: (order) => (
            <>
              {mayShip && (
                <Tick
                  id={order.id}
                  label={`Ship order ${order.id}`}
                  isOff={!UNSHIPPED.includes(order.status)}
                  failure={failure}
                />
              )}
              <a href={`${PATH}/${order.id}`}>{order.id}</a>
            </>
          ),
        },
        ...LISTED_COLUMNS,
        { name: "Status", isClear: true, cell: ({ status }) => <Badge status={status} /> },
      ]}
      rows={orders}
      empty={
        <NoRows c={c} noun="order">
          {!c.var.mayOnlyRead && LOAD}
        </NoRows>
      }
    />
  );
  return page(
    c,
    { title: "Orders", actions: <Actions c={c} />, status: failure?.status ?? 200 },
    <>
      <FailureNotice failure={failure} />
      {shipment && <Shipped shipment={shipment} entry={entry} />}
      <PreviewPanel
        {...{ preview, action: here, back: here }}
        button={`Ship ${counted(preview?.sent.ids?.split(" ").length ?? 0, "order")}`}
      />
      <Tabs c={c} />
      <Filters {...{ c, ...FILTERS }} texts={c.req.query()} />
      {mayShip ? (
        <TickForm noun="order" buttons={SHIP} hasMore={next !== null || query.after !== undefined}>
          {table}
        </TickForm>
      ) : (
        table
      )}
      <Pages c={c} next={next} />
    </>,
  );
}

type ShippedProps = { readonly shipment: Shipment; readonly entry: AuditView | undefined };

function Shipped({ shipment, entry }: ShippedProps) {
  const { unchanged, missing, says } = shipment;
  return (
    <Notice kind={unchanged.length + missing.length === 0 ? "good" : "warn"}>
      <p>{says}</p>
      {entry && <EntryUndo entry={entry} isTogether />}
    </Notice>
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
