/** `/console/orders/{id}`: an order, what an operator can change of it, and its history. */
import { type Context, Hono } from "hono";
import { type Failure, FailureNotice, failureOf } from "../../console/failure.tsx";
import {
  accept,
  addressOf,
  changedIn,
  doneAddress,
  formOf,
  isDone,
  numberOrNull,
  type Typed,
  utcOrNull,
  versionOf,
} from "../../console/forms.ts";
import { page } from "../../console/page.tsx";
import { Badge, Basis, Check, Facts, Field, Notice, optionsOf, Select, Time } from "../../console/ui.tsx";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { ORDER_STATUSES } from "../../db/values.ts";
import { Entry, sentenceOf } from "../audit/entry.tsx";
import { listAudit } from "../audit/sql.ts";
import { deleteOrder, updateOrder } from "./change.ts";
import { type ShownOrder, toShown } from "./order-view.ts";
import { orderUpdate } from "./schema.ts";
import { requireOrder } from "./sql.ts";

type OrderContext = Context<AppEnv, "/:id">;

const ENTRIES_SHOWN = 30;

export const orderPages = new Hono<AppEnv>()
  .get("/:id", (c) => orderPage(c))
  // The answer of a form, opened again.
  .get("/:id/:action", (c) => c.redirect(`/console/orders/${encodeURIComponent(c.req.param("id"))}`))

  .post("/:id/edit", async (c) => {
    const id = c.req.param("id");
    const typed = await formOf(c);
    const input = { env: c.env, author: c.var.author, id, expected: versionOf(typed) };
    try {
      const update = accept(c, orderUpdate, membersOf(changedIn(typed)));
      const order = await updateOrder({ ...input, body: update });
      return c.redirect(doneAddress(`/console/orders/${id}`, "edit", order), 303);
    } catch (thrown) {
      return orderPage(c, failureOf(thrown, "edit", typed));
    }
  })

  .post("/:id/delete", async (c) => {
    const id = c.req.param("id");
    const typed = await formOf(c);
    const input = { env: c.env, author: c.var.author, id, expected: versionOf(typed) };
    try {
      await deleteOrder({ ...input, body: {} });
      return c.redirect(addressOf("/console/audit", { object: id }), 303);
    } catch (thrown) {
      return orderPage(c, failureOf(thrown, "delete", typed));
    }
  });

function textsOf({ quantity, shipDate, complete, status }: ShownOrder): Typed {
  return {
    status,
    quantity: quantity ?? "",
    shipDate: shipDate?.slice(0, "2026-11-21T10:00:00".length).replace(/:00$/, "") ?? "", // as browsers send it,
    complete: complete === null ? "" : String(complete),
  };
}

const TO_MEMBER = {
  status: (text: string) => text,
  quantity: numberOrNull,
  shipDate: utcOrNull,
  complete: (text: string) => (text === "" ? null : text === "true"),
} as const;

function membersOf(typed: Typed): Record<string, unknown> {
  const members = Object.entries(TO_MEMBER).flatMap(([name, toMember]) => {
    const text = typed[name];
    return text === undefined ? [] : [[name, toMember(text)]];
  });
  return { ...Object.fromEntries(members), allowBackwards: typed.allowBackwards === "true" };
}

async function orderPage(c: OrderContext, failure?: Failure) {
  const id = c.req.param("id");
  const db = openDatabase(c.env.DB);
  const order: ShownOrder = toShown((await requireOrder(db, id)).json);
  const { entries } = await listAudit(db, { object: id, limit: ENTRIES_SHOWN });
  const shown = textsOf(order);
  const texts = failure?.action === "edit" ? { ...shown, ...failure.typed } : shown;
  return page(
    c,
    { title: `Order ${id}`, actions: <Badge status={order.status} />, status: failure?.status ?? 200 },
    <>
      <FailureNotice failure={failure} />
      {isDone(c, "edit", order) && (
        <Notice kind="good">
          <p>The order was changed.</p>
        </Notice>
      )}
      <div class="columns">
        <section>
          <h2>Order</h2>
          <Facts
            facts={[
              ["Pet", order.petId ?? "–"],
              ["Quantity", order.quantity ?? "–"],
              ["Ship date", <Time iso={order.shipDate} />],
              ["Complete", order.complete === null ? "–" : order.complete ? "yes" : "no"],
            ]}
          />
        </section>
        <section>
          <h2>Actions</h2>
          <form method="post" action={`/console/orders/${id}/edit`} class="panel">
            <Basis version={order.version} texts={shown} />
            <Select name="status" label="Status" value={texts.status} options={optionsOf(ORDER_STATUSES)} />
            <div class="pair">
              <Field
                name="quantity"
                label="Quantity"
                type="text"
                value={texts.quantity}
                attributes={{ inputmode: "numeric", pattern: "-?[0-9]+" }}
              />
              <Select
                name="complete"
                label="Complete"
                value={texts.complete}
                options={[
                  ["", "not set"],
                  ["true", "yes"],
                  ["false", "no"],
                ]}
              />
            </div>
            <Field
              name="shipDate"
              label="Ship date (UTC)"
              type="datetime-local"
              value={texts.shipDate}
              attributes={{ step: 1 }}
            />
            <Check name="allowBackwards" label="The status may go back" />
            <button type="submit" class="button primary">
              Change order
            </button>
          </form>
          <div class="danger-zone">
            <details class="action" open={failure?.action === "delete"}>
              <summary>Delete order</summary>
              <form method="post" action={`/console/orders/${id}/delete`}>
                <Basis version={order.version} />
                <p>The order is removed from the list. The audit log keeps it.</p>
                <Check name="sure" label="Delete it" attributes={{ required: true }} />
                <button type="submit" class="button danger">
                  Delete order
                </button>
              </form>
            </details>
          </div>
        </section>
      </div>
      <section>
        <h2>History</h2>
        {entries.length === 0 && <p class="muted">No operator has changed this order.</p>}
        <ol class="feed">
          {entries.map((entry) => (
            <Entry entry={entry} sentence={sentenceOf(entry, undefined)} />
          ))}
        </ol>
      </section>
    </>,
  );
}
