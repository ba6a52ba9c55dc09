/** Creates a customer without a key. */
import type * as v from "valibot";
import { customers } from "../../../db/schema.ts";
import { mintCustomerId } from "../../../key/key.ts";
import { randomBytes } from "../../../key/mac.ts";
import { sentenceOf } from "../../../text/says.ts";
import { type ChangeInput, create, insertRow, versionOf } from "../../change.ts";
import { SAYS } from "../../says.ts";
import type { newCustomer, updatedCustomer } from "../schema.ts";
import { conflictOnName, customerTarget, textColumns } from "../sql.ts";

export async function createCustomer(
  input: Pick<ChangeInput<v.InferOutput<typeof newCustomer>>, "env" | "author" | "body">,
): Promise<v.InferOutput<typeof updatedCustomer>> {
  const { author, body } = input;
  const id = mintCustomerId(randomBytes);
  const values = { ...textColumns(body), id, createdAt: author.at };
  const created = await conflictOnName(
    create(input, customerTarget(id), {
      ...{ call: "customers.create", after: body },
      statements: (made) => [insertRow(customers, { ...values, version: versionOf(made) })],
    }),
  );
  if (created === undefined) throw new Error("an id was minted twice");
  return { ...created.now, says: sentenceOf(body.name, SAYS["customers.create"]()) };
}
