/** `/console/orders/{id}` shows an order and its history, and changes or deletes the order. */
import { Hono } from "hono";
import type * as v from "valibot";
import { auditCalls } from "../../../admin/audit/calls.ts";
import { orderCalls } from "../../../admin/orders/calls.ts";
import { type changedOrder, type OrderView, orderUpdate } from "../../../admin/orders/schema.ts";
import { inputOf } from "../../../admin/serve.ts";
import type { AppEnv } from "../../../context.ts";
import { UNSHIPPED } from "../../../db/values.ts";
import { type ActionContext, type Actions, addActionPages, offeredOf } from "../../kit/actions.tsx";
import type { Failure } from "../../kit/failure.tsx";
import { Fields } from "../../kit/fields.tsx";
import { addressOf, doneAddress } from "../../kit/forms.ts";
import { textsOf } from "../../kit/members.ts";
import { History, objectPage } from "../../kit/object.tsx";
import { Badge, Check, Definitions } from "../../kit/ui.tsx";
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
  return c.redirect(doneAddress(`/console/orders/${id}`, made), 303);
});

async function showOrder(c: ActionContext, failure?: Failure) {
  const id = c.req.param("id");
  const order = await orderCalls.show.run(inputOf(c, { id }));
  const query = { object: id, limit: ENTRIES_SHOWN };
  const { audit } = await auditCalls.list.run(inputOf(c, { query }));
  const address = `/console/orders/${id}`;
  const actions = offeredOf(ORDER_ACTIONS, order);
  const offered = { shown: order, actions, address, version: order.version };
  const head = <Badge status={order.status} />;
  return objectPage(
    c,
    { title: `Order ${id}`, head, offered, failure, entries: audit },
    <>
      <Definitions facts={MEMBER_COLUMNS.map(({ name, cell }) => [name, cell(order)])} />
      <History entries={audit} mayUndo={!c.var.mayOnlyRead} />
    </>,
  );
}
