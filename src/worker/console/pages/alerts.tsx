/** `/console/alerts` lists what the webhook was told, and sends a test alert. */
import { Hono } from "hono";
import * as v from "valibot";
import { alertCalls } from "../../admin/alerts/calls.ts";
import { type AlertView, alertQuery, type ReceiverView } from "../../admin/alerts/schema.ts";
import { fileOf, inputOf } from "../../admin/serve.ts";
import type { AppEnv } from "../../context.ts";
import { ALERT_STATES } from "../../db/values.ts";
import { capital } from "../../text/format.ts";
import { addressOf, doneAddress, isDone, queryOf } from "../kit/forms.ts";
import { CsvLink, NoRows, Pages, Presets } from "../kit/list.tsx";
import { type ConsoleContext, docsUrl, page } from "../kit/page.tsx";
import {
  Badge,
  type Column,
  customerAddress,
  NONE,
  Notice,
  Relative,
  Submit,
  Table,
  Time,
} from "../kit/ui.tsx";

const PATH = "/console/alerts";
const ALERTS_PER_PAGE = 50;
const QUERY = v.strictObject({ ...alertQuery.entries, done: v.optional(v.string()) });

export const alertPages = new Hono<AppEnv>()
  .get("/", async (c) => {
    const { done: _, ...filters } = queryOf(c, QUERY);
    const query = { ...filters, limit: ALERTS_PER_PAGE };
    return query.format === "csv" ? fileOf(c, alertCalls.list, { query }) : showAlerts(c, query);
  })
  .post("/", async (c) => {
    const { at } = await alertCalls.test.run(inputOf(c, {}));
    return c.redirect(doneAddress(PATH, { version: at }, c.req.query()), 303);
  });

async function showAlerts(c: ConsoleContext, query: v.InferOutput<typeof alertQuery>) {
  const { alerts, next, receiver } = await alertCalls.list.run(inputOf(c, { query }));
  return page(
    c,
    {
      title: "Alerts",
      actions: (
        <>
          <CsvLink c={c} />
          {receiver !== null && !c.var.mayOnlyRead && (
            // Without an action, it is sent to the address of the list, so the answer has the same filter.
            <form method="post">
              <Submit>Send test alert</Submit>
            </form>
          )}
        </>
      ),
    },
    <>
      {receiver === null ? <NoWebhook /> : <Receiver c={c} receiver={receiver} />}
      <Presets
        links={(["all", ...ALERT_STATES] as const).map((state) => [
          capital(state),
          addressOf(PATH, { state }),
          state === query.state,
        ])}
      />
      <Table
        caption="Alerts"
        columns={COLUMNS}
        rows={alerts}
        empty={
          <NoRows c={c} noun={query.state === "all" ? "alert" : `${query.state} alert`}>
            {CAUSES} <a href={docsUrl("runbook.md#alerts")}>All alerts</a>
          </NoRows>
        }
      />
      <Pages c={c} next={next} />
    </>,
  );
}

const CAUSES =
  "An alert is sent when a key is banned, when an operator bans a key or lifts a ban, when a key, or a customer with a limit, has used 80 % or 100 % of its day, when a key expires within 7 days, and when an owner gets a link.";

function NoWebhook() {
  return (
    <Notice kind="warn">
      Alerts are off. Set the secrets <code>ALERT_WEBHOOK_URL</code> and <code>ALERT_WEBHOOK_SECRET</code>.
      The address is a secret too: whoever has it can post.{" "}
      <a href={docsUrl("runbook.md#configure")}>How to configure the webhook</a>
    </Notice>
  );
}

function Receiver({ c, receiver }: { readonly c: ConsoleContext; readonly receiver: ReceiverView }) {
  const { state, says, lastError, host } = receiver;
  const isSent = isDone(c, { version: receiver.answeredAt ?? "" });
  return (
    <>
      {isSent && (
        <Notice kind={lastError === null ? "good" : "bad"}>
          {lastError === null
            ? `${host} accepted the alert.`
            : `${host} did not accept the alert: ${lastError}.`}
        </Notice>
      )}
      {state === "ok" ? (
        <p class="muted">{says}</p>
      ) : (
        <Notice kind={state === "off" ? "bad" : "warn"}>{says}</Notice>
      )}
    </>
  );
}

const COLUMNS: readonly Column<AlertView>[] = [
  {
    name: "Alert",
    cell: ({ keyId, customerId, text }) => (
      <a href={keyId === null ? customerAddress(customerId ?? "") : `/console/keys/${keyId}`}>{text}</a>
    ),
  },
  { name: "At", cell: ({ at }) => <Time iso={at} /> },
  { name: "State", isClear: true, cell: ({ state }) => <Badge status={state} /> },
  { name: "Attempts", isNumber: true, cell: ({ attempts }) => attempts },
  {
    name: "Last answer",
    cell: ({ deliveredAt, lastError }) =>
      deliveredAt === null ? (
        (lastError ?? NONE)
      ) : (
        <>
          accepted, <Time iso={deliveredAt} />
        </>
      ),
  },
  {
    name: "Next attempt",
    cell: ({ nextAttemptAt }) =>
      nextAttemptAt === null ? NONE : <Relative iso={nextAttemptAt} then="is due" />,
  },
];
