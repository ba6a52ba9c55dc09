/** `/console` shows first what needs an operator, and then how many requests there were. */

import { banCalls } from "../../admin/bans/calls.ts";
import { keyCalls } from "../../admin/keys/calls.ts";
import type { KeyView } from "../../admin/keys/schema.ts";
import { usageCalls } from "../../admin/usage/calls.ts";
import type { KeyUsageView, TimeUsage } from "../../admin/usage/schema.ts";
import { healthOf } from "../../client/health-check.ts";
import { NEAR_LIMIT_PERCENT } from "../../db/values.ts";
import { settingsOf } from "../../platform/settings.ts";
import { counted, formatNumber, formatPercent } from "../../text/format.ts";
import { DAY_SECONDS, daysBefore, HOUR_SECONDS } from "../../text/time.ts";
import { AsOf, RangeLinks, rangeIn, UsageChart } from "../kit/chart.tsx";
import { addressOf, ask } from "../kit/forms.ts";
import { type ConsoleContext, page } from "../kit/page.tsx";
import { alertReceiver } from "../kit/receiver.tsx";
import { Notice, Owner, Relative, Table, Term } from "../kit/ui.tsx";
import { ReceiverNotice } from "./alerts/receiver-notice.tsx";
import { BAN_COLUMNS } from "./bans/columns.tsx";

const SHOWN = 10;
const MOST_USED = addressOf("/console/usage", { sort: "percent" });
const EXPIRING_DAYS = 30;

export async function overviewPage(c: ConsoleContext) {
  const shown = rangeIn(c, "7d");
  const expiringBefore = daysBefore(-EXPIRING_DAYS);
  const expire = { status: "usable", expiringBefore, sort: "expiry" };
  const limit = String(SHOWN);
  const [receiver, { bans }, mostUsed, requests, expiring, { failures, untoldKeys }] = await Promise.all([
    alertReceiver(c),
    ask(c, banCalls.list, { state: "live", limit }),
    ask(c, usageCalls.list, { sort: "percent", limit }),
    ask(c, usageCalls.list, { by: shown.by, from: shown.from }),
    ask(c, keyCalls.list, { ...expire, limit }),
    healthOf(c.env),
  ]);
  if (mostUsed.by !== "key" || requests.by !== shown.by) throw new Error("usage by another group");
  const { problems } = settingsOf(c.env);
  const near = mostUsed.rows.filter(({ percent }) => percent >= NEAR_LIMIT_PERCENT);
  const allExpiring = addressOf("/console/keys", expire);
  return page(
    c,
    { title: "Overview" },
    <>
      {failures.length > 0 ? (
        <Notice kind="bad">
          <p>Cannot be reached: {failures.join(", ")}.</p>
        </Notice>
      ) : (
        <p>
          <span class="badge good">healthy</span> The database and the <Term name="limiter">limiters</Term>{" "}
          answer.{" "}
          {untoldKeys > 0 && `The limiters of ${counted(untoldKeys, "key")} have not been told of a change.`}
        </p>
      )}
      <ReceiverNotice receiver={receiver} />
      {problems.length > 0 && (
        <Notice kind="warn">
          <p>Settings that are wrong, and therefore off:</p>
          <ul>
            {problems.map(({ names, rule }) => (
              <li>
                {names} {rule}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      <div class="columns">
        <section>
          <h2>Live bans</h2>
          <Table
            caption="Live bans"
            columns={[key, owner, ends, why]}
            rows={bans}
            empty="No key is banned."
          />
          {bans.length === SHOWN && <a href="/console/bans">All live bans</a>}
        </section>
        <section>
          <h2>Over {NEAR_LIMIT_PERCENT} % of the daily limit today</h2>
          <Table
            caption="Keys close to their daily limit"
            columns={NEAR_COLUMNS}
            rows={near}
            empty={`No key is over ${NEAR_LIMIT_PERCENT} %.`}
          />
          {near.length === SHOWN && <a href={MOST_USED}>All keys, by share of their limit</a>}
          <p class="hint">
            <AsOf iso={mostUsed.asOf} />
          </p>
        </section>
        <section>
          <h2>Expire within {EXPIRING_DAYS} days</h2>
          <Table
            caption="Keys that expire soon"
            columns={EXPIRING_COLUMNS}
            rows={expiring.keys}
            empty={`No key expires within ${EXPIRING_DAYS} days.`}
          />
          {expiring.next !== null && <a href={allExpiring}>All keys that expire</a>}
        </section>
      </div>
      <Requests c={c} usage={requests} shown={shown} />
    </>,
  );
}

type RequestsProps = {
  readonly c: ConsoleContext;
  readonly usage: { readonly rows: readonly TimeUsage[]; readonly total: Omit<TimeUsage, "start"> };
  readonly shown: ReturnType<typeof rangeIn>;
};

function Requests({ c, usage: { rows, total }, shown }: RequestsProps) {
  const { admitted, refused, refusedWhileBanned } = total;
  const all = admitted + refused + refusedWhileBanned;
  const minutes = (rows.length * (shown.by === "day" ? DAY_SECONDS : HOUR_SECONDS)) / 60;
  return (
    <section>
      <div class="section-head">
        <h2>Requests</h2>
        <RangeLinks c={c} shown={shown} />
      </div>
      <div class="tiles">
        <Tile
          name="admitted"
          value={admitted}
          rate={`${formatNumber(Math.round(admitted / minutes))} a minute`}
        />
        <Tile name="refused by a limit" value={refused} rate={`${formatPercent(refused, all)} of all`} />
        <Tile
          name="blocked by bans"
          value={refusedWhileBanned}
          rate={`${formatPercent(refusedWhileBanned, all)} of all`}
        />
      </div>
      <UsageChart title={`The last ${shown.name}`} rows={rows} by={shown.by} />
    </section>
  );
}

type TileProps = { readonly name: string; readonly value: number; readonly rate: string };

function Tile({ name, value, rate }: TileProps) {
  return (
    <div class="tile">
      <p>
        <strong>{formatNumber(value)}</strong> {name}
      </p>
      <p class="muted">{rate}</p>
    </div>
  );
}

const { key, owner, why, ends } = BAN_COLUMNS;

const NEAR_COLUMNS = [
  { name: "Key", cell: (key: KeyUsageView) => <a href={`/console/keys/${key.keyId}`}>{key.keyName}</a> },
  { name: "Owner", cell: (key: KeyUsageView) => <Owner name={key.ownerName ?? key.ownerEmail} /> },
  { name: "Plan", cell: (key: KeyUsageView) => key.plan },
  { name: "Used", isNumber: true, cell: (key: KeyUsageView) => `${key.percent} %` },
];

const EXPIRING_COLUMNS = [
  { name: "Key", cell: (key: KeyView) => <a href={`/console/keys/${key.id}`}>{key.name}</a> },
  { name: "Owner", cell: (key: KeyView) => <Owner name={key.ownerName ?? key.ownerEmail} /> },
  { name: "Expires", cell: (key: KeyView) => key.expiresAt !== null && <Relative iso={key.expiresAt} /> },
];
