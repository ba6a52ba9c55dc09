/** The calls about customers: who uses the keys. */
import type * as v from "valibot";
import type { Bindings } from "../../context.ts";
import { withCustomerId } from "../../db/customers-sql.ts";
import { openDatabase } from "../../db/database.ts";
import { call } from "../call.ts";
import { columnsOf, fileOfRange } from "../http/csv.ts";
import { orderOf } from "../usage/schema.ts";
import { findUsageOf, toUsageOfKeys } from "../usage/service.ts";
import { allCustomers } from "../usage/sql.ts";
import { eraseCustomer, previewErasure } from "./change/erase.ts";
import { mergeCustomer, previewMerge } from "./change/merge.ts";
import { createCustomer, updateCustomer } from "./change/update.ts";
import { inspectCustomer } from "./inspect.ts";
import { findReport } from "./report.ts";
import * as schema from "./schema.ts";
import { findCustomers, isSought } from "./sql.ts";

const ERASED = "The customer is erased, which is permanent.";
const NAME_TAKEN = "Another customer has this name.";

export const customerCalls = {
  list: call({
    id: "customers.list",
    route: "GET /customers",
    summary: "List customers with their use",
    description:
      "Without `from` the range of the use begins at midnight, without `to` it ends now; it is rounded out to whole days. `sort=near` begins with those who come closest to their limit of the day.",
    query: schema.customerQuery,
    answer: schema.customerPage,

    run: ({ env, query }) => findCustomerPage(env, query),
    table: ({ customers, next, ...range }) => ({
      file: fileOfRange("customers", range),
      columns: columnsOf(schema.listedCustomer),
      rows: customers,
      next,
    }),
  }),

  show: call({
    id: "customers.show",
    route: "GET /customers/:id",
    summary: "Show a customer",
    description: "By the id, or by the name in any case.",
    answer: schema.inspectedCustomer,

    run: ({ env, id }) => inspectCustomer(env, id),
  }),

  report: call({
    id: "customers.report",
    route: "GET /customers/:id/report",
    summary: "Show the report of a month",
    description: "The use of a customer by day and by key, beside the month before. The CSV has the keys.",
    query: schema.reportQuery,
    answer: schema.reportAnswer,

    run: ({ env, id, query }) => findReport(env, id, query),
    table: schema.reportTable,
  }),

  create: call({
    id: "customers.create",
    route: "POST /customers",
    summary: "Create a customer",
    description: "A key that names a new customer creates it, too.",
    creates: true,
    body: schema.newCustomer,
    answer: schema.changedCustomer,
    example: { name: "Pet Shop", email: "ops@petshop.example" },
    conflict: NAME_TAKEN,

    run: createCustomer,
  }),

  update: call({
    id: "customers.update",
    route: "PATCH /customers/:id",
    summary: "Change a customer",
    description:
      "Members that are absent stay as they are, and null removes a value. With another name, the customer keeps its keys, its use and its links. A limit is of all keys together, beside that of each key.",
    body: schema.customerUpdate,
    answer: schema.updatedCustomer,
    example: { requestsPerMinute: 600 },
    conflict: `${NAME_TAKEN} Or: ${ERASED}`,

    run: updateCustomer,
  }),

  merge: call({
    id: "customers.merge",
    route: "POST /customers/:id/merge",
    summary: "Merge a customer into another one",
    description:
      "All keys, use and bans become those of the other one, whose limit is theirs then. The customer is gone, and so are its links.",
    asks: "All its keys and use become those of the other customer. This cannot be undone.",
    removes: true,
    body: schema.merger,
    answer: schema.merged,
    example: { into: "cus_7Kq2mXw81ZtB" },
    conflict: ERASED,

    preview: previewMerge,
    run: mergeCustomer,
  }),

  erase: call({
    id: "customers.erase",
    route: "POST /customers/:id/erase",
    summary: "Erase what names a customer",
    description:
      "Name, e-mail address and note, the names and notes of its keys, and all of them in the audit log. Its use stays, without a name. All its keys must be revoked.",
    asks: "Its name, address and note are deleted for good, also in the audit log.",
    answer: schema.changedCustomer,
    conflict: `A key of the customer is not revoked. Or: ${ERASED}`,

    preview: previewErasure,
    run: eraseCustomer,
  }),
};

export async function findCustomerPage(
  env: Bindings,
  query: v.InferOutput<typeof schema.customerQuery>,
): Promise<v.InferOutput<typeof schema.customerPage>> {
  const db = openDatabase(env.DB);
  const { customer } = await withCustomerId(db, query);
  const groups = allCustomers(isSought(query.search, customer));
  const asked = { ...query, ...orderOf(query), customer };
  const { rows, total: _, ...about } = await findUsageOf(env, groups, "customer", asked);
  const found = await findCustomers(
    db,
    rows.map(({ id }) => id),
  );
  const customers = rows.flatMap((row) => {
    const view = found.get(row.id);
    return view === undefined ? [] : [{ ...view, usage: toUsageOfKeys(row) }];
  });
  return { ...about, customers };
}
