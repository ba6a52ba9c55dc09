/** The fields of a key, which a form creates or changes. */

import { formatNumber } from "../../console/format.ts";
import { numberOrNull, type Typed, textOrNull, utcOrNull } from "../../console/forms.ts";
import { Field, Select, TextArea } from "../../console/ui.tsx";
import { MAX_REQUESTS_PER_DAY, MAX_REQUESTS_PER_MINUTE } from "../../db/values.ts";
import type { PlanView } from "../plans/schema.ts";
import type { KeyView } from "./schema.ts";

const TO_MEMBER = {
  name: (text: string) => text,
  plan: (text: string) => text,
  ownerName: textOrNull,
  ownerEmail: textOrNull,
  note: textOrNull,
  requestsPerMinute: numberOrNull,
  requestsPerDay: numberOrNull,
  expiresAt: utcOrNull,
} as const;

/** The members for the admin API's schema. */
export function membersOf(typed: Typed): Record<string, unknown> {
  const members = Object.entries(TO_MEMBER).flatMap(([name, toMember]) => {
    const text = sameLines(typed[name]);
    return text === undefined ? [] : [[name, toMember(text)]];
  });
  return Object.fromEntries(members);
}

/** Forms send CRLF. */
function sameLines(text: string | undefined): string | undefined {
  return text?.replaceAll("\r\n", "\n");
}

/** The key as the fields show it. */
export function textsOf(key: KeyView): Typed {
  const { name, plan, ownerName, ownerEmail, note, requestsPerMinute, requestsPerDay, expiresAt } = key;
  return {
    name,
    plan,
    ownerName: ownerName ?? "",
    ownerEmail: ownerEmail ?? "",
    note: note ?? "",
    requestsPerMinute: String(requestsPerMinute ?? ""),
    requestsPerDay: String(requestsPerDay ?? ""),
    expiresAt: expiresAt?.replace("Z", "").replace(/:00$/, "") ?? "",
  };
}

type Props = { readonly texts: Typed; readonly plans: readonly PlanView[] };

export function KeyFields({ texts, plans }: Props) {
  const field = (name: keyof typeof TO_MEMBER) => ({ name, value: texts[name] ?? "", form: "key" });
  const limits = plans.map(
    ({ id, requestsPerMinute, requestsPerDay }) =>
      [
        id,
        requestsPerMinute === null || requestsPerDay === null
          ? `${id} (own limits)`
          : `${id} (${formatNumber(requestsPerMinute)} a minute, ${formatNumber(requestsPerDay)} a day)`,
      ] as const,
  );
  return (
    <>
      <Field {...field("name")} label="Name" attributes={{ required: true, maxlength: 100 }} />
      <div class="pair">
        <Field {...field("ownerName")} label="Owner" attributes={{ maxlength: 100 }} />
        <Field
          {...field("ownerEmail")}
          label="Owner's e-mail"
          attributes={{ maxlength: 254, inputmode: "email", spellcheck: false }}
        />
      </div>
      <Select {...field("plan")} label="Plan" options={limits} />
      <LimitFields form="key" texts={texts} hint={() => "Empty: the plan's limit."} />
      <Field
        {...field("expiresAt")}
        label="Expires (UTC)"
        type="datetime-local"
        hint="Empty: never."
        attributes={{ step: 1 }}
      />
      <TextArea {...field("note")} label="Note" attributes={{ maxlength: 1_000 }} />
    </>
  );
}

type LimitProps = {
  readonly form: string;
  readonly texts: Typed;
  readonly hint: (name: "requestsPerMinute" | "requestsPerDay") => string;
};

export function LimitFields({ form, texts, hint }: LimitProps) {
  const field = (name: "requestsPerMinute" | "requestsPerDay", max: number) => ({
    name,
    form,
    value: texts[name] ?? "",
    hint: hint(name),
    type: "number",
    attributes: { min: 1, max, inputmode: "numeric" },
  });
  return (
    <div class="pair">
      <Field {...field("requestsPerMinute", MAX_REQUESTS_PER_MINUTE)} label="Requests per minute" />
      <Field {...field("requestsPerDay", MAX_REQUESTS_PER_DAY)} label="Requests per day" />
    </div>
  );
}
