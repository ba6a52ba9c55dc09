/** What an operator can do to a customer: each action has a form and a call. */

import type { Child } from "hono/jsx";
import type * as v from "valibot";
import type { Call } from "../../../admin/call.ts";
import { customerCalls } from "../../../admin/customers/calls.ts";
import { type CustomerView, customerUpdate, merger } from "../../../admin/customers/schema.ts";
import type { ObjectSchema } from "../../../text/check-schema.ts";
import { type Failure, FailureNotice, FormButtons } from "../../kit/failure.tsx";
import { Fields } from "../../kit/fields.tsx";
import { ask } from "../../kit/forms.ts";
import { type FormTexts, textsOf } from "../../kit/members.ts";
import type { ConsoleContext } from "../../kit/page.tsx";
import { PreviewPanel } from "../../kit/preview.tsx";
import { Basis, customerAddress } from "../../kit/ui.tsx";

type Action = {
  readonly call: Call<ObjectSchema, ObjectSchema, v.GenericSchema>;
  readonly title: string;
  readonly isDangerous?: true;
  readonly texts?: (customer: CustomerView) => FormTexts;
  readonly form: (form: ShownForm) => Child;
};

type ShownForm = {
  readonly texts: FormTexts;
  readonly failure: Failure | undefined;
  /** The names of all customers. */
  readonly names: readonly string[];
};

/** The last part of an action's address names it. */
export const CUSTOMER_ACTIONS: Readonly<Record<string, Action>> = {
  edit: {
    call: customerCalls.update,
    title: "Change customer",
    texts: (customer) => textsOf(customerUpdate, customer),
    form: ({ texts, failure }) => (
      <Fields schema={customerUpdate} names={[["name", "email"], "note"]} texts={texts} failure={failure} />
    ),
  },
  merge: {
    call: customerCalls.merge,
    title: "Merge",
    isDangerous: true,
    form: ({ failure, names }) => (
      <>
        <p>All keys and all use become those of another customer, and this customer is gone.</p>
        <Fields schema={merger} names={["into"]} own={{ into: { suggestions: names } }} failure={failure} />
      </>
    ),
  },
  erase: {
    call: customerCalls.erase,
    title: "Erase",
    isDangerous: true,
    form: () => (
      <p>
        For a person who asks to be forgotten. All keys must be revoked. Names, address and notes are deleted,
        also in the audit log; the use stays.
      </p>
    ),
  },
};

export function CustomerLinks({ id, open }: { readonly id: string; readonly open: string | undefined }) {
  return (
    <nav class="row" aria-label="Actions">
      {Object.entries(CUSTOMER_ACTIONS).map(([name, { title, isDangerous }]) => (
        <a
          href={`${customerAddress(id)}/${name}`}
          class={isDangerous ? "button danger" : "button"}
          aria-current={name === open ? "true" : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}

type FormProps = {
  readonly customer: CustomerView;
  readonly open: string | undefined;
  readonly names: readonly string[];
  readonly failure: Failure | undefined;
};

/** Shows the form of the open action. */
export function CustomerForm({ customer, open = "", names, failure }: FormProps) {
  const action = Object.hasOwn(CUSTOMER_ACTIONS, open) ? CUSTOMER_ACTIONS[open] : undefined;
  if (action === undefined) return <FailureNotice failure={failure} />;
  const { call, title, isDangerous } = action;
  const back = customerAddress(customer.id);
  const address = `${back}/${open}`;
  const texts = action.texts?.(customer) ?? {};
  const preview = failure?.preview;
  return (
    <div class={preview && "columns"}>
      <section class="panel" aria-label={title} tabindex={-1} autofocus={preview === undefined}>
        <h2>{title}</h2>
        <FailureNotice failure={failure} />
        <form method="post" action={address}>
          <Basis version={customer.version} texts={texts} />
          {action.form({ texts, failure, names })}
          <FormButtons
            failure={failure}
            tone={isDangerous ? "danger" : "primary"}
            back={back}
            hasFields={open !== "erase"}
          >
            {call.preview ? "Preview" : title}
          </FormButtons>
        </form>
      </section>
      <PreviewPanel preview={preview} action={address} button={title} isDangerous={isDangerous} back={back} />
    </div>
  );
}

/** Beyond them, a script asks for what is typed. */
const SUGGESTED = "200";

export async function knownCustomers(c: ConsoleContext): Promise<readonly string[]> {
  const { customers } = await ask(c, customerCalls.list, { limit: SUGGESTED });
  return customers.flatMap(({ name, erasedAt }) => (erasedAt === null ? name : []));
}
