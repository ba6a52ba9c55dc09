/** `/console/customers/{id}/report` is the report of a month, which can be sent. */
import { Hono } from "hono";
import { customerCalls } from "../../../admin/customers/calls.ts";
import { reportQuery, reportTable } from "../../../admin/customers/schema.ts";
import { csvAnswer } from "../../../admin/http/csv.ts";
import { inputOf } from "../../../admin/serve.ts";
import type { AppEnv } from "../../../context.ts";
import { queryOf } from "../../kit/forms.ts";
import { page } from "../../kit/page.tsx";
import { MonthReport, monthName } from "../../kit/report.tsx";
import { customerAddress, LinkButton } from "../../kit/ui.tsx";

export const reportPages = new Hono<AppEnv>().get("/:id/report", async (c) => {
  const query = queryOf(c, reportQuery);
  const report = await customerCalls.report.run(inputOf(c, { id: c.req.param("id"), query }));
  if (query.format === "csv") return csvAnswer(c, reportTable(report));
  const { customer, month } = report;
  const actions = <LinkButton href={customerAddress(customer.id)}>The customer</LinkButton>;
  return page(
    c,
    { title: `${customer.name}, ${monthName(month)}`, actions },
    <MonthReport c={c} report={report} />,
  );
});
