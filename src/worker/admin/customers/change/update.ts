/** Changes the texts and the limits of a customer. Its keys and its use stay its own. */

import { sql } from "drizzle-orm";
import type * as v from "valibot";
import { openDatabase } from "../../../db/database.ts";
import { customers } from "../../../db/schema.ts";
import { mintCustomerId } from "../../../key/key.ts";
import { randomBytes } from "../../../key/mac.ts";
import { invalidRequest } from "../../../platform/errors.ts";
import { sentenceOf } from "../../../text/says.ts";
import {
  type ChangeInput,
  type ChangeOfRows,
  create,
  insertRow,
  make,
  updateRows,
  versionOf,
} from "../../change.ts";
import { refreshAtOnce } from "../../refresh-limiters.ts";
import { ERASED } from "../../refusal-sql.ts";
import { SAYS } from "../../says.ts";
import type { CustomerUpdate, changedCustomer, newCustomer, updatedCustomer } from "../schema.ts";
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
    // The folded texts are of the customer as it was read. After another change of a text, this one begins again.
    // The version ends the repetition: text that is not UTF-8 equals nothing that was read.
    keeps: sql`iif(version = ${before.version} or (name, email, note) is (${name}, ${email}, ${note}), null, 'has other texts')`,
  });
  const { now, entry, says } = await conflictOnName(updated);
  if (entry === undefined) return updateCustomer(input);
  const effective = await refreshAtOnce(env, { customer: id });
  return { ...now, effective, says: says(effective) };
}

export async function createCustomer(
  input: Pick<ChangeInput<v.InferOutput<typeof newCustomer>>, "env" | "author" | "body">,
): Promise<v.InferOutput<typeof changedCustomer>> {
  const { author, body } = input;
  const id = mintCustomerId(randomBytes);
  const values = { ...body, ...textColumns(body), id, createdAt: author.at };
  const created = await conflictOnName(
    create(input, customerTarget(id), {
      ...{ call: "customers.create", after: body },
      statements: (made) => [insertRow(customers, { ...values, version: versionOf(made) })],
    }),
  );
  if (created === undefined) throw new Error("an id was minted twice");
  return { ...created.now, says: sentenceOf(body.name, SAYS["customers.create"]()) };
}
