/** Lists what an operator can do to a key. Each action has a form and a call. */
import { banRequest } from "../../../admin/bans/schema.ts";
import { keyBanCalls, keyCalls } from "../../../admin/keys/calls.ts";
import { type KeyView, keyUpdate, newKey, rotation, temporaryLimits } from "../../../admin/keys/schema.ts";
import { type LimitName, limitsInWords, type PlanView } from "../../../admin/plans/schema.ts";
import type { Effective } from "../../../admin/refresh-limiters.ts";
import { RIGHTS, secretInWords, validOf } from "../../../admin/says.ts";
import { formatDay, formatNumber, formatTime, planName } from "../../../text/format.ts";
import { plansOf } from "../../../text/says.ts";
import { DAY_SECONDS, midnightAfter, nowSeconds, rfc3339 } from "../../../text/time.ts";
import { type Actions, type Offered, offeredOf } from "../../kit/actions.tsx";
import type { Failure } from "../../kit/failure.tsx";
import { Fields } from "../../kit/fields.tsx";
import { type FormTexts, textsOf } from "../../kit/members.ts";
import { Check, Field } from "../../kit/ui.tsx";

/** A key as its page shows it. */
export type ShownKey = {
  readonly key: KeyView;
  readonly isBanned: boolean;
  readonly plans: readonly PlanView[];
  /** The names of customers, for the form that changes the customer. */
  readonly customers: readonly string[];
};

export type ChangedKey = {
  readonly version: number;
  readonly effective: Effective;
  readonly customerCreated?: true | undefined;
};

/** The choices of the grace, by seconds. */
const GRACE = {
  0: "end at once",
  3600: "stay valid for 1 hour",
  86400: "stay valid for 1 day",
  604800: "stay valid for 7 days",
  2592000: "stay valid for 30 days",
};

export const ACTIONS: Actions<ShownKey, ChangedKey> = {
  edit: {
    call: keyCalls.update,
    title: "Change key",
    texts: ({ key }) => ({
      ...textsOf(keyUpdate, { ...key, customer: key.customer?.name ?? null }),
      planFrom: "",
    }),
    sendsChanges: true,
    form: ({ plans, customers }, texts, failure) => (
      <KeyFields texts={texts} plans={plans} customers={customers} failure={failure} />
    ),
  },
  "keep-plan": {
    call: keyCalls.update,
    title: "Keep the plan",
    isOffered: ({ key }) => key.nextPlan !== null,
    form: ({ key }) => (
      <>
        <p>The key has {plansOf(key)}. Its plan stays as it is now.</p>
        <input type="hidden" name="plan" value={key.plan} />
      </>
    ),
  },
  limit: {
    call: keyCalls.limitTemporarily,
    title: "Set temporary limit",
    isOffered: ({ key }) => key.nextPlan === null,
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
    asksSometimes: true,
    does: () => "Rotate, and end the old secrets",
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
        options={validOf(key.secrets, Date.now()).map((secret) => [
          secret.id,
          secretInWords(secret, Date.now()),
        ])}
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

export function addressOfKey(id: string): string {
  return `/console/keys/${id}`;
}

export function offered(shown: ShownKey): Offered<ShownKey> {
  const { key } = shown;
  const actions = key.status === "revoked" ? [] : offeredOf(ACTIONS, shown);
  return { shown, actions, address: addressOfKey(key.id), version: key.version };
}

const MEMBERS = [["requestsPerMinute", "requestsPerDay"], "mayCancel", "expiresAt", "note"] as const;

export type KeyFieldsProps = {
  readonly texts: FormTexts;
  readonly plans: readonly PlanView[];
  /** The names of customers. */
  readonly customers: readonly string[];
  readonly isNew?: boolean;
  readonly isFocused?: boolean;
  readonly failure: Failure | undefined;
};

export function KeyFields({
  texts,
  plans,
  customers,
  isNew = false,
  isFocused = false,
  failure,
}: KeyFieldsProps) {
  const ownLimit = { hint: "Empty: the plan's limit." };
  const own = {
    customer: { suggestions: customers, hint: "A new name makes a new customer." },
    plan: {
      choices: Object.fromEntries(plans.map((plan) => [plan.id, `${planName(plan.id)} (${limitsOf(plan)})`])),
    },
    location: {
      hint: "A location hint of Cloudflare, as weur for Western Europe. The place stays as it is at first.",
      choices: { "": "Near the first request" },
    },
    planFrom: {
      hint: "The first day of another plan. Empty: from now on.",
      attributes: { required: false },
    },
    requestsPerMinute: ownLimit,
    requestsPerDay: ownLimit,
    mayCancel: { choices: RIGHTS },
    expiresAt: { hint: "Empty: never." },
  };
  const shared = { form: "key", texts, own, failure, isFocused };
  return isNew ? (
    <>
      <Fields schema={newKey} names={["name", "customer", "plan", ...MEMBERS]} {...shared} />
      <details class="field" open={Boolean(failure?.typed.location)}>
        <summary>More</summary>
        <Fields schema={newKey} names={["location"]} {...shared} isFocused={false} />
      </details>
    </>
  ) : (
    <Fields schema={keyUpdate} names={["name", "customer", ["plan", "planFrom"], ...MEMBERS]} {...shared} />
  );
}

function limitsOf({ requestsPerMinute, requestsPerDay }: PlanView): string {
  if (requestsPerMinute === null || requestsPerDay === null) return "own limits";
  return limitsInWords({ requestsPerMinute, requestsPerDay });
}
