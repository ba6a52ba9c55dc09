/** `/console/usage`: the requests of a range by key, owner, plan, hour or day. */
import { Hono } from "hono";
import { figureColumns, UsageChart } from "../../console/chart.tsx";
import { addressOf, queryOf, type SortedBy, sortedBy } from "../../console/forms.ts";
import { CsvLink, Filters, Pages } from "../../console/list.tsx";
import { page } from "../../console/page.tsx";
import { type Column, Owner, Table, Time } from "../../console/ui.tsx";
import type { AppEnv } from "../../context.ts";
import type { UsageSort } from "../../db/values.ts";
import { counted, formatNumber } from "../../format.ts";
import { daysBefore } from "../../time.ts";
import { fileOf, inputOf } from "../serve.ts";
import { usageCalls } from "./calls.ts";
import { directionOf, type KeyUsageView, usageQuery } from "./schema.ts";
import type { OwnerUsage, PlanUsage } from "./sql.ts";

const PATH = "/console/usage";
const ROWS_PER_PAGE = 50;
const MAX_HOURS = 100_000;

export const usagePages = new Hono<AppEnv>().get("/", async (c) => {
  const query = queryOf(c, usageQuery);
  if (query.format === "csv") return fileOf(c, usageCalls.list, query);
  // A chart has every hour.
  const limit = query.by === "hour" || query.by === "day" ? MAX_HOURS : ROWS_PER_PAGE;
  const usage = await usageCalls.list.run(inputOf(c, { query: { ...query, limit } }));
  const { admitted, refused, refusedWhileBanned, keyCount } = usage.total;
  const sortBy = sortedBy(c, { sort: query.sort, direction: directionOf(query) });
  const shown = c.req.query();
  const preset = (name: string, from: string, to = "") => {
    const isShown = usage.from.startsWith(from) && (query.to === undefined ? to === "" : shown.to === to);
    return [name, addressOf(PATH, { ...shown, from, to, after: "" }), isShown] as const;
  };
  return page(
    c,
    { title: "Usage", actions: <CsvLink c={c} /> },
    <>
      <Filters
        c={c}
        schema={usageQuery}
        names={["from", "to", "by", "key", "owner", "plan"]}
        texts={{ ...shown, from: usage.from.slice(0, 10) }}
        button="Show"
        presets={[
          preset("Today", daysBefore(0)),
          preset("Yesterday", daysBefore(1), daysBefore(0)),
          preset("7 days", daysBefore(6)),
          preset("30 days", daysBefore(29)),
        ]}
      />
      <p>
        <strong>{formatNumber(admitted)}</strong> admitted, <strong>{formatNumber(refused)}</strong> refused
        by a limit, <strong>{formatNumber(refusedWhileBanned)}</strong> blocked by bans, of{" "}
        {counted(keyCount, "key")}.
      </p>
      <p class="hint">
        From <Time iso={usage.from} /> to <Time iso={usage.to} />, as of <Time iso={usage.asOf} />.
      </p>
      {usage.by === "key" ? (
        <Table caption="Usage by key" columns={keyColumns(sortBy)} rows={usage.rows} empty={NONE} />
      ) : usage.by === "owner" ? (
        <Table caption="Usage by owner" columns={ownerColumns(sortBy)} rows={usage.rows} empty={NONE} />
      ) : usage.by === "plan" ? (
        <Table caption="Usage by plan" columns={planColumns(sortBy)} rows={usage.rows} empty={NONE} />
      ) : (
        <UsageChart title={`Requests by ${usage.by}`} rows={usage.rows} by={usage.by} />
      )}
      <Pages c={c} next={usage.next} />
    </>,
  );
});

const NONE = "No requests in this range.";

function keyColumns(by: SortedBy<UsageSort>): Column<KeyUsageView>[] {
  return [
    {
      name: "Key",
      sort: by("name"),
      cell: ({ keyId, keyName }) => <a href={`/console/keys/${keyId}`}>{keyName}</a>,
    },
    { name: "Owner", cell: ({ ownerName, ownerEmail }) => ownerName ?? ownerEmail ?? "–" },
    { name: "Plan", cell: ({ plan }) => plan },
    ...figureColumns(by),
    {
      name: "Of the daily limit",
      isNumber: true,
      sort: by("percent", "desc"),
      cell: ({ percent }) => `${percent} %`,
    },
  ];
}

function ownerColumns(by: SortedBy<UsageSort>): Column<OwnerUsage>[] {
  return [
    { name: "Owner", sort: by("name"), cell: ({ owner }) => <Owner name={owner} /> },
    { name: "Keys", isNumber: true, cell: ({ keyCount }) => formatNumber(keyCount) },
    ...figureColumns(by),
  ];
}

function planColumns(by: SortedBy<UsageSort>): Column<PlanUsage>[] {
  return [
    { name: "Plan", sort: by("name"), cell: ({ plan }) => plan },
    { name: "Keys", isNumber: true, cell: ({ keyCount }) => formatNumber(keyCount) },
    ...figureColumns(by),
  ];
}
