/** `/console/orders/{id}` shows an order and its history, and changes, ships or deletes the order. */
import { type Context, Hono } from "hono";
import { auditCalls } from "../../../admin/audit/calls.ts";
import { checked } from "../../../admin/http/request-validation.ts";
import { orderCalls } from "../../../admin/orders/calls.ts";
import { orderShipment, orderUpdate } from "../../../admin/orders/schema.ts";
import { inputOf } from "../../../admin/serve.ts";
import type { AppEnv } from "../../../context.ts";
import { UNSHIPPED } from "../../../db/values.ts";
import { Done } from "../../kit/done.tsx";
import { answerForm, type Failure, FailureNotice, FormButtons } from "../../kit/failure.tsx";
import { Fields } from "../../kit/fields.tsx";
import { addressOf, doneAddress, isDone, sendForm } from "../../kit/forms.ts";
import { textsOf } from "../../kit/members.ts";
import { page } from "../../kit/page.tsx";
import { Badge, Basis, Check, Definitions, Submit, Time } from "../../kit/ui.tsx";
import { deedsIn, Entry } from "../audit/entry.tsx";
import { MEMBER_COLUMNS, type ShownOrder, toShown } from "./order-view.tsx";

type OrderContext = Context<AppEnv, "/:id">;

const ENTRIES_SHOWN = 30;
/** The form offers this after it said that a status would go back. */
const ALLOW = ["allowBackwards"] as const;

export const orderPages = new Hono<AppEnv>()
  .get("/:id", (c) => showOrder(c))
  // Somebody opens the address of a form.
  .get("/:id/:action", (c) => c.redirect(`/console/orders/${encodeURIComponent(c.req.param("id"))}`))

  .post("/:id/ship", (c) =>
    answerForm(c, "ship", showOrder, async () => {
      const id = c.req.param("id");
      const body = checked(c.env, orderShipment, { ids: [id] });
      const { shipped } = await orderCalls.ship.run(inputOf(c, { body }));
      if (shipped.length === 0) return c.redirect(`/console/orders/${id}`, 303);
      const order = toShown<ShownOrder>(await orderCalls.show.run(inputOf(c, { id })));
      return c.redirect(doneAddress(`/console/orders/${id}`, "ship", order), 303);
    }),
  )

  .post("/:id/edit", (c) =>
    answerForm(c, "edit", showOrder, async (typed) => {
      const id = c.req.param("id");
      const order = toShown<ShownOrder>(await sendForm(c, orderCalls.update, typed, { id }));
      return c.redirect(doneAddress(`/console/orders/${id}`, "edit", order), 303);
    }),
  )

  .post("/:id/delete", (c) =>
    answerForm(c, "delete", showOrder, async (typed) => {
      const id = c.req.param("id");
      await sendForm(c, orderCalls.delete, typed, { id });
      return c.redirect(addressOf("/console/audit", { object: id }), 303);
    }),
  );

async function showOrder(c: OrderContext, failure?: Failure) {
  const id = c.req.param("id");
  const order = toShown<ShownOrder>(await orderCalls.show.run(inputOf(c, { id })));
  const query = { object: id, limit: ENTRIES_SHOWN };
  const { audit } = await auditCalls.list.run(inputOf(c, { query }));
  return page(
    c,
    {
      title: `Order ${id}`,
      status: failure?.status ?? 200,
      actions: (
        <>
          <Badge status={order.status} />
          {!c.var.mayOnlyRead && UNSHIPPED.includes(order.status) && <Ship id={id} />}
        </>
      ),
    },
    <>
      <FailureNotice failure={failure} />
      {["ship", "edit"].some((name) => isDone(c, name, order)) && (
        <Done subject={`Order ${id}`} version={order.version} entries={audit} mayUndo={!c.var.mayOnlyRead} />
      )}
      <div class="columns">
        <section>
          <h2>Order</h2>
          <Definitions facts={MEMBER_COLUMNS.map(({ name, cell }) => [name, cell(order)])} />
        </section>
        {!c.var.mayOnlyRead && <Actions order={order} failure={failure} />}
      </div>
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

function Ship({ id }: { readonly id: string }) {
  return (
    <form method="post" action={`/console/orders/${id}/ship`}>
      <Submit tone="primary">Ship</Submit>
    </form>
  );
}

function Actions({ order, failure }: { readonly order: ShownOrder; readonly failure: Failure | undefined }) {
  const shown = textsOf(orderUpdate, order);
  const refused = failure?.action === "edit" ? failure : undefined;
  return (
    <section>
      <h2>Actions</h2>
      <form method="post" action={`/console/orders/${order.id}/edit`} class="panel">
        <Basis version={order.version} texts={shown} />
        <Fields
          schema={orderUpdate}
          names={["status", ["quantity", "complete"], "shipDate", ...(refused?.status === 409 ? ALLOW : [])]}
          texts={shown}
          failure={refused}
        />
        <FormButtons failure={refused} tone="" back={refused && `/console/orders/${order.id}`}>
          Change order
        </FormButtons>
      </form>
      <details class="panel" open={failure?.action === "delete"}>
        <summary>Delete order</summary>
        <form method="post" action={`/console/orders/${order.id}/delete`}>
          <Basis version={order.version} />
          <p>The order is removed from the list. The audit log keeps it.</p>
          <Check name="sure" label="Delete it" attributes={{ required: true }} />
          <Submit tone="danger">Delete order</Submit>
        </form>
      </details>
    </section>
  );
}
