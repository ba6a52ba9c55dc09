/** Lists what an operator can do to a key. Each action has a form and a call. */
import type { Child } from "hono/jsx";
import type * as v from "valibot";
import { banRequest } from "../../../admin/bans/schema.ts";
import type { Call } from "../../../admin/call.ts";
import { keyBanCalls, keyCalls } from "../../../admin/keys/calls.ts";
import { type KeyView, keyUpdate, rotation, temporaryLimits } from "../../../admin/keys/schema.ts";
import { type LimitName, limitsInWords, type PlanView } from "../../../admin/plans/schema.ts";
import type { Effective } from "../../../admin/refresh-limiters.ts";
import { validOf } from "../../../admin/says.ts";
import type { ObjectSchema } from "../../../text/check-schema.ts";
import { formatDay, formatNumber, formatTime } from "../../../text/format.ts";
import { DAY_SECONDS, midnightAfter, nowSeconds, rfc3339 } from "../../../text/time.ts";
import { type Failure, FailureNotice, FormButtons } from "../../kit/failure.tsx";
import { Fields } from "../../kit/fields.tsx";
import { type FormTexts, textsOf } from "../../kit/members.ts";
import { type Preview, PreviewPanel } from "../../kit/preview.tsx";
import { Basis, Check, Field } from "../../kit/ui.tsx";
import { KeyFields } from "./key-fields.tsx";

/** A key as its page shows it. */
export type ShownKey = {
  readonly key: KeyView;
  readonly isBanned: boolean;
  readonly plans: readonly PlanView[];
  /** The names of customers, for the form that changes the customer. */
  readonly customers: readonly string[];
};

export type ChangedKey = { readonly version: number; readonly effective: Effective };

type Action = {
  readonly call: Call<ObjectSchema, ObjectSchema, v.GenericSchema, ChangedKey>;
  readonly title: string | ((shown: ShownKey) => string);
  /** What the button below the preview says that it does. Without it: the title, also if nothing is asked. */
  readonly does?: (preview: Preview, shown: ShownKey) => string;
  readonly isDangerous?: true;
  readonly isOffered?: (shown: ShownKey) => boolean;
  readonly form: (shown: ShownKey, texts: FormTexts, failure: Failure | undefined) => Child;
  /** Returns the texts that the fields show at first. */
  readonly texts?: (shown: ShownKey) => FormTexts;
  /** The form sends only fields whose text was changed. */
  readonly sendsChanges?: true;
  /** The members that a form without fields sends. */
  readonly sends?: FormTexts;
};

/** The choices of the grace, by seconds. */
const GRACE = {
  0: "end at once",
  3600: "stay valid for 1 hour",
  86400: "stay valid for 1 day",
  604800: "stay valid for 7 days",
  2592000: "stay valid for 30 days",
};

/** The last part of an action's address names it. The page shows the actions in this order. */
export const ACTIONS: Readonly<Record<string, Action>> = {
  edit: {
    call: keyCalls.update,
    title: "Change key",
    texts: ({ key }) => textsOf(keyUpdate, { ...key, customer: key.customer?.name ?? null }),
    sendsChanges: true,
    form: ({ plans, customers }, texts, failure) => (
      <KeyFields texts={texts} plans={plans} customers={customers} failure={failure} />
    ),
  },
  limit: {
    call: keyCalls.limitTemporarily,
    title: "Set temporary limit",
    texts: (shown) => ({
      requestsPerMinute: formatNumber(2 * permanentLimit(shown, "requestsPerMinute")),
      requestsPerDay: formatNumber(2 * permanentLimit(shown, "requestsPerDay")),
      days: "1",
    }),
    form: (shown, texts, failure) => (
      <>
        <p>Twice the permanent limits until tomorrow, unless you change the fields.</p>
        <Fields
          schema={temporaryLimits}
          form="limit"
          names={[["requestsPerMinute", "requestsPerDay"], "days", "reason"]}
          texts={texts}
          failure={failure}
          own={{
            requestsPerMinute: limitHint(shown, "requestsPerMinute"),
            requestsPerDay: limitHint(shown, "requestsPerDay"),
            days: { hint: `1: until ${formatTime(endOfDays(1))}. 7: until ${formatTime(endOfDays(7))}.` },
          }}
        />
      </>
    ),
    does: ({ body: { days, requestsPerMinute, requestsPerDay } }) => {
      const limits = limitsInWords({
        requestsPerMinute: requestsPerMinute ?? undefined,
        requestsPerDay: requestsPerDay ?? undefined,
      });
      return `Set ${limits} until ${formatDay(endOfDays(Number(days)))}`;
    },
  },
  unlimit: {
    call: keyCalls.endTemporaryLimits,
    title: "End temporary limit",
    isOffered: ({ key }) => key.temporaryLimits !== null,
    form: () => <p>The permanent limits apply from the next request on.</p>,
  },
  rotate: {
    call: keyCalls.rotate,
    title: "Rotate secret",
    isOffered: ({ key }) => key.status !== "expired",
    texts: () => ({ graceSeconds: "86400" }),
    form: (_, texts, failure) => (
      <Fields
        schema={rotation}
        form="rotate"
        names={["graceSeconds"]}
        texts={texts}
        failure={failure}
        own={{ graceSeconds: { choices: GRACE } }}
      />
    ),
  },
  "end-secret": {
    call: keyCalls.retire,
    title: "End a secret",
    isDangerous: true,
    isOffered: ({ key }) => validOf(key.secrets, Date.now()).length > 1,
    form: ({ key }, _, failure) => (
      <Field
        name="secret"
        label="Secret"
        value={failure?.typed.secret}
        options={validOf(key.secrets, Date.now()).map(({ id, hint }) => [id, hint])}
      />
    ),
    does: ({ sent }, { key }) =>
      `End the secret ${key.secrets.find(({ id }) => id === sent.secret)?.hint ?? "that is chosen"}`,
  },
  lift: {
    call: keyBanCalls.lift,
    title: "Lift ban",
    isOffered: ({ isBanned }) => isBanned,
    form: () => <p>The key works again on its next request. Its seconds over the limit are counted anew.</p>,
  },
  enable: {
    call: keyCalls.update,
    title: "Enable key",
    sends: { disabled: "false" },
    isOffered: ({ key }) => key.status === "disabled",
    form: () => <p>The key works again on its next request.</p>,
  },
  ban: {
    call: keyBanCalls.set,
    title: ({ isBanned }) => (isBanned ? "Replace ban" : "Ban key"),
    isDangerous: true,
    texts: () => ({ seconds: "1", "seconds.unit": String(DAY_SECONDS) }),
    form: (_, texts, failure) => (
      <Fields schema={banRequest} form="ban" names={["seconds", "reason"]} texts={texts} failure={failure} />
    ),
    does: ({ body: { seconds } }) => `Ban until ${formatTime(rfc3339(nowSeconds() + Number(seconds)))}`,
  },
  disable: {
    call: keyCalls.update,
    title: "Disable key",
    isDangerous: true,
    sends: { disabled: "true" },
    isOffered: ({ key }) => key.status !== "disabled",
    form: () => <p>Every request with the key is a 401 until the key is enabled.</p>,
  },
  revoke: {
    call: keyCalls.revoke,
    title: "Revoke key",
    isDangerous: true,
    form: () => (
      <>
        <p>Every request with the key is a 401 from now on. This cannot be undone.</p>
        <Check name="sure" label="Revoke it for good" attributes={{ required: true }} />
      </>
    ),
  },
};

export function permanentLimit({ key, plans }: ShownKey, name: LimitName): number {
  return key[name] ?? plans.find(({ id }) => id === key.plan)?.[name] ?? 0;
}

function limitHint(shown: ShownKey, name: LimitName) {
  const [now, permanent] = [shown.key.limits[name], permanentLimit(shown, name)].map(formatNumber);
  return { hint: `Now ${now}. Empty: the permanent ${permanent}.` };
}

function endOfDays(days: number): string {
  return rfc3339(midnightAfter(nowSeconds(), days));
}

/** A GET of this address shows the form, and a POST makes the change. */
export function addressOfAction(key: KeyView, name: string): string {
  return `/console/keys/${key.id}/${name}`;
}

export function titleOf(shown: ShownKey, { title }: Pick<Action, "title">): string {
  return typeof title === "string" ? title : title(shown);
}

/** Returns the actions that the page offers. */
export function offered(shown: ShownKey): readonly [name: string, action: Action][] {
  if (shown.key.status === "revoked") return [];
  return Object.entries(ACTIONS).filter(([, { isOffered }]) => isOffered?.(shown) ?? true);
}

type ActionsProps = { readonly shown: ShownKey; readonly open: string | undefined };

export function ActionLinks({ shown, open }: ActionsProps) {
  const links = offered(shown).map(([name, action]) => (
    <a
      href={addressOfAction(shown.key, name)}
      class={action.isDangerous ? "button danger" : "button"}
      aria-current={name === open ? "true" : undefined}
    >
      {titleOf(shown, action)}
    </a>
  ));
  return (
    <nav class="row" aria-label="Actions">
      {links}
    </nav>
  );
}

type FormProps = ActionsProps & { readonly failure: Failure | undefined };

/** Shows the form of the open action, and moves the focus there. */
export function ActionForm({ shown, open, failure }: FormProps) {
  const [name, action] = offered(shown).find(([each]) => each === open) ?? [];
  if (name === undefined || action === undefined) return <FailureNotice failure={failure} />;
  const { version } = shown.key;
  const title = titleOf(shown, action);
  const texts = action.texts?.(shown) ?? {};
  const { preview, problems = [] } = failure ?? {};
  const address = addressOfAction(shown.key, name);
  const back = `/console/keys/${shown.key.id}`;
  const isDangerous = action.isDangerous;
  // A wrong field and the preview take the focus.
  const isFirst = preview === undefined && problems.every(({ member }) => member === null);
  const form = (
    <section class="panel" aria-label={title} tabindex={-1} autofocus={isFirst}>
      <h2>{title}</h2>
      <FailureNotice failure={failure} />
      <form method="post" action={address}>
        <Basis version={version} texts={action.sendsChanges ? texts : {}} />
        {action.form(shown, texts, failure)}
        <FormButtons
          failure={failure}
          tone={isDangerous ? "danger" : "primary"}
          back={back}
          hasFields={action.texts !== undefined}
        >
          {action.does ? "Preview" : title}
        </FormButtons>
      </form>
    </section>
  );
  if (preview === undefined) return form;
  const button = action.does?.(preview, shown) ?? title;
  return (
    <div class="columns">
      {form}
      <PreviewPanel
        preview={preview}
        action={address}
        button={button}
        isDangerous={isDangerous}
        back={back}
      />
    </div>
  );
}
