/** `/console/alerts` lists what the webhook was told, sends an alert again, and sends a test alert. */
import { Hono } from "hono";
import type { PropsWithChildren } from "hono/jsx";
import { alertCalls } from "../../../admin/alerts/calls.ts";
import type { Sent } from "../../../admin/alerts/deliver.ts";
import { type AlertView, alertQuery } from "../../../admin/alerts/schema.ts";
import { fileOf, inputOf } from "../../../admin/serve.ts";
import type { AppEnv } from "../../../context.ts";
import { ALERT_STATES } from "../../../db/values.ts";
import { addressOf, formOf, queryOf } from "../../kit/forms.ts";
import { CsvLink, Pages, Presets } from "../../kit/list.tsx";
import { type ConsoleContext, docsUrl, page } from "../../kit/page.tsx";
import { Badge, type Column, Notice, Relative, Table, Time } from "../../kit/ui.tsx";

const PATH = "/console/alerts";
const ALERTS_PER_PAGE = 50;

export const alertPages = new Hono<AppEnv>()
  .get("/", (c) => showAlerts(c))
  .post("/", async (c) => {
    const { id } = await formOf(c);
    const call =
      id === undefined ? alertCalls.test.run(inputOf(c, {})) : alertCalls.resend.run(inputOf(c, { id }));
    return showAlerts(c, await call);
  });

async function showAlerts(c: ConsoleContext, sent?: Sent) {
  const query = { ...queryOf(c, alertQuery), limit: ALERTS_PER_PAGE };
  if (query.format === "csv") return fileOf(c, alertCalls.list, query);
  const { alerts, next, configured } = await alertCalls.list.run(inputOf(c, { query }));
  const maySend = configured && !c.var.mayOnlyRead;
  return page(
    c,
    {
      title: "Alerts",
      actions: (
        <>
          <CsvLink c={c} />
          {maySend && <Send>Send test alert</Send>}
        </>
      ),
    },
    <>
      {sent && (
        <Notice kind={sent.delivered ? "good" : "bad"}>
          <p>{sent.delivered ? "The alert was delivered." : `The alert was not delivered: ${sent.error}.`}</p>
        </Notice>
      )}
      {!configured && (
        <Notice kind="warn">
          <p>
            Alerts are off. Set the secrets <code>ALERT_WEBHOOK_URL</code> and{" "}
            <code>ALERT_WEBHOOK_SECRET</code> to be told of bans, of keys at 80 % and 100 % of their day, and
            of keys that expire within 7 days. The address is a secret too: whoever has it can post.{" "}
            <a href={docsUrl("runbook.md#configure")}>How to configure the webhook</a>
          </p>
        </Notice>
      )}
      <Presets
        links={(["all", ...ALERT_STATES] as const).map((state) => [
          state.charAt(0).toUpperCase() + state.slice(1),
          addressOf(PATH, { state }),
          state === query.state,
        ])}
      />
      <Table
        caption="Alerts"
        columns={maySend ? [...COLUMNS, SEND_AGAIN] : COLUMNS}
        rows={alerts}
        empty="There is no alert."
      />
      {maySend && alerts.length > 0 && (
        <p class="hint">
          An alert that is sent again has the same webhook-id, so that the receiver can drop an alert that it
          has.
        </p>
      )}
      <Pages c={c} next={next} />
    </>,
  );
}

/** A form without an action is sent to the address of the list, so the answer has the same filter. */
function Send({ id, children }: PropsWithChildren<{ readonly id?: string }>) {
  return (
    <form method="post">
      {id !== undefined && <input type="hidden" name="id" value={id} />}
      <button type="submit" class={id === undefined ? "button" : "button small"}>
        {children}
      </button>
    </form>
  );
}

const COLUMNS: readonly Column<AlertView>[] = [
  { name: "Alert", cell: ({ keyId, text }) => <a href={`/console/keys/${keyId}`}>{text}</a> },
  { name: "At", cell: ({ at }) => <Time iso={at} /> },
  { name: "State", cell: ({ state }) => <Badge status={state} /> },
  { name: "Attempts", isNumber: true, cell: ({ attempts }) => attempts },
  {
    name: "Last answer",
    cell: ({ deliveredAt, lastError }) =>
      deliveredAt === null ? (
        (lastError ?? "–")
      ) : (
        <>
          accepted, <Time iso={deliveredAt} />
        </>
      ),
  },
  {
    name: "Next attempt",
    cell: ({ nextAttemptAt }) => (nextAttemptAt === null ? "–" : <Relative iso={nextAttemptAt} />),
  },
];

const SEND_AGAIN: Column<AlertView> = { name: "Action", cell: ({ id }) => <Send id={id}>Send again</Send> };
