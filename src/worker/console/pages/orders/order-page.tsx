/** `/console/orders/{id}` shows an order and its history, and changes or deletes the order. */
import { type Context, Hono } from "hono";
import type * as v from "valibot";
import { auditCalls } from "../../../admin/audit/calls.ts";
import { orderCalls } from "../../../admin/orders/calls.ts";
import { type changedOrder, type OrderView, orderUpdate } from "../../../admin/orders/schema.ts";
import { inputOf } from "../../../admin/serve.ts";
import type { AppEnv } from "../../../context.ts";
import { UNSHIPPED } from "../../../db/values.ts";
import { ActionForm, ActionLinks, type Actions, addActionPages, offeredOf } from "../../kit/actions.tsx";
import { Done } from "../../kit/done.tsx";
import type { Failure } from "../../kit/failure.tsx";
import { Fields } from "../../kit/fields.tsx";
import { addressOf, doneAddress, isDone } from "../../kit/forms.ts";
import { textsOf } from "../../kit/members.ts";
import { page } from "../../kit/page.tsx";
import { Badge, Check, Definitions, Time } from "../../kit/ui.tsx";
import { deedsIn, Entry } from "../audit/entry.tsx";
import { MEMBER_COLUMNS } from "./order-view.tsx";

const ENTRIES_SHOWN = 30;
/** The form offers this after it said that a status would go back. */
const ALLOW = ["allowBackwards"] as const;

const ORDER_ACTIONS: Actions<OrderView, v.InferOutput<typeof changedOrder>> = {
  ship: {
    call: orderCalls.update,
    title: "Ship",
    sends: { status: "shipped" },
    isOffered: ({ status }) => UNSHIPPED.includes(status),
    form: () => <p>A shipped order cannot be cancelled.</p>,
  },
  edit: {
    call: orderCalls.update,
    title: "Change order",
    texts: (order) => textsOf(orderUpdate, order),
    sendsChanges: true,
    form: (_, texts, failure) => (
      <Fields
        schema={orderUpdate}
        names={["status", ["quantity", "complete"], "shipDate", ...(failure?.status === 409 ? ALLOW : [])]}
        texts={texts}
        failure={failure}
      />
    ),
  },
  delete: {
    call: orderCalls.delete,
    title: "Delete order",
    isDangerous: true,
    form: () => (
      <>
        <p>The order is removed from the list. The audit log keeps it.</p>
        <Check name="sure" label="Delete it" attributes={{ required: true }} />
      </>
    ),
  },
};

export const orderPages = new Hono<AppEnv>();

addActionPages(orderPages, ORDER_ACTIONS, showOrder, (c, name, made) => {
  const id = c.req.param("id");
  if (name === "delete") return c.redirect(addressOf("/console/audit", { object: id }), 303);
  return c.redirect(doneAddress(`/console/orders/${id}`, name, made), 303);
});

async function showOrder(c: Context<AppEnv, "/:id/:action?">, failure?: Failure) {
  const id = c.req.param("id");
  const order = await orderCalls.show.run(inputOf(c, { id }));
  const query = { object: id, limit: ENTRIES_SHOWN };
  const { audit } = await auditCalls.list.run(inputOf(c, { query }));
  const open = failure?.action ?? c.req.param("action");
  const address = `/console/orders/${id}`;
  const actions = offeredOf(ORDER_ACTIONS, order);
  const offered = { shown: order, actions, address, version: order.version };
  return page(
    c,
    {
      title: `Order ${id}`,
      status: failure?.status ?? 200,
      actions: (
        <>
          <Badge status={order.status} />
          {!c.var.mayOnlyRead && <ActionLinks of={offered} open={open} />}
        </>
      ),
    },
    <>
      {Object.keys(ORDER_ACTIONS).some((name) => isDone(c, name, order)) && (
        <Done subject={`Order ${id}`} version={order.version} entries={audit} mayUndo={!c.var.mayOnlyRead} />
      )}
      <ActionForm of={offered} open={open} failure={failure} />
      <Definitions facts={MEMBER_COLUMNS.map(({ name, cell }) => [name, cell(order)])} />
      <section>
        <h2>History</h2>
        {audit.length === 0 && <p class="muted">No operator has changed this order.</p>}
        <ol class="feed">
          {deedsIn(audit).map((deed) => (
            <Entry deed={deed} when={<Time iso={deed[0].at} />} mayUndo={!c.var.mayOnlyRead} />
          ))}
        </ol>
      </section>
    </>,
  );
}
