/** `/console/alerts`: what the webhook was told, and a test alert. */
import { Hono } from "hono";
import { addressOf, queryOf } from "../../console/forms.ts";
import { Pages, Presets } from "../../console/list.tsx";
import { type ConsoleContext, page } from "../../console/page.tsx";
import { Badge, type Column, Notice, Relative, Table, Time } from "../../console/ui.tsx";
import type { AppEnv } from "../../context.ts";
import { ALERT_STATES } from "../../db/values.ts";
import { fileOf, inputOf } from "../serve.ts";
import { alertCalls } from "./calls.ts";
import type { Sent } from "./deliver.ts";
import { type AlertView, alertQuery } from "./schema.ts";

const PATH = "/console/alerts";
const ALERTS_PER_PAGE = 50;

export const alertPages = new Hono<AppEnv>()
  .get("/", (c) => showAlerts(c))
  .get("/test", (c) => c.redirect(PATH))
  .post("/test", async (c) => showAlerts(c, await alertCalls.test.run(inputOf(c, {}))));

async function showAlerts(c: ConsoleContext, sent?: Sent) {
  const query = { ...queryOf(c, alertQuery), limit: ALERTS_PER_PAGE };
  if (query.format === "csv") return fileOf(c, alertCalls.list, query);
  const { alerts, next, configured } = await alertCalls.list.run(inputOf(c, { query }));
  return page(
    c,
    { title: "Alerts", actions: configured && !c.var.mayOnlyRead && <SendTest /> },
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
      <Presets
        links={(["all", ...ALERT_STATES] as const).map((state) => [
          state.charAt(0).toUpperCase() + state.slice(1),
          addressOf(PATH, { state }),
          state === query.state,
        ])}
      />
      <Table caption="Alerts" columns={COLUMNS} rows={alerts} empty="There is no alert." />
      <Pages c={c} next={next} />
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
