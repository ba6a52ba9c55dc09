/** `/console/alerts`: what the webhook was told, and a test alert. */
import { Hono } from "hono";
import { addressOf, queryOf } from "../../console/forms.ts";
import { type ConsoleContext, page } from "../../console/page.tsx";
import { Badge, type Column, Notice, Pager, Relative, Table, Time } from "../../console/ui.tsx";
import type { AppEnv } from "../../context.ts";
import { fromCursor, isTime, toCursor } from "../http/cursor.ts";
import type { Sent } from "./deliver.ts";
import type { AlertView } from "./schema.ts";
import { alertQuery } from "./schema.ts";
import { findAlerts, sendTestAlert } from "./service.ts";

const PATH = "/console/alerts";
const ALERTS_PER_PAGE = 50;
const STATES = [
  ["all", "All"],
  ["pending", "Pending"],
  ["delivered", "Delivered"],
  ["failed", "Failed"],
] as const;

export const alertPages = new Hono<AppEnv>()
  .get("/", (c) => alertPage(c))
  .get("/test", (c) => c.redirect(PATH))
  .post("/test", async (c) => alertPage(c, await sendTestAlert(c.env, c.var.author.actor)));

async function alertPage(c: ConsoleContext, sent?: Sent) {
  const { state, after } = queryOf(c, alertQuery);
  const filter = { state, limit: ALERTS_PER_PAGE, after: fromCursor("alerts", after, isTime) };
  const { alerts, next, configured } = await findAlerts(c.env, filter);
  return page(
    c,
    { title: "Alerts", actions: configured && <SendTest /> },
    <>
      {sent && (
        <Notice kind={sent.delivered ? "good" : "bad"}>
          <p>
            {sent.delivered
              ? "The test alert was delivered."
              : `The test alert was not delivered: ${sent.error}.`}
          </p>
        </Notice>
      )}
      {!configured && (
        <Notice kind="warn">
          <p>
            Alerts are off. Set the var <code>ALERT_WEBHOOK_URL</code> and the secret{" "}
            <code>ALERT_WEBHOOK_SECRET</code> to be told of bans, of keys at 80 % and 100 % of their day, and
            of keys that expire within 7 days.
          </p>
        </Notice>
      )}
      <p class="presets">
        {STATES.map(([value, name]) => (
          <a href={addressOf(PATH, { state: value })} aria-current={state === value ? "true" : undefined}>
            {name}
          </a>
        ))}
      </p>
      <Table caption="Alerts" columns={COLUMNS} rows={alerts} empty="There is no alert." />
      <Pager
        first={after === undefined ? undefined : addressOf(PATH, { state })}
        next={next === null ? undefined : addressOf(PATH, { state, after: toCursor("alerts", next) })}
      />
    </>,
  );
}

function SendTest() {
  return (
    <form method="post" action={`${PATH}/test`}>
      <button type="submit" class="button">
        Send test alert
      </button>
    </form>
  );
}

const COLUMNS: readonly Column<AlertView>[] = [
  { name: "Alert", cell: ({ keyId, text }) => <a href={`/console/keys/${keyId}`}>{text}</a> },
  { name: "Type", cell: ({ type }) => type },
  { name: "At", cell: ({ at }) => <Time iso={at} /> },
  { name: "State", cell: ({ state }) => <Badge status={state} /> },
  { name: "Attempts", isNumber: true, cell: ({ attempts }) => attempts },
  { name: "Last error", cell: ({ lastError }) => lastError ?? "–" },
  {
    name: "Next attempt",
    cell: ({ nextAttemptAt }) => (nextAttemptAt === null ? "–" : <Relative iso={nextAttemptAt} />),
  },
];
