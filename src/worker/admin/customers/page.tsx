/** `/console/customers`: who comes close to a limit, and so may need the next plan. */
import { Hono } from "hono";
import { addressOf, queryOf, type SortedBy, sortedBy } from "../../console/forms.ts";
import { CsvLink, Pages, Presets } from "../../console/list.tsx";
import { page } from "../../console/page.tsx";
import { type Column, Owner, Table, Time } from "../../console/ui.tsx";
import type { AppEnv } from "../../context.ts";
import { CUSTOMER_PERIODS, type CustomerSort } from "../../db/values.ts";
import { formatNumber } from "../../format.ts";
import { fileOf, inputOf } from "../serve.ts";
import { directionOf } from "../usage/schema.ts";
import { customerCalls } from "./calls.ts";
import { type CustomerView, customerQuery } from "./schema.ts";
import { NEAR_LIMIT_PERCENT } from "./sql.ts";

const PATH = "/console/customers";
const CUSTOMERS_PER_PAGE = 50;

export const customerPages = new Hono<AppEnv>().get("/", async (c) => {
  const query = queryOf(c, customerQuery);
  if (query.format === "csv") return fileOf(c, customerCalls.list, query);
  const input = inputOf(c, { query: { ...query, limit: CUSTOMERS_PER_PAGE } });
  const { customers, next, asOf } = await customerCalls.list.run(input);
  const by = sortedBy(c, { sort: query.sort, direction: directionOf(query) });
  return page(
    c,
    { title: "Customers", actions: <CsvLink c={c} /> },
    <>
      <Presets
        links={CUSTOMER_PERIODS.map((days) => [
          days === "1" ? "Today" : `${days} days`,
          addressOf(PATH, { ...c.req.query(), days, after: "" }),
          days === query.days,
        ])}
      />
      <Table caption="Customers" columns={columnsOf(by)} rows={customers} empty="No requests." />
      <p class="hint">
        As of <Time iso={asOf} />. A day's percentage is that of the owner's most used key, of its daily limit
        in force now. Near: a day at {NEAR_LIMIT_PERCENT} % or more. Today is one of the days.
      </p>
      <Pages c={c} next={next} />
    </>,
  );
});

function columnsOf(by: SortedBy<CustomerSort>): Column<CustomerView>[] {
  const number = (name: string, cell: Column<CustomerView>["cell"], sort?: CustomerSort) => ({
    name,
    isNumber: true,
    cell,
    ...(sort && { sort: by(sort, "desc") }),
  });
  return [
    { name: "Owner", sort: by("name"), cell: ({ owner }) => <Owner name={owner} /> },
    { name: "Plans", cell: ({ plans }) => plans.join(", ") },
    number("Keys", ({ keyCount }) => formatNumber(keyCount)),
    number("Days near", ({ daysNear }) => daysNear, "near"),
    number("Peak", ({ peakPercent, peakDay }) => <span title={peakDay}>{peakPercent} %</span>, "peak"),
    number("Median", ({ medianPercent }) => `${medianPercent} %`),
    number("Days refused", ({ daysRefused }) => daysRefused),
    number("Admitted", ({ admitted }) => formatNumber(admitted), "admitted"),
    number("Refused", ({ refused }) => formatNumber(refused), "refused"),
    number("Blocked by bans", ({ refusedWhileBanned }) => formatNumber(refusedWhileBanned)),
    number("Bans", ({ bans }) => formatNumber(bans)),
  ];
}
