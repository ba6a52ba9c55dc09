/** `/console/customers/{id}` shows a customer: keys, use, bans, links and history, and what can be done to it. */
import { Hono } from "hono";
import type { Child } from "hono/jsx";
import { auditCalls } from "../../../admin/audit/calls.ts";
import { banCalls } from "../../../admin/bans/calls.ts";
import { customerCalls } from "../../../admin/customers/calls.ts";
import { reportQuery } from "../../../admin/customers/schema.ts";
import { keyCalls } from "../../../admin/keys/calls.ts";
import type { ListedKey } from "../../../admin/keys/schema.ts";
import { fileOf, inputOf } from "../../../admin/serve.ts";
import { usageCalls } from "../../../admin/usage/calls.ts";
import type { KeyUsageView } from "../../../admin/usage/schema.ts";
import type { AppEnv } from "../../../context.ts";
import { planName } from "../../../text/format.ts";
import { listOf } from "../../../text/says.ts";
import { daysBefore } from "../../../text/time.ts";

import { type ActionContext, addActionPages, offeredOf } from "../../kit/actions.tsx";
import { AsOf, Sparkline, UsageChart } from "../../kit/chart.tsx";

import { addressOf, ask, doneAddress, isDone, knownCustomers, queryOf } from "../../kit/forms.ts";
import { History, objectPage, openIn } from "../../kit/object.tsx";
import { page } from "../../kit/page.tsx";
import { chosenDay, hoursOfDays, Refusals } from "../../kit/refusals.tsx";
import { MonthReport, monthName } from "../../kit/report.tsx";

import {
  Badge,
  type Column,
  CreateKey,
  customerAddress,
  Definitions,
  LinkButton,
  MailTo,
  NONE,
  Notice,
  ShownCount,
  Table,
  Time,
  WindowGauges,
} from "../../kit/ui.tsx";
import { Bans } from "../bans.tsx";
import { changeTicked, KeysForm, type SeveralOutcome, SeveralResult, withTicks } from "../keys/several.tsx";
import { CUSTOMER_ACTIONS } from "./customer-actions.tsx";

const DAYS = 30;
const KEYS_SHOWN = 500;
const BANS_SHOWN = 20;
const ENTRIES_SHOWN = 10;

export const customerPages = new Hono<AppEnv>()
  .post("/:id", (c: ActionContext) => changeTicked(c, showCustomer))
  .get("/:id/report", async (c) => {
    const query = queryOf(c, reportQuery);
    const asked = { id: c.req.param("id"), query };
    if (query.format === "csv") return fileOf(c, customerCalls.report, asked);
    const report = await customerCalls.report.run(inputOf(c, asked));
    const { customer, month } = report;
    const actions = <LinkButton href={customerAddress(customer.id)}>The customer</LinkButton>;
    return page(
      c,
      { title: `${customer.name}, ${monthName(month)}`, actions },
      <MonthReport c={c} report={report} />,
    );
  });

addActionPages(
  customerPages,
  CUSTOMER_ACTIONS,
  (c, failure) => showCustomer(c, { ...(failure && { failure }) }),
  (c, _, made) => {
    const isMerge = "into" in made;
    const { id, version } = isMerge ? made.into : made; // a merge answers with the customer that is left
    const address = doneAddress(customerAddress(id), { ...made, version }, isMerge ? { merged: "yes" } : {});
    return c.redirect(address, 303);
  },
);

async function showCustomer(c: ActionContext, { failure, made }: SeveralOutcome = {}) {
  const found = await customerCalls.show.run(inputOf(c, { id: c.req.param("id") }));
  const { id, email, note, erasedAt, live, requestsPerMinute, requestsPerDay } = found;
  const limits = listOf(Object.entries({ requestsPerMinute, requestsPerDay }));
  const since = { customer: id, from: `${DAYS - 1}d` };
  // The limiters report when the usage is asked for, so the keys are read after it.
  const asked = ask(c, usageCalls.list, { ...since, limit: String(KEYS_SHOWN) });
  const listed = { customer: id, sort: "name", limit: String(KEYS_SHOWN), days: String(DAYS) };
  const [{ keys, next }, { bans, next: nextBan }, usage, days, { audit }, names, hours, chosen] =
    await Promise.all([
      asked.then(() => ask(c, keyCalls.list, listed)),
      ask(c, banCalls.list, { customer: id, limit: String(BANS_SHOWN) }),
      asked,
      ask(c, usageCalls.list, { ...since, by: "day" }),
      ask(c, auditCalls.list, { object: id, limit: String(ENTRIES_SHOWN) }),
      openIn(c, failure) === "merge" ? knownCustomers(c) : [],
      ask(c, usageCalls.list, { customer: id, ...hoursOfDays() }),
      chosenDay(c, "customer", id),
    ]);
  if (usage.by !== "key" || days.by !== "day" || hours.by !== "hour")
    throw new Error("usage by another group");
  const used = new Map(usage.rows.map((row) => [row.keyId, row]));
  const shown = { customer: found, names };
  const address = customerAddress(id);
  const isMerged = c.req.query("merged") !== undefined && isDone(c, found);
  const mayChange = !c.var.mayOnlyRead && erasedAt === null;
  const actions = erasedAt === null ? offeredOf(CUSTOMER_ACTIONS, shown) : [];
  const mayChangeKeys = mayChange && keys.some(({ status }) => status !== "revoked");
  const columns = keyColumns(used);
  const table = (
    <Table
      caption="Keys"
      columns={mayChangeKeys ? withTicks(columns, failure) : columns}
      rows={keys}
      empty="This customer has no key."
    />
  );
  return objectPage(
    c,
    {
      title: found.name,
      offered: { shown, actions, address, version: found.version },
      failure,
      // The entry of a merge is that of the customer who is gone.
      entries: isMerged ? [] : audit,
      head: (
        <>
          {erasedAt !== null && <Badge status="erased" />}
          {mayChange && <CreateKey href={addressOf("/console/keys/new", { customer: found.name })} />}
          <LinkButton href={`${address}/links`}>Links</LinkButton>
          <LinkButton href={addressOf("/console/usage", { customer: id, from: daysBefore(DAYS - 1) })}>
            Usage
          </LinkButton>
          <LinkButton href={`${address}/report`}>Report</LinkButton>
        </>
      ),
    },
    <>
      {isMerged && <Notice kind="good">The customer is merged into this one.</Notice>}
      <SeveralResult {...{ c, failure, made }} />
      <Definitions
        facts={[
          ["E-mail", email && <MailTo address={email} />],
          ["Note", note],
          ["Limit of all keys", live === null && limits],
          ["Id", <code>{id}</code>],
          ["Erased", erasedAt && <Time iso={erasedAt} />],
          ["Keys", next && `the first ${KEYS_SHOWN}`],
        ]}
      />
      {live !== null && (
        <section class="tiles" aria-label="Now">
          <WindowGauges of={live} whose=", all keys" />
        </section>
      )}
      <section>
        <h2>Keys</h2>
        {mayChangeKeys ? <KeysForm>{table}</KeysForm> : table}
        <p class="hint">
          The last {DAYS} days. <AsOf of={usage} />
        </p>
      </section>
      <section>
        <h2>Usage</h2>
        <UsageChart title={`Last ${DAYS} days`} rows={days.rows} by="day" asOf={days.asOf} />
      </section>
      <Refusals {...{ c, path: address, hours: hours.rows, chosen }} />
      <Bans bans={bans} hasKeys>
        {nextBan !== null && (
          <p class="hint">The last {BANS_SHOWN} bans. The page of a key has the others.</p>
        )}
      </Bans>
      <History entries={audit} mayUndo={mayChange} />
    </>,
  );
}

function keyColumns(used: ReadonlyMap<string, KeyUsageView>): Column<ListedKey>[] {
  const ofUse = (name: string, cell: (usage: KeyUsageView) => Child) => ({
    name,
    isNumber: true,
    cell: ({ id }: ListedKey) => {
      const usage = used.get(id);
      return usage === undefined ? NONE : cell(usage);
    },
  });
  return [
    { name: "Key", cell: ({ id, name }) => <a href={`/console/keys/${id}`}>{name}</a> },
    { name: "Status", isClear: true, cell: ({ status }) => <Badge status={status} /> },
    { name: "Plan", isClear: true, cell: ({ plan }) => planName(plan) },
    {
      name: `${DAYS} days`,
      cell: ({ days = [] }) => <Sparkline days={days} />,
    },
    ofUse("Days over 80 %", ({ daysNear }) => <ShownCount value={daysNear} />),
    ofUse("Peak", ({ peakPercent }) => `${peakPercent} %`),
    ofUse("Admitted", ({ admitted }) => <ShownCount value={admitted} />),
    ofUse("Refused", ({ refused }) => <ShownCount value={refused} />),
  ];
}
