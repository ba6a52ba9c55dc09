/** `/console/customers/{owner}` shows a customer's keys, usage, bans, contacts and notes. */
import { Hono } from "hono";
import { type ListedBan, listBans } from "../../../admin/bans/list-sql.ts";
import { listKeys } from "../../../admin/keys/list-sql.ts";
import type { KeyView } from "../../../admin/keys/schema.ts";
import { countedUntil, lastDays, listUsageOverTime } from "../../../admin/usage/service.ts";
import { type GroupRow, listGroups } from "../../../admin/usage/sql.ts";
import type { AppEnv } from "../../../context.ts";
import { openDatabase } from "../../../db/database.ts";
import { readNearest } from "../../../db/session.ts";
import { notFound } from "../../../platform/errors.ts";
import { formatNumber } from "../../../text/format.ts";
import { daysBefore, nowSeconds } from "../../../text/time.ts";
import { AsOf, UsageChart } from "../../kit/chart.tsx";
import { addressOf } from "../../kit/forms.ts";
import { type ConsoleContext, page } from "../../kit/page.tsx";
import { Badge, type Column, Facts, MailTo, Notice, Table, Time } from "../../kit/ui.tsx";
import { BAN_COLUMNS } from "../bans/columns.tsx";
import { adviceTo } from "./advice.ts";

const DAYS = 30;
const KEYS_SHOWN = 500;
const BANS_SHOWN = 20;

export const customerPages = new Hono<AppEnv>().get("/:owner", (c) => showCustomer(c, c.req.param("owner")));

async function showCustomer(c: ConsoleContext, owner: string) {
  const [db, now] = [openDatabase(c.env.DB), nowSeconds()];
  const range = lastDays(DAYS);
  const nearest = { sort: "near", direction: "desc", limit: KEYS_SHOWN } as const;
  const [{ keys, next }, { bans, next: nextBan }, [{ rows: usage }, days]] = await Promise.all([
    listKeys(db, { owner, sort: "name", direction: "asc", limit: KEYS_SHOWN }, now),
    listBans(db, { state: "all", owner, limit: BANS_SHOWN }, now),
    readNearest(c.env, undefined, ({ db }) =>
      Promise.all([
        listGroups(db, "key", { ...range, owner }, nearest, DAYS),
        listUsageOverTime(db, { ...range, owner }, "day"),
      ]),
    ),
  ]);
  const [first] = keys;
  if (first === undefined) throw notFound("No key has this owner.");
  const name = first.ownerName ?? first.ownerEmail ?? owner;
  const [near] = usage;
  const advice = near && adviceTo({ ...near, owner: name }, DAYS);
  const used = new Map(usage.map((row) => [row.nearKey, row]));
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
          <p>{advice}</p>
        </Notice>
      )}
      <Facts
        facts={[
          ["E-mail", emails.length === 0 ? "–" : emails.map((address) => <MailTo address={address} />)],
          ["Keys", next === null ? formatNumber(keys.length) : `the first ${KEYS_SHOWN}`],
        ]}
      />
      <section>
        <h2>Keys</h2>
        <Table caption="Keys" columns={keyColumns(used)} rows={keys} empty="" />
        <p class="hint">
          The last {DAYS} days. <AsOf iso={countedUntil(range)} />
        </p>
      </section>
      <section>
        <h2>Usage</h2>
        <UsageChart title={`Last ${DAYS} days`} rows={days} by="day" />
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

function keyColumns(used: ReadonlyMap<string, GroupRow>): Column<KeyView>[] {
  const ofUse = (name: string, cell: (usage: GroupRow) => string) => ({
    name,
    isNumber: true,
    cell: ({ id }: KeyView) => {
      const usage = used.get(id);
      return usage === undefined ? "–" : cell(usage);
    },
  });
  return [
    { name: "Key", cell: ({ id, name }) => <a href={`/console/keys/${id}`}>{name}</a> },
    { name: "Status", cell: ({ status }) => <Badge status={status} /> },
    { name: "Plan", cell: ({ plan }) => plan },
    ofUse("Days near", ({ daysNear }) => `${daysNear} of ${DAYS}`),
    ofUse("Median", ({ medianPercent }) => `${medianPercent} %`),
    ofUse("Peak", ({ peakPercent }) => `${peakPercent} %`),
    ofUse("Admitted", ({ admitted }) => formatNumber(admitted)),
    ofUse("Refused", ({ refused }) => formatNumber(refused)),
    { name: "Note", cell: ({ note }) => note ?? "–" },
  ];
}

const { key, why, began } = BAN_COLUMNS;
const BANS_OF_CUSTOMER: readonly Column<ListedBan>[] = [
  key,
  why,
  began,
  { name: "Ended, or ends", cell: ({ ban }) => <Time iso={ban.liftedAt ?? ban.endsAt} /> },
];
