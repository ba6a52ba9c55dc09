/** `/console/customers/{owner}/links` makes, lists and revokes the links with which an owner sees the keys. */
import { Hono } from "hono";
import { linkCalls } from "../../../admin/links/calls.ts";
import type { LinkView } from "../../../admin/links/schema.ts";
import type { AppEnv } from "../../../context.ts";
import { answerForm, type Failure, FailureNotice } from "../../kit/failure.tsx";
import { ask, doneAddress, isDone, sendForm } from "../../kit/forms.ts";
import { type ConsoleContext, page } from "../../kit/page.tsx";
import {
  type Column,
  customerAddress,
  customerIn,
  Field,
  Notice,
  ShownOnce,
  Submit,
  Table,
  Time,
} from "../../kit/ui.tsx";

const DEFAULT_DAYS = "7";
const SHOWN = "100";

export const linkPages = new Hono<AppEnv>()
  .get("/:owner/links", (c) => showLinks(c, customerIn(c.req.param("owner"))))
  .post("/:owner/links", (c) => makeLink(c, customerIn(c.req.param("owner"))))
  .get("/:owner/links/:id/revoke", (c) => c.redirect(pathOf(customerIn(c.req.param("owner")))))
  .post("/:owner/links/:id/revoke", async (c) => {
    const { owner, id } = c.req.param();
    await sendForm(c, linkCalls.revoke, {}, { id });
    return c.redirect(doneAddress(pathOf(customerIn(owner)), "revoked", { version: id }), 303);
  });

function pathOf(owner: string): string {
  return `${customerAddress(owner)}/links`;
}

async function showLinks(c: ConsoleContext, owner: string, failure?: Failure) {
  const { links } = await ask(c, linkCalls.list, { owner, limit: SHOWN });
  const mayWrite = c.var.mayOnlyRead !== true;
  return page(
    c,
    { title: `Links of ${owner}`, status: failure?.status ?? 200 },
    <>
      {isDone(c, "revoked", { version: c.req.query("version") ?? "" }) && (
        <Notice kind="good">The link is revoked.</Notice>
      )}
      <p>
        With a link, an owner sees keys, use, limits and bans, and can give a key a new secret. Nobody has to
        sign in: whoever has the link can do this until it ends. <a href={customerAddress(owner)}>{owner}</a>
      </p>
      {mayWrite && (
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
        columns={mayWrite ? [...COLUMNS, revokeColumn(owner)] : COLUMNS}
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
  { name: "Ends", cell: ({ endsAt }) => <Time iso={endsAt} /> },
];

function revokeColumn(owner: string): Column<LinkView> {
  return {
    name: "Action",
    isClear: true,
    cell: ({ id }) => (
      <form method="post" action={`${pathOf(owner)}/${id}/revoke`}>
        <Submit tone="small">Revoke</Submit>
      </form>
    ),
  };
}

/** The page reads nothing that can fail, because the link cannot be shown again. */
function makeLink(c: ConsoleContext, owner: string): Promise<Response> {
  const again = (context: ConsoleContext, failure: Failure) => showLinks(context, owner, failure);
  return answerForm(c, "link", again, async ({ days = "" }) => {
    const made = await sendForm(c, linkCalls.create, { owner, days });
    return page(
      c,
      { title: `A link for ${made.owner}` },
      <>
        <Notice kind="good">
          <p>
            <strong>The link is shown once.</strong> Send it to the owner, and to nobody else. It ends on{" "}
            <Time iso={made.endsAt} />.
          </p>
          <ShownOnce text={made.link} />
        </Notice>
        <p>
          <a href={pathOf(owner)}>All links of this owner</a>
        </p>
      </>,
    );
  });
}
