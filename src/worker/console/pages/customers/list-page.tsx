/** `/console/customers` lists customers with their use, and creates them. */
import { Hono } from "hono";
import type * as v from "valibot";
import { customerCalls } from "../../../admin/customers/calls.ts";
import { customerQuery, type ListedCustomer, newCustomer } from "../../../admin/customers/schema.ts";
import { inputOf } from "../../../admin/serve.ts";
import { requireWriter } from "../../../admin/sign-in/require-admin.ts";
import { orderOf } from "../../../admin/usage/schema.ts";
import type { AppEnv } from "../../../context.ts";
import type { UsageSort } from "../../../db/values.ts";
import { daysBefore } from "../../../text/time.ts";
import { AsOf, closenessColumns, figureColumns } from "../../kit/chart.tsx";
import { answerForm, type Failure, FailureNotice } from "../../kit/failure.tsx";
import { doneAddress, type SortedBy, sendForm, sortedBy } from "../../kit/forms.ts";
import { answerList, CsvLink, Filters, NoRows, Pages, rangePresets } from "../../kit/list.tsx";
import type { FormTexts } from "../../kit/members.ts";
import { type ConsoleContext, page } from "../../kit/page.tsx";
import {
  Badge,
  type Column,
  Customer,
  customerAddress,
  ShownCount,
  Submit,
  Table,
  Time,
} from "../../kit/ui.tsx";
import { CustomerFields } from "./customer-actions.tsx";

const ROWS_PER_PAGE = 50;
const FILTERS = { schema: customerQuery, names: ["search", "from", "to", "plan"] } as const;

export const customerListPages = new Hono<AppEnv>()
  .get("/", (c) => {
    // The customer who comes closest to a limit is first, and may need the next plan.
    const byDefault = { sort: "near", from: daysBefore(29) };
    return answerList(c, customerCalls.list, (query) => showCustomers(c, query, byDefault), {
      ...{ title: "Customers", byDefault },
      filters: (failure) => <Filters {...{ c, ...FILTERS, failure }} />,
    });
  })
  .get("/new", (c) => createPage(c))
  .post("/new", (c) =>
    answerForm(c, "create", createPage, async (typed) => {
      const made = await sendForm(c, customerCalls.create, typed);
      return c.redirect(doneAddress(customerAddress(made.id), made), 303);
    }),
  );

type CustomersQuery = v.InferOutput<typeof customerQuery>;

async function showCustomers(c: ConsoleContext, query: CustomersQuery, byDefault: FormTexts) {
  const answer = await customerCalls.list.run(inputOf(c, { query: { ...query, limit: ROWS_PER_PAGE } }));
  const { customers, next, from, to } = answer;
  const shown = { ...byDefault, ...c.req.query() };
  return page(
    c,
    {
      title: "Customers",
      actions: (
        <>
          <CsvLink c={c} />
          {!c.var.mayOnlyRead && (
            <a class="button primary" href="/console/customers/new">
              Create customer
            </a>
          )}
        </>
      ),
    },
    <>
      <Filters
        {...{ c, ...FILTERS }}
        texts={{ ...shown, from: from.slice(0, 10) }}
        presets={rangePresets(c, shown, { from, to })}
      />
      <Table
        caption="Customers"
        columns={columnsOf(sortedBy(c, orderOf(query)))}
        rows={customers.map((customer) => ({ ...customer, ...customer.usage }))}
        empty={<NoRows c={c} noun="customer" />}
      />
      <p class="hint">
        Use from <Time iso={from} /> to <Time iso={to} />. <AsOf of={answer} />
      </p>
      <Pages c={c} next={next} />
    </>,
  );
}

function createPage(c: ConsoleContext, failure?: Failure) {
  requireWriter(c.var);
  return page(
    c,
    { title: "Create customer", status: failure?.status ?? 200 },
    <form method="post" class="panel">
      <FailureNotice failure={failure} />
      <CustomerFields schema={newCustomer} failure={failure} isFocused />
      <Submit tone="primary">Create customer</Submit>
    </form>,
  );
}

type Row = ListedCustomer & ListedCustomer["usage"];

function columnsOf(by: SortedBy<UsageSort>): Column<Row>[] {
  return [
    {
      name: "Customer",
      sort: by("name"),
      cell: (customer) => (
        <>
          <Customer of={customer} /> {customer.erasedAt !== null && <Badge status="erased" />}
        </>
      ),
    },
    { name: "Keys", isNumber: true, cell: ({ keys }) => <ShownCount value={keys} /> },
    ...closenessColumns(by, " of the key that comes closest to its limit"),
    ...figureColumns(by),
  ];
}
