/** Lists what an operator can do to a key. Each action has a form, a call, and an action that undoes it. */
import type { Child } from "hono/jsx";
import type * as v from "valibot";
import type { AuditView } from "../../../admin/audit/schema.ts";
import { banRequest } from "../../../admin/bans/schema.ts";
import type { Call } from "../../../admin/call.ts";
import { keyBanCalls } from "../../../admin/keys/ban-calls.ts";
import { keyCalls } from "../../../admin/keys/calls.ts";
import { type KeyView, keyUpdate, rotation, temporaryLimits } from "../../../admin/keys/schema.ts";
import { type Limit, limitsInWords, type PlanView } from "../../../admin/plans/schema.ts";
import type { Effective } from "../../../admin/refresh-limiters.ts";
import type { ObjectSchema } from "../../../text/check-schema.ts";
import { formatDay, formatNumber, formatTime } from "../../../text/format.ts";
import type { Members } from "../../../text/says.ts";
import { DAY_SECONDS, midnightAfter, nowSeconds, rfc3339 } from "../../../text/time.ts";
import { type Failure, FailureNotice, FormButtons } from "../../kit/failure.tsx";
import { Fields } from "../../kit/fields.tsx";
import { type FormTexts, textsOf } from "../../kit/members.ts";
import { APPLY, PreviewPanel } from "../../kit/preview.tsx";
import { Basis, Check } from "../../kit/ui.tsx";
import { UndoForm } from "../../kit/undo.tsx";
import { KeyFields } from "./key-fields.tsx";

/** A key as its page shows it. */
export type ShownKey = {
  readonly key: KeyView;
  readonly isBanned: boolean;
  readonly plans: readonly PlanView[];
  /** Owners who have keys, for the form that changes the owner. */
  readonly owners: readonly string[];
};

export type ChangedKey = { readonly version: number; readonly effective: Effective };

type Action = {
  readonly call: Call<ObjectSchema, ObjectSchema, v.GenericSchema, ChangedKey>;
  readonly title: string | ((shown: ShownKey) => string);
  /** What the button below the preview says that it does. Without it: the title. */
  readonly does?: (sent: Members) => string;
  readonly isDangerous?: true;
  readonly isOffered?: (shown: ShownKey) => boolean;
  /** An action without a form here has its form elsewhere on the page. */
  readonly form?: (shown: ShownKey, texts: FormTexts, failure: Failure | undefined) => Child;
  /** Returns the texts that the fields show at first. */
  readonly texts?: (shown: ShownKey) => FormTexts;
  /** The form sends only fields whose text was changed. */
  readonly sendsChanges?: true;
  /** The members that a form without fields sends. */
  readonly sends?: FormTexts;
  /** The status that the change gives the key. */
  readonly status?: KeyView["status"];
  /** Returns the action that brings back the state before, or undefined. */
  readonly undo?: (was: KeyBefore) => Undo | undefined;
};

/** The members of the key, or its ban, before the change. The audit log has them. */
type KeyBefore = {
  readonly temporaryLimits?: KeyView["temporaryLimits"];
  readonly endsAt?: string;
  readonly reason?: string | null;
};
/** The action that brings back the state before, with the texts of its fields. */
type Undo = { readonly action: string; readonly typed?: FormTexts };

/** The choices of the grace, by seconds. */
const GRACE = {
  0: "end at once",
  3600: "stay valid for 1 hour",
  86400: "stay valid for 1 day",
  604800: "stay valid for 7 days",
  2592000: "stay valid for 30 days",
};

/** The reason of a ban that no operator has set. */
export const STRIKES_REASON = "requests went on after the limit was used up";

/** The last part of an action's address names it. The page shows the actions in this order. */
export const ACTIONS: Readonly<Record<string, Action>> = {
  edit: {
    call: keyCalls.update,
    title: "Change key",
    texts: ({ key }) => textsOf(keyUpdate, key),
    sendsChanges: true,
    form: ({ plans, owners }, texts, failure) => (
      <KeyFields texts={texts} plans={plans} owners={owners} failure={failure} />
    ),
    undo: (was) => ({ action: "edit", typed: textsOf(keyUpdate, was) }),
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
    does: ({ days, requestsPerMinute, requestsPerDay }) => {
      const limits = limitsInWords({
        requestsPerMinute: requestsPerMinute ?? undefined,
        requestsPerDay: requestsPerDay ?? undefined,
      });
      return `Set ${limits} until ${formatDay(endOfDays(Number(days)))}`;
    },
    undo: (was) => limitAgain(was) ?? { action: "unlimit" },
  },
  unlimit: {
    call: keyCalls.endTemporaryLimits,
    title: "End temporary limit",
    isOffered: ({ key }) => key.temporaryLimits !== null,
    form: () => <p>The permanent limits apply from the next request on.</p>,
    undo: (was) => limitAgain(was),
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
  "end-secret": { call: keyCalls.retire, title: "End the old secret" },
  lift: {
    call: keyBanCalls.lift,
    title: "Lift ban",
    isOffered: ({ isBanned }) => isBanned,
    form: () => <p>The key works again on its next request. Its seconds over the limit are counted anew.</p>,
    undo: (was) => banAgain(was),
  },
  enable: {
    call: keyCalls.update,
    title: "Enable key",
    sends: { disabled: "false" },
    status: "active",
    isOffered: ({ key }) => key.status === "disabled",
    form: () => <p>The key works again on its next request.</p>,
    undo: () => ({ action: "disable" }),
  },
  ban: {
    call: keyBanCalls.set,
    title: ({ isBanned }) => (isBanned ? "Replace ban" : "Ban key"),
    isDangerous: true,
    texts: () => ({ seconds: "1", "seconds.unit": String(DAY_SECONDS) }),
    form: (_, texts, failure) => (
      <Fields schema={banRequest} form="ban" names={["seconds", "reason"]} texts={texts} failure={failure} />
    ),
    does: ({ seconds }) => `Ban until ${formatTime(rfc3339(nowSeconds() + Number(seconds)))}`,
    undo: (was) => banAgain(was) ?? { action: "lift" },
  },
  disable: {
    call: keyCalls.update,
    title: "Disable key",
    isDangerous: true,
    sends: { disabled: "true" },
    status: "disabled",
    isOffered: ({ key }) => key.status !== "disabled",
    form: () => <p>Every request with the key is a 401 until the key is enabled.</p>,
    undo: () => ({ action: "enable" }),
  },
  revoke: {
    call: keyCalls.revoke,
    title: "Revoke key",
    isDangerous: true,
    status: "revoked",
    form: () => (
      <>
        <p>Every request with the key is a 401 from now on. This cannot be undone.</p>
        <Check name="sure" label="Revoke it for good" attributes={{ required: true }} />
      </>
    ),
  },
};

export function permanentLimit({ key, plans }: ShownKey, name: Limit): number {
  return key[name] ?? plans.find(({ id }) => id === key.plan)?.[name] ?? 0;
}

function limitHint(shown: ShownKey, name: Limit) {
  const [now, permanent] = [shown.key.limits[name], permanentLimit(shown, name)].map(formatNumber);
  return { hint: `Now ${now}. Empty: the permanent ${permanent}.` };
}

function endOfDays(days: number): string {
  return rfc3339(midnightAfter(nowSeconds(), days));
}

/** Sets the temporary limits again, until the end that they had. */
function limitAgain({ temporaryLimits: limits = null }: KeyBefore): Undo | undefined {
  const untilSeconds = limits === null ? 0 : Date.parse(limits.until) / 1000;
  const days = (untilSeconds - midnightAfter(nowSeconds(), 0)) / DAY_SECONDS;
  return days > 0 ? { action: "limit", typed: textsOf(temporaryLimits, { ...limits, days }) } : undefined;
}

/** Sets the ban again, until the end that it had. */
function banAgain({ endsAt, reason }: KeyBefore): Undo | undefined {
  const seconds = endsAt === undefined ? 0 : Date.parse(endsAt) / 1000 - nowSeconds();
  if (seconds <= 0) return undefined;
  return { action: "ban", typed: textsOf(banRequest, { seconds, reason: reason ?? STRIKES_REASON }) };
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
  return Object.entries(ACTIONS).filter(
    ([, { form, isOffered }]) => form !== undefined && (isOffered?.(shown) ?? true),
  );
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
        <Basis version={version} kept={failure?.kept} texts={action.sendsChanges ? texts : {}} />
        {action.form?.(shown, texts, failure)}
        <FormButtons
          failure={failure}
          tone={isDangerous ? "danger" : "primary"}
          back={back}
          hasFields={action.texts !== undefined}
        >
          {action.call.preview ? "Preview" : title}
        </FormButtons>
      </form>
    </section>
  );
  if (preview === undefined) return form;
  const button = action.does?.(preview.body) ?? title;
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

/** Tells whether the action made the change. Changes of members and of the status have the same call. */
export function hasMade({ call, status }: Action, change: AuditView): boolean {
  return change.call === call.id && Object(change.after).status === status;
}

/** `change` is the last change of the key. */
type UndoProps = { readonly keyView: KeyView; readonly action: Action; readonly change: AuditView };

export function UndoAction({ keyView, action, change }: UndoProps) {
  const undo = action.undo?.((change.before ?? {}) as KeyBefore); // `make` wrote it
  if (undo === undefined) return null;
  return (
    <UndoForm
      action={addressOfAction(keyView, undo.action)}
      version={keyView.version}
      typed={{ ...undo.typed, ...APPLY }}
    />
  );
}
