/** Shows a customer with the windows of its limits. */
import type { Bindings } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { hasLimiter } from "../../key/outdated-keys-sql.ts";
import { reachLimiter } from "../../key/reach-limiter.ts";
import { CUSTOMER_WINDOWS, liveWindowOf, unusedWindow } from "../../key/windows.ts";
import { DAY_SECONDS } from "../../text/time.ts";
import type { CustomerView, InspectedCustomer } from "./schema.ts";
import { requireCustomer } from "./sql.ts";

export async function inspectCustomer(env: Bindings, idOrName: string): Promise<InspectedCustomer> {
  const customer = await requireCustomer(openDatabase(env.DB), idOrName);
  return { ...customer, live: await liveOf(env, customer) };
}

async function liveOf(
  env: Bindings,
  { id, requestsPerMinute, requestsPerDay }: CustomerView,
): Promise<InspectedCustomer["live"]> {
  if (requestsPerMinute === null && requestsPerDay === null) return null;
  // An object stays where it was first called, so only a request of a client may create it.
  if (!(await hasLimiter(openDatabase(env.DB), { id })))
    return {
      minute: requestsPerMinute === null ? null : unusedWindow(requestsPerMinute, 60),
      day: requestsPerDay === null ? null : unusedWindow(requestsPerDay, DAY_SECONDS),
    };
  const inspection = await reachLimiter(env, { id, location: null }, (limiter) => limiter.inspect());
  if (!inspection) return null;
  const windowOf = (name: string) => {
    const window = inspection.quota.find((each) => each.name === name);
    return window ? liveWindowOf(window) : null;
  };
  return { minute: windowOf(CUSTOMER_WINDOWS.minute), day: windowOf(CUSTOMER_WINDOWS.day) };
}
