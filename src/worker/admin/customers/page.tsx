/** `/console/customers`: who comes close to a limit, and so may need the next plan. */
import { Hono } from "hono";
import { formatNumber } from "../../console/format.ts";
import { addressOf, queryOf, sortLinks } from "../../console/forms.ts";
import { page } from "../../console/page.tsx";
import { type Column, Pager, Table, Time } from "../../console/ui.tsx";
import type { AppEnv } from "../../context.ts";
import { CUSTOMER_PERIODS, type CustomerSort } from "../../db/values.ts";
import { csvAnswer, MAX_CSV_ROWS } from "../http/csv.ts";
import { Owner } from "../usage/page.tsx";
import { directionOf } from "../usage/schema.ts";
import { customersOf, customerTable } from "./calls.ts";
import type { CustomerView } from "./schema.ts";
import { customerQuery } from "./schema.ts";
import { NEAR_LIMIT_PERCENT } from "./sql.ts";

const PATH = "/console/customers";
const CUSTOMERS_PER_PAGE = 50;

export const customerPages = new Hono<AppEnv>().get("/", async (c) => {
  const query = queryOf(c, customerQuery);
  const { days, format, sort } = query;
  const limit = format === "csv" ? MAX_CSV_ROWS : CUSTOMERS_PER_PAGE;
  const answer = await customersOf(c.env, { ...query, limit });
  if (format === "csv") return csvAnswer(c, customerTable(answer));
  const { customers, next, asOf } = answer;
  const shown = c.req.query();
  const direction = directionOf(query);
  return page(
    c,
    {
      title: "Customers",
      actions: (
        <a class="button" href={addressOf(PATH, { ...shown, after: "", format: "csv" })}>
          CSV
        </a>
      ),
    },
    <>
      <p class="presets">
        {CUSTOMER_PERIODS.map((period) => (
          <a
            href={addressOf(PATH, { ...shown, days: period, after: "" })}
            aria-current={period === days ? "true" : undefined}
          >
            {period === "1" ? "Today" : `${period} days`}
          </a>
        ))}
      </p>
      <Table
        caption="Customers"
        columns={columnsOf(sortLinks<CustomerSort>(PATH, shown, { sort, direction }))}
        rows={customers}
        empty="No requests."
      />
      <p class="hint">
        As of <Time iso={asOf} />. A day's percentage is that of the owner's most used key, of its daily limit
        in force now. Near: a day at {NEAR_LIMIT_PERCENT} % or more. Today is one of the days.
      </p>
      <Pager
        first={query.after === undefined ? undefined : addressOf(PATH, { ...shown, after: "" })}
        next={next === null ? undefined : addressOf(PATH, { ...shown, after: next })}
      />
    </>,
  );
});

function columnsOf(by: ReturnType<typeof sortLinks<CustomerSort>>): Column<CustomerView>[] {
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
