/** Changes the name, the e-mail address and the note of a customer. Its keys and its use stay its own. */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import { openDatabase } from "../../../db/database.ts";
import { invalidRequest } from "../../../platform/errors.ts";
import { type ChangeInput, type ChangeOfRows, make, updateRows } from "../../change.ts";
import { ERASED } from "../../refusal-sql.ts";
import type { CustomerUpdate, updatedCustomer } from "../schema.ts";
import {
  CUSTOMERS,
  type CustomerTexts,
  conflictOnName,
  customerTarget,
  requireCustomer,
  textColumns,
} from "../sql.ts";

/** The change of these members. `becomes` has all texts of the customer after it. */
export function customerUpdateTo(names: readonly string[], after: unknown, becomes: CustomerTexts) {
  const { nameKey, search } = textColumns(becomes);
  return {
    ...{ call: "customers.update", before: names, after, refused: ERASED },
    statements: (made) => [updateRows(CUSTOMERS, made, names, { nameKey, search })],
  } as const satisfies ChangeOfRows;
}

export async function updateCustomer(
  input: ChangeInput<CustomerUpdate>,
): Promise<v.InferOutput<typeof updatedCustomer>> {
  const { env, body } = input;
  const before = await requireCustomer(openDatabase(env.DB), input.id);
  const { id, name, email, note } = before;
  const names = Object.keys(body);
  if (names.length === 0) throw invalidRequest("This changes nothing.");
  const updated = make(input, customerTarget(id), {
    ...customerUpdateTo(names, body, { ...before, ...body, name: body.name ?? name }),
    // The folded texts are of the customer as it was read. After another change, this one begins again.
    keeps: sql`iif((name, email, note) is (${name}, ${email}, ${note}), null, 'has other texts')`,
  });
  const { now, entry, says } = await conflictOnName(updated);
  return entry === undefined ? updateCustomer(input) : { ...now, says: says() };
}
