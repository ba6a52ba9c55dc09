/** Lists customers, each with its use of a range. */
import type * as v from "valibot";
import type { Bindings } from "../../context.ts";
import { withCustomerId } from "../../db/customers-sql.ts";
import { openDatabase } from "../../db/database.ts";
import { orderOf } from "../usage/schema.ts";
import { findUsageOf, toUsageOfKeys } from "../usage/service.ts";
import { allCustomers } from "../usage/sql.ts";
import type { customerPage, customerQuery } from "./schema.ts";
import { findCustomers, isSought } from "./sql.ts";

export async function findCustomerPage(
  env: Bindings,
  query: v.InferOutput<typeof customerQuery>,
): Promise<v.InferOutput<typeof customerPage>> {
  const db = openDatabase(env.DB);
  const { customer } = await withCustomerId(db, query);
  const groups = allCustomers(isSought({ search: query.search, id: customer }));
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
  return { ...about, unreachable: [...about.unreachable], customers };
}
