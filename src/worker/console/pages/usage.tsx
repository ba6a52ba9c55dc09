/** `/console/usage` sums the requests of a range by key, hour or day. By customer: `/console/customers`. */
import { Hono } from "hono";
import type * as v from "valibot";
import { inputOf } from "../../admin/serve.ts";
import { usageCalls } from "../../admin/usage/calls.ts";
import { type KeyUsageView, orderOf, usageQuery } from "../../admin/usage/schema.ts";
import type { AppEnv } from "../../context.ts";
import type { UsageSort } from "../../db/values.ts";
import { counted, planName } from "../../text/format.ts";
import { DAY_SECONDS, dayName, nowSeconds } from "../../text/time.ts";
import { AsOf, closenessColumns, figureColumns, Totals, UsageChart } from "../kit/chart.tsx";
import { addressOf, type SortedBy, sortedBy } from "../kit/forms.ts";
import { answerList, CsvLink, daysIn, Filters, OF_THE_DAY, Pages, rangePresets } from "../kit/list.tsx";
import { type ConsoleContext, page } from "../kit/page.tsx";
import { HeatMap } from "../kit/refusals.tsx";
import { type Column, Customer, Table, Time } from "../kit/ui.tsx";

const ROWS_PER_PAGE = 50;
const MAX_BARS = 10_000;
/** Bars of more hours could not be told apart. Only the CSV has them. */
const MAX_DAYS_BY_HOUR = 31;

export const usagePages = new Hono<AppEnv>().get("/", (c) =>
  answerList(c, usageCalls.list, (query) => showUsage(c, query), {
    title: "Usage",
    filters: (failure) => <Filters {...filtersOf(c)} failure={failure} />,
  }),
);

async function showUsage(c: ConsoleContext, query: v.InferOutput<typeof usageQuery>) {
  const { from = nowSeconds(), to = nowSeconds() } = query;
  const by = query.by === "hour" && to - from > MAX_DAYS_BY_HOUR * DAY_SECONDS ? "day" : query.by;
  // A chart has every bar.
  const limit = by === "hour" || by === "day" ? MAX_BARS : ROWS_PER_PAGE;
  const usage = await usageCalls.list.run(inputOf(c, { query: { ...query, by, limit } }));
  const sortBy = sortedBy(c, orderOf(query));
  return page(
    c,
    { title: "Usage", actions: <CsvLink c={c} /> },
    <>
      <Filters
        {...filtersOf(c)}
        texts={{ ...c.req.query(), by, from: usage.from.slice(0, 10) }}
        presets={rangePresets(c, c.req.query(), usage)}
      />
      <Totals of={usage.total}>{usage.by === "key" && `, of ${counted(usage.total.keyCount, "key")}`}</Totals>
      {usage.by === "key" ? (
        <Table
          caption="Usage by key"
          columns={keyColumns(sortBy, daysIn(usage))}
          rows={usage.rows}
          empty={NONE}
        />
      ) : (
        <>
          <UsageChart title={`Requests by ${usage.by}`} rows={usage.rows} by={usage.by} asOf={usage.asOf} />
          {usage.by === "hour" && (
            <HeatMap
              caption="Refused requests by hour"
              rows={usage.rows}
              dayAddress={(from) =>
                addressOf(c.req.path, { ...c.req.query(), by: "key", from, to: dayAfter(from) })
              }
            />
          )}
        </>
      )}
      <p class="hint">
        From <Time iso={usage.from} /> to <Time iso={usage.to} />. <AsOf of={usage} />
      </p>
      <Pages c={c} next={usage.next} />
    </>,
  );
}

function filtersOf(c: ConsoleContext) {
  // Nobody types the id of a key, but a link may have it.
  const byKey = c.req.query("key") ? (["key"] as const) : [];
  return { c, schema: usageQuery, names: ["from", "to", "by", ...byKey, "customer", "plan"] } as const;
}

function dayAfter(day: string): string {
  return dayName(Date.parse(day) / 1000 + DAY_SECONDS);
}

const NONE = "No requests in this range.";

function keyColumns(by: SortedBy<UsageSort>, days: number): Column<KeyUsageView>[] {
  return [
    {
      name: "Key",
      sort: by("name"),
      cell: ({ keyId, keyName }) => <a href={`/console/keys/${keyId}`}>{keyName}</a>,
    },
    {
      name: "Customer",
      isClear: true,
      cell: ({ customer }) => <Customer of={customer} />,
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
