/** `/console/customers/{id}/links` makes, lists and revokes the links with which a customer sees its keys. */
import { type Context, Hono } from "hono";
import { customerCalls } from "../../../admin/customers/calls.ts";
import { linkCalls } from "../../../admin/links/calls.ts";
import type { LinkView } from "../../../admin/links/schema.ts";
import { inputOf } from "../../../admin/serve.ts";
import type { AppEnv } from "../../../context.ts";
import { answerForm, type Failure, FailureNotice } from "../../kit/failure.tsx";
import { ask, sendForm } from "../../kit/forms.ts";
import { page } from "../../kit/page.tsx";
import {
  type Column,
  Customer,
  customerAddress,
  Field,
  Notice,
  ShownOnce,
  Submit,
  Table,
  Time,
} from "../../kit/ui.tsx";

const DEFAULT_DAYS = "7";

type LinksContext = Context<AppEnv, "/:id/links">;

export const linkPages = new Hono<AppEnv>()
  .get("/:id/links", (c) => showLinks(c))
  .post("/:id/links", (c) =>
    answerForm(c, "link", showLinks, async ({ days = "", revoked }) => {
      if (revoked === undefined) return makeLink(c, days);
      const { says } = await sendForm(c, linkCalls.revoke, {}, { id: revoked });
      return showLinks(c, undefined, says);
    }),
  );

async function showLinks(c: LinksContext, failure?: Failure, done?: string) {
  const customer = await customerCalls.show.run(inputOf(c, { id: c.req.param("id") }));
  const { links } = await ask(c, linkCalls.list, { customer: customer.id });
  const mayWrite = c.var.mayOnlyRead !== true;
  return page(
    c,
    { title: `Links of ${customer.name}`, status: failure?.status ?? 200 },
    <>
      {done !== undefined && <Notice kind="good">{done}</Notice>}
      <p>
        With a link, <Customer of={customer} /> sees keys, use, limits and bans, and can give a key a new
        secret. Nobody has to sign in: whoever has the link can do this until it ends. With the last key all
        links end.
      </p>
      {customer.keys === 0 && <p>This customer has no key to show.</p>}
      {mayWrite && (customer.keys > 0 || failure) && (
        <form method="post" class="panel">
          <FailureNotice failure={failure} />
          <Field
            name="days"
            label="Days until the link ends"
            type="number"
            value={failure?.typed.days ?? DEFAULT_DAYS}
            attributes={{ min: 1, max: 90, required: true }}
          />
          <Submit tone="primary">Make a link</Submit>
        </form>
      )}
      <Table
        caption="Links"
        columns={mayWrite ? [...COLUMNS, REVOKE] : COLUMNS}
        rows={links}
        empty="No link can be used now."
      />
    </>,
  );
}

const COLUMNS: readonly Column<LinkView>[] = [
  { name: "Link", cell: ({ id }) => id },
  { name: "Made", cell: ({ createdAt }) => <Time iso={createdAt} /> },
  { name: "By", cell: ({ createdBy }) => createdBy },
  { name: "Last opened", cell: ({ openedAt }) => <Time iso={openedAt} /> },
  { name: "Ends", cell: ({ endsAt }) => <Time iso={endsAt} /> },
];

const REVOKE: Column<LinkView> = {
  name: "Action",
  isClear: true,
  cell: ({ id }) => (
    <form method="post">
      <input type="hidden" name="revoked" value={id} />
      <Submit tone="small">Revoke</Submit>
    </form>
  ),
};

/** The page reads nothing that can fail, because the link cannot be shown again. */
async function makeLink(c: LinksContext, days: string) {
  const made = await sendForm(c, linkCalls.create, { customer: c.req.param("id"), days });
  return page(
    c,
    { title: `A link for ${made.customer.name}` },
    <>
      <Notice kind="good">
        <p>
          <strong>The link is shown once.</strong> Send it to the customer, and to nobody else. It ends on{" "}
          <Time iso={made.endsAt} />.
        </p>
        <ShownOnce text={made.link} />
      </Notice>
      <p>
        <a href={`${customerAddress(made.customer.id)}/links`}>All links of this customer</a>
      </p>
    </>,
  );
}
