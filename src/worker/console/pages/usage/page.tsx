/** `/console/usage` and `/console/customers` sum the requests of a range by key, owner, plan, hour or day. */
import { Hono } from "hono";
import { planCalls } from "../../../admin/plans/calls.ts";
import { fileOf, inputOf } from "../../../admin/serve.ts";
import { usageCalls } from "../../../admin/usage/calls.ts";
import {
  type KeyUsageView,
  type OwnerUsageView,
  orderOf,
  type PlanUsageView,
  usageQuery,
} from "../../../admin/usage/schema.ts";
import type { AppEnv } from "../../../context.ts";
import type { UsageSort } from "../../../db/values.ts";
import { counted, formatNumber, planName } from "../../../text/format.ts";
import { DAY_SECONDS, daysBefore } from "../../../text/time.ts";
import { AsOf, figureColumns, UsageChart } from "../../kit/chart.tsx";
import { addressOf, queryOf, type SortedBy, sortedBy } from "../../kit/forms.ts";
import { CsvLink, Filters, Pages } from "../../kit/list.tsx";
import type { FormTexts } from "../../kit/members.ts";
import { type ConsoleContext, page } from "../../kit/page.tsx";
import { type Column, countColumn, Notice, Owner, Table, Time } from "../../kit/ui.tsx";
import { adviceTo, nearestOf } from "./advice.tsx";

const ROWS_PER_PAGE = 50;
const MAX_HOURS = 100_000;
const ADVICES_SHOWN = 5;
export const usagePages = new Hono<AppEnv>().get("/", (c) => showUsage(c, "Usage", {}));

/** Lists owners over 30 days. The owner who comes closest to a limit is first, and may need the next plan. */
export const customerListPages = new Hono<AppEnv>().get("/", (c) =>
  showUsage(c, "Customers", { by: "owner", sort: "near", from: daysBefore(29) }),
);

async function showUsage(c: ConsoleContext, title: string, byDefault: FormTexts) {
  const query = queryOf(c, usageQuery, byDefault);
  if (query.format === "csv") return fileOf(c, usageCalls.list, query);
  // A chart has every hour.
  const limit = query.by === "hour" || query.by === "day" ? MAX_HOURS : ROWS_PER_PAGE;
  const usage = await usageCalls.list.run(inputOf(c, { query: { ...query, limit } }));
  const { admitted, refused, refusedWhileBanned, keyCount } = usage.total;
  const sortBy = sortedBy(c, orderOf(query));
  const days = Math.ceil((Date.parse(usage.to) - Date.parse(usage.from)) / (DAY_SECONDS * 1000));
  const { plans } = await planCalls.list.run(inputOf(c, {}));
  const advices =
    usage.by === "owner"
      ? usage.rows.slice(0, ADVICES_SHOWN).flatMap((row) => adviceTo(nearestOf(row), days, plans) ?? [])
      : [];
  const shown = { ...byDefault, ...c.req.query() };
  // The rows of the page of customers are owners. Nobody types the id of a key, but a link may have it.
  const byGroup = byDefault.by ? [] : (["by"] as const);
  const byKey = query.key ? (["key"] as const) : [];
  const preset = (name: string, from: string, to = "") => {
    const isShown = usage.from.startsWith(from) && (query.to === undefined ? to === "" : shown.to === to);
    return [name, addressOf(c.req.path, { ...shown, from, to, after: "" }), isShown] as const;
  };
  const thisMonth = firstOfMonth(daysBefore(0));
  return page(
    c,
    { title, actions: <CsvLink c={c} /> },
    <>
      <Filters
        c={c}
        schema={usageQuery}
        names={["from", "to", ...byGroup, ...byKey, "owner", "plan"]}
        texts={{ ...shown, from: usage.from.slice(0, 10) }}
        button="Show"
        presets={[
          preset("Today", daysBefore(0)),
          preset("Yesterday", daysBefore(1), daysBefore(0)),
          preset("7 days", daysBefore(6)),
          preset("30 days", daysBefore(29)),
          preset("This month", thisMonth),
          preset("Last month", firstOfMonth(daysBefore(Number(daysBefore(0).slice(-2)))), thisMonth),
        ]}
      />
      <p>
        <strong>{formatNumber(admitted)}</strong> admitted, <strong>{formatNumber(refused)}</strong> refused
        by a limit, <strong>{formatNumber(refusedWhileBanned)}</strong> blocked by bans, of{" "}
        {counted(keyCount, "key")}.
      </p>
      {advices.length > 0 && (
        <Notice kind="warn">
          {advices.map(({ says, helps }) => (
            <p>
              {says} {!c.var.mayOnlyRead && helps}
            </p>
          ))}
        </Notice>
      )}
      {usage.by === "key" ? (
        <Table caption="Usage by key" columns={keyColumns(sortBy, days)} rows={usage.rows} empty={NONE} />
      ) : usage.by === "owner" ? (
        <Table caption="Usage by owner" columns={ownerColumns(sortBy)} rows={usage.rows} empty={NONE} />
      ) : usage.by === "plan" ? (
        <Table caption="Usage by plan" columns={planColumns(sortBy)} rows={usage.rows} empty={NONE} />
      ) : (
        <UsageChart title={`Requests by ${usage.by}`} rows={usage.rows} by={usage.by} asOf={usage.asOf} />
      )}
      <p class="hint">
        From <Time iso={usage.from} /> to <Time iso={usage.to} />.{" "}
        <AsOf c={c} iso={usage.asOf} unreachable={usage.unreachable} />
      </p>
      <Pages c={c} next={usage.next} />
    </>,
  );
}

function firstOfMonth(day: string): string {
  return `${day.slice(0, "2026-11-".length)}01`;
}

const NONE = "No requests in this range.";

const OF_THE_DAY = "In percent of the limit of each day";

function keyColumns(by: SortedBy<UsageSort>, days: number): Column<KeyUsageView>[] {
  return [
    {
      name: "Key",
      sort: by("name"),
      cell: ({ keyId, keyName }) => <a href={`/console/keys/${keyId}`}>{keyName}</a>,
    },
    {
      name: "Owner",
      isClear: true,
      cell: ({ ownerName, ownerEmail }) => <Owner name={ownerName ?? ownerEmail} />,
    },
    { name: "Plan", isClear: true, cell: ({ plan }) => planName(plan) },
    {
      name: "Of the limit",
      about: OF_THE_DAY,
      isNumber: true,
      sort: by("percent", "desc"),
      cell: ({ percent }) => `${percent} %`,
    },
    // Of one day all of these are the percentage of that day.
    ...(days > 1 ? closenessColumns(by) : []),
    ...figureColumns(by),
  ];
}

function ownerColumns(by: SortedBy<UsageSort>): Column<OwnerUsageView>[] {
  return [
    { name: "Owner", sort: by("name"), cell: ({ owner }) => <Owner name={owner} /> },
    { name: "Keys", isNumber: true, cell: ({ keyCount }) => formatNumber(keyCount) },
    ...closenessColumns(by, " of the key that comes closest to its limit"),
    ...figureColumns(by),
  ];
}

type Closeness = Pick<KeyUsageView, "daysNear" | "medianPercent" | "peakPercent">;

function closenessColumns(by: SortedBy<UsageSort>, ofKey = ""): Column<Closeness>[] {
  const about = `${OF_THE_DAY}${ofKey}`;
  return [
    countColumn("Days over 80 %", ({ daysNear }) => daysNear, { about, sort: by("near", "desc") }),
    {
      ...{ name: "Median", about, isNumber: true, isMinor: true },
      cell: ({ medianPercent }) => `${medianPercent} %`,
    },
    {
      ...{ name: "Peak", about, isNumber: true, sort: by("peak", "desc") },
      cell: ({ peakPercent }) => `${peakPercent} %`,
    },
  ];
}

function planColumns(by: SortedBy<UsageSort>): Column<PlanUsageView>[] {
  return [
    { name: "Plan", sort: by("name"), cell: ({ plan }) => planName(plan) },
    { name: "Keys", isNumber: true, cell: ({ keyCount }) => formatNumber(keyCount) },
    ...figureColumns(by),
  ];
}
