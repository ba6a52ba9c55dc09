/** Lists what an operator can do to a customer. */
import type * as v from "valibot";
import { customerCalls } from "../../../admin/customers/calls.ts";
import {
  type CustomerView,
  type changedCustomer,
  customerUpdate,
  type merged,
  merger,
  type updatedCustomer,
} from "../../../admin/customers/schema.ts";
import { textOf } from "../../../text/says.ts";
import type { Actions } from "../../kit/actions.tsx";
import { Fields, type FieldsProps } from "../../kit/fields.tsx";
import { textsOf } from "../../kit/members.ts";

/** The names are those of other customers, as many as are suggested. */
type CustomerOnPage = { readonly customer: CustomerView; readonly names: readonly string[] };

type Changed = v.InferOutput<typeof updatedCustomer | typeof merged | typeof changedCustomer>;

type CustomerFieldsProps = Omit<FieldsProps<keyof typeof customerUpdate.entries>, "names" | "own">;

export function CustomerFields(props: CustomerFieldsProps) {
  const hint = "Of all keys together. Empty: no such limit.";
  return (
    <Fields
      {...props}
      names={[["name", "email"], ["requestsPerMinute", "requestsPerDay"], "note"]}
      own={{ requestsPerMinute: { hint }, requestsPerDay: { hint } }}
    />
  );
}

export const CUSTOMER_ACTIONS: Actions<CustomerOnPage, Changed> = {
  edit: {
    call: customerCalls.update,
    title: "Change customer",
    texts: ({ customer }) => textsOf(customerUpdate, customer),
    sendsChanges: true,
    form: (_, texts, failure) => <CustomerFields schema={customerUpdate} texts={texts} failure={failure} />,
  },
  merge: {
    call: customerCalls.merge,
    title: "Merge",
    does: ({ body }, { customer }) => `Merge ${customer.name} into ${textOf(body.into)}`,
    isDangerous: true,
    texts: () => ({}),
    form: ({ names }, _, failure) => (
      <>
        <p>All keys and all use become those of another customer, and this customer is gone.</p>
        <Fields schema={merger} names={["into"]} own={{ into: { suggestions: names } }} failure={failure} />
      </>
    ),
  },
  erase: {
    call: customerCalls.erase,
    title: "Erase",
    does: (_, { customer }) => `Erase ${customer.name} for good`,
    isDangerous: true,
    form: () => (
      <p>
        For a person who asks to be forgotten. All keys must be revoked. Names, address and notes are deleted,
        also in the audit log; the use stays.
      </p>
    ),
  },
};
