/** `/console/usage`: the requests of a range by key, owner, plan, hour or day. */
import { Hono } from "hono";
import { figureColumns, UsageChart } from "../../console/chart.tsx";
import { counted, formatNumber } from "../../console/format.ts";
import { addressOf, queryOf, sortLinks, type Typed } from "../../console/forms.ts";
import { page } from "../../console/page.tsx";
import { type Column, Field, optionsOf, Pager, Select, Table, Time } from "../../console/ui.tsx";
import type { AppEnv } from "../../context.ts";
import { PLAN_IDS, USAGE_GROUPS, USAGE_PERIODS, type UsageSort } from "../../db/values.ts";
import { DAY_SECONDS, dayName, nowSeconds } from "../../time.ts";
import { csvAnswer, MAX_CSV_ROWS } from "../http/csv.ts";
import { usagePage } from "./calls.ts";
import { usageTable } from "./csv.ts";
import type { KeyUsageView } from "./schema.ts";
import { directionOf, usageQuery } from "./schema.ts";
import type { OwnerUsage, PlanUsage } from "./sql.ts";

const PATH = "/console/usage";
const ROWS_PER_PAGE = 50;

export const usagePages = new Hono<AppEnv>().get("/", async (c) => {
  const query = queryOf(c, usageQuery);
  const { by, format, sort } = query;
  // A chart has every hour.
  const isPaged = format === "json" && by !== "hour" && by !== "day";
  const usage = await usagePage(c.env, { ...query, limit: isPaged ? ROWS_PER_PAGE : MAX_CSV_ROWS });
  if (format === "csv") return csvAnswer(c, usageTable(usage));
  const shown = c.req.query();
  const { admitted, refused, refusedWhileBanned, keyCount } = usage.total;
  const direction = directionOf(query);
  const sortBy = sortLinks<UsageSort>(PATH, shown, { sort, direction });
  return page(
    c,
    {
      title: "Usage",
      actions: (
        <a class="button" href={addressOf(PATH, { ...shown, after: "", format: "csv" })}>
          CSV
        </a>
      ),
    },
    <>
      <Filters shown={shown} from={usage.from} />
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
      <Pager
        first={query.after === undefined ? undefined : addressOf(PATH, { ...shown, after: "" })}
        next={usage.next === null ? undefined : addressOf(PATH, { ...shown, after: usage.next })}
      />
    </>,
  );
});

const NONE = "No requests.";

function Filters({ shown, from }: { readonly shown: Typed; readonly from: string }) {
  const day = (daysAgo: number) => dayName(nowSeconds() - daysAgo * DAY_SECONDS);
  const preset = (first: string, to = "") => addressOf(PATH, { ...shown, from: first, to, after: "" });
  return (
    <search>
      <form class="filters" method="get">
        <Field name="from" label="From (UTC)" type="date" value={from.slice(0, 10)} />
        <Field name="to" label="Before (UTC)" type="date" value={shown.to} />
        <Select
          name="by"
          label="By"
          value={shown.by}
          options={[["", "key"], ...optionsOf([...USAGE_GROUPS.slice(1), ...USAGE_PERIODS])]}
        />
        <Field name="key" label="Key (id)" type="search" value={shown.key} />
        <Field name="owner" label="Owner" type="search" value={shown.owner} />
        <Select name="plan" label="Plan" value={shown.plan} options={[["", "All"], ...optionsOf(PLAN_IDS)]} />
        <button type="submit" class="button">
          Show
        </button>
      </form>
      <p class="presets">
        <a href={preset("")}>Today</a>
        <a href={preset(day(1), day(0))}>Yesterday</a>
        <a href={preset(day(6))}>7 days</a>
        <a href={preset(day(29))}>30 days</a>
      </p>
    </search>
  );
}

type SortBy = ReturnType<typeof sortLinks<UsageSort>>;

function keyColumns(by: SortBy): Column<KeyUsageView>[] {
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

function ownerColumns(by: SortBy): Column<OwnerUsage>[] {
  return [
    { name: "Owner", sort: by("name"), cell: ({ owner }) => <Owner name={owner} /> },
    { name: "Keys", isNumber: true, cell: ({ keyCount }) => formatNumber(keyCount) },
    ...figureColumns(by),
  ];
}

function planColumns(by: SortBy): Column<PlanUsage>[] {
  return [
    { name: "Plan", sort: by("name"), cell: ({ plan }) => plan },
    { name: "Keys", isNumber: true, cell: ({ keyCount }) => formatNumber(keyCount) },
    ...figureColumns(by),
  ];
}

/** Links to the keys of the owner. */
export function Owner({ name }: { readonly name: string | null }) {
  if (name === null) return <>no owner</>;
  return <a href={addressOf("/console/keys", { search: name })}>{name}</a>;
}
