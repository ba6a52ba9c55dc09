/** `/console/customers/{owner}` shows a customer's keys, usage, bans, contacts and notes. */
import { Hono } from "hono";
import type { Child } from "hono/jsx";
import { banCalls } from "../../../admin/bans/calls.ts";
import type { ListedBan } from "../../../admin/bans/schema.ts";
import { keyCalls } from "../../../admin/keys/calls.ts";
import type { KeyView } from "../../../admin/keys/schema.ts";
import { planCalls } from "../../../admin/plans/calls.ts";
import { inputOf } from "../../../admin/serve.ts";
import { usageCalls } from "../../../admin/usage/calls.ts";
import type { KeyUsageView } from "../../../admin/usage/schema.ts";
import type { AppEnv } from "../../../context.ts";
import { notFound } from "../../../platform/errors.ts";
import { formatNumber } from "../../../text/format.ts";
import { daysBefore } from "../../../text/time.ts";
import { AsOf, UsageChart } from "../../kit/chart.tsx";
import { addressOf, ask } from "../../kit/forms.ts";
import { type ConsoleContext, page } from "../../kit/page.tsx";
import { Badge, type Column, Count, Definitions, MailTo, NONE, Notice, Table, Time } from "../../kit/ui.tsx";
import { BAN_COLUMNS } from "../bans/columns.tsx";
import { adviceTo } from "./advice.tsx";

const DAYS = 30;
const KEYS_SHOWN = 500;
const BANS_SHOWN = 20;

export const customerPages = new Hono<AppEnv>().get("/:owner", (c) => showCustomer(c, c.req.param("owner")));

async function showCustomer(c: ConsoleContext, owner: string) {
  const since = { owner, from: `${DAYS - 1}d` };
  const [{ keys, next }, { bans, next: nextBan }, usage, days, { plans }] = await Promise.all([
    ask(c, keyCalls.list, { owner, sort: "name", limit: String(KEYS_SHOWN) }),
    ask(c, banCalls.list, { owner, limit: String(BANS_SHOWN) }),
    ask(c, usageCalls.list, { ...since, sort: "near", limit: String(KEYS_SHOWN) }),
    ask(c, usageCalls.list, { ...since, by: "day" }),
    planCalls.list.run(inputOf(c, {})),
  ]);
  if (usage.by !== "key" || days.by !== "day") throw new Error("usage by another group");
  const [first] = keys;
  if (first === undefined && usage.rows.length === 0) throw notFound("No key has this owner.");
  const name = first?.ownerName ?? first?.ownerEmail ?? owner;
  const [near] = usage.rows;
  const advice = near && adviceTo({ ...near, owner: name }, DAYS, plans);
  const used = new Map(usage.rows.map((row) => [row.keyId, row]));
  const emails = [...new Set(keys.flatMap(({ ownerEmail }) => ownerEmail ?? []))];
  return page(
    c,
    {
      title: name,
      actions: (
        <a class="button" href={addressOf("/console/usage", { owner, from: daysBefore(DAYS - 1) })}>
          Usage
        </a>
      ),
    },
    <>
      {advice && (
        <Notice kind="warn">
          <p>
            {advice.says} {!c.var.mayOnlyRead && advice.helps}
          </p>
        </Notice>
      )}
      <Definitions
        facts={[
          ["E-mail", emails.length === 0 ? NONE : emails.map((address) => <MailTo address={address} />)],
          ["Keys", next === null ? formatNumber(keys.length) : `the first ${KEYS_SHOWN}`],
        ]}
      />
      <section>
        <h2>Keys</h2>
        <Table
          caption="Keys"
          columns={keyColumns(used)}
          rows={keys}
          empty="The keys of this customer have other owners now."
        />
        <p class="hint">
          The last {DAYS} days. <AsOf c={c} iso={usage.asOf} unreachable={usage.unreachable} />
        </p>
      </section>
      <section>
        <h2>Usage</h2>
        <UsageChart title={`Last ${DAYS} days`} rows={days.rows} by="day" asOf={days.asOf} />
      </section>
      <section>
        <h2>Bans</h2>
        <Table
          caption="Bans"
          columns={BANS_OF_CUSTOMER}
          rows={bans}
          empty="No key of this customer was banned."
        />
        {nextBan !== null && (
          <p class="hint">The last {BANS_SHOWN} bans. The page of a key has the others.</p>
        )}
      </section>
    </>,
  );
}

function keyColumns(used: ReadonlyMap<string, KeyUsageView>): Column<KeyView>[] {
  const ofUse = (name: string, cell: (usage: KeyUsageView) => Child) => ({
    name,
    isNumber: true,
    cell: ({ id }: KeyView) => {
      const usage = used.get(id);
      return usage === undefined ? NONE : cell(usage);
    },
  });
  return [
    { name: "Key", cell: ({ id, name }) => <a href={`/console/keys/${id}`}>{name}</a> },
    { name: "Status", isClear: true, cell: ({ status }) => <Badge status={status} /> },
    { name: "Plan", isClear: true, cell: ({ plan }) => plan },
    ofUse("Days near", ({ daysNear }) => <Count value={daysNear} />),
    ofUse("Median", ({ medianPercent }) => `${medianPercent} %`),
    ofUse("Peak", ({ peakPercent }) => `${peakPercent} %`),
    ofUse("Admitted", ({ admitted }) => <Count value={admitted} />),
    ofUse("Refused", ({ refused }) => <Count value={refused} />),
    { name: "Note", cell: ({ note }) => note ?? NONE },
  ];
}

const { key, why, began } = BAN_COLUMNS;
const BANS_OF_CUSTOMER: readonly Column<ListedBan>[] = [
  key,
  why,
  began,
  { name: "Ended, or ends", cell: ({ liftedAt, endsAt }) => <Time iso={liftedAt ?? endsAt} /> },
];
