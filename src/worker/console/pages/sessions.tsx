/** `/console/sessions` lists who is signed in with a token, and signs them out. */
import { Hono } from "hono";
import { inputOf } from "../../admin/serve.ts";
import { sessionCalls } from "../../admin/sessions/calls.ts";
import type { SessionView } from "../../admin/sessions/schema.ts";
import type { AppEnv } from "../../context.ts";
import { formOf, sendForm } from "../kit/forms.ts";
import { type ConsoleContext, docsUrl, page } from "../kit/page.tsx";
import { type Column, Notice, Submit, Table, Time } from "../kit/ui.tsx";

export const sessionPages = new Hono<AppEnv>()
  .get("/", (c) => showSessions(c))
  .post("/", async (c) => {
    const { session = "" } = await formOf(c);
    const { says } = await sendForm(c, sessionCalls.end, {}, { id: session });
    return showSessions(c, says);
  });

async function showSessions(c: ConsoleContext, done?: string) {
  const { sessions } = await sessionCalls.list.run(inputOf(c, {}));
  return page(
    c,
    { title: "Sessions" },
    <>
      {done !== undefined && <Notice kind="good">{done}</Notice>}
      <p>
        Who is signed in to this console with a token. Whoever knows the token can sign in again: when
        somebody leaves, <a href={docsUrl("deploying.md#secrets")}>replace it</a>, which ends all its
        sessions. Whoever comes through Cloudflare Access is signed out there: in Zero Trust, under{" "}
        <i>Users</i>, with <i>Revoke session</i>.
      </p>
      <Table
        caption="Sessions"
        columns={c.var.mayOnlyRead ? COLUMNS : [...COLUMNS, SIGN_OUT]}
        rows={sessions}
        empty="Nobody is signed in with a token."
      />
    </>,
  );
}

const COLUMNS: readonly Column<SessionView>[] = [
  { name: "Operator", cell: ({ operator }) => operator ?? "no name" },
  { name: "Since", cell: ({ since }) => <Time iso={since} /> },
  { name: "Last used", cell: ({ lastUsedAt }) => <Time iso={lastUsedAt} /> },
  { name: "Until", cell: ({ endsAt }) => <Time iso={endsAt} /> },
  { name: "Session", isMinor: true, cell: ({ id }) => id },
];

const SIGN_OUT: Column<SessionView> = {
  name: "Action",
  isClear: true,
  cell: ({ id }) => (
    <form method="post">
      <input type="hidden" name="session" value={id} />
      <Submit tone="small">Sign out</Submit>
    </form>
  ),
};
