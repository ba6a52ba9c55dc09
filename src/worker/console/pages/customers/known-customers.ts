/** The customers whom a form suggests, so that one customer has one name. */
import { customerCalls } from "../../../admin/customers/calls.ts";
import { ask } from "../../kit/forms.ts";
import type { ConsoleContext } from "../../kit/page.tsx";

/** Beyond them, a script asks for what is typed. */
const SUGGESTED = "200";

export async function knownCustomers(c: ConsoleContext): Promise<readonly string[]> {
  const { customers } = await ask(c, customerCalls.list, { limit: SUGGESTED });
  return customers.flatMap(({ name, erasedAt }) => (erasedAt === null ? name : []));
}
