/** `/console/customers/{owner}`: a customer's keys, usage, bans, contacts and notes on one page. */
import { Hono } from "hono";
import { AsOf, UsageChart } from "../../console/chart.tsx";
import { addressOf } from "../../console/forms.ts";
import { type ConsoleContext, page } from "../../console/page.tsx";
import { Badge, type Column, Facts, MailTo, Notice, Table, Time } from "../../console/ui.tsx";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import type { UsageSort } from "../../db/values.ts";
import { notFound } from "../../errors.ts";
import { formatNumber } from "../../format.ts";
import { DAY_SECONDS, daysBefore, nowSeconds, rfc3339 } from "../../time.ts";
import { listBans, type NamedBan } from "../bans/list-sql.ts";
import { listKeys } from "../keys/list-sql.ts";
import type { KeyView } from "../keys/schema.ts";
import { inputOf } from "../serve.ts";
import { adviceTo } from "./advice.ts";
import { usageCalls } from "./calls.ts";
import type { KeyUsageView } from "./schema.ts";

const DAYS = 30;
const KEYS_SHOWN = 500;
const BANS_SHOWN = 20;

export const customerPages = new Hono<AppEnv>().get("/:owner", (c) => showCustomer(c, c.req.param("owner")));

async function showCustomer(c: ConsoleContext, owner: string) {
  const db = openDatabase(c.env.DB);
  const now = nowSeconds();
  const { keys } = await listKeys(db, { owner, sort: "name", direction: "asc", limit: KEYS_SHOWN }, now);
  const [first] = keys;
  if (first === undefined) throw notFound("No key has this owner.");
  const from = now - (DAYS - 1) * DAY_SECONDS;
  const usageOf = (by: "key" | "owner" | "day", sort: UsageSort) => {
    const query = { by, sort, owner, from, limit: KEYS_SHOWN, format: "json" } as const;
    return usageCalls.list.run(inputOf(c, { query }));
  };
  const [byKey, byOwner, byDay, bans] = await Promise.all([
    usageOf("key", "near"),
    usageOf("owner", "near"),
    usageOf("day", "admitted"),
    listBans(db, { state: "all", owner, limit: BANS_SHOWN }, now),
  ]);
  const advice = byOwner.by === "owner" ? byOwner.rows.map((row) => adviceTo(row, byOwner)).join("") : "";
  const used = new Map(byKey.by === "key" ? byKey.rows.map((row) => [row.keyId, row]) : []);
  const emails = [...new Set(keys.flatMap(({ ownerEmail }) => ownerEmail ?? []))];
  return page(
    c,
    { title: first.ownerName ?? first.ownerEmail ?? owner },
    <>
      {advice && (
        <Notice kind="warn">
          <p>{advice}</p>
        </Notice>
      )}
      <Facts
        facts={[
          ["E-mail", emails.length === 0 ? "–" : emails.map((address) => <MailTo address={address} />)],
          ["Keys", formatNumber(keys.length)],
          [
            "More",
            <a href={addressOf("/console/usage", { owner, from: daysBefore(DAYS - 1) })}>
              Usage of any range
            </a>,
          ],
        ]}
      />
      <section>
        <h2>Keys</h2>
        <Table caption="Keys" columns={keyColumns(used)} rows={keys} empty="" />
        <p class="hint">
          The last {DAYS} days. <AsOf iso={byKey.asOf} />
        </p>
      </section>
      <section>
        <h2>Usage</h2>
        <UsageChart title={`Last ${DAYS} days`} rows={byDay.by === "day" ? byDay.rows : []} by="day" />
      </section>
      <section>
        <h2>Bans</h2>
        <Table caption="Bans" columns={BAN_COLUMNS} rows={bans} empty="No key of this customer was banned." />
      </section>
    </>,
  );
}

function keyColumns(used: ReadonlyMap<string, KeyUsageView>): Column<KeyView>[] {
  const ofUse = (name: string, cell: (usage: KeyUsageView) => string) => ({
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

const BAN_COLUMNS: readonly Column<NamedBan>[] = [
  {
    name: "Key",
    cell: ({ ban, keyName }) => <a href={`/console/keys/${ban.keyId}`}>{keyName ?? ban.keyId}</a>,
  },
  { name: "Cause", cell: ({ ban }) => ban.cause },
  { name: "Reason", cell: ({ ban }) => ban.reason ?? "–" },
  { name: "Began", cell: ({ ban }) => <Time iso={rfc3339(ban.startedAt)} /> },
  { name: "Ended, or ends", cell: ({ ban }) => <Time iso={rfc3339(ban.liftedAt ?? ban.endsAt)} /> },
];
