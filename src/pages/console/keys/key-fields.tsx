/** The fields of a key that is issued or changed. */
import { InputField, SelectField, TextAreaField } from "../components/field.tsx";
import { isPlan, limitOf, PLANS, type Plan, textOrNull } from "./key-types.ts";

/** The fields as they are typed; an empty one stands for none. */
export type KeyTexts = {
  readonly name: string;
  readonly plan: Plan;
  readonly ownerName: string;
  readonly ownerEmail: string;
  readonly note: string;
  readonly perMinute: string;
  readonly perDay: string;
  /** `YYYY-MM-DD` */
  readonly expires: string;
};

export const NEW_KEY: KeyTexts = {
  name: "",
  plan: "free",
  ownerName: "",
  ownerEmail: "",
  note: "",
  perMinute: "",
  perDay: "",
  expires: "",
};

/** As the admin API expects them. */
export function toKeyRequest(texts: KeyTexts) {
  return {
    name: texts.name,
    plan: texts.plan,
    ownerName: textOrNull(texts.ownerName),
    ownerEmail: textOrNull(texts.ownerEmail),
    note: textOrNull(texts.note),
    requestsPerMinute: limitOf(texts.perMinute),
    requestsPerDay: limitOf(texts.perDay),
    expiresAt: texts.expires === "" ? null : texts.expires,
  };
}

type Props = {
  readonly texts: KeyTexts;
  /** An update of the latest texts: a browser that fills in several fields changes them before the next render. */
  readonly onChange: (update: (latest: KeyTexts) => KeyTexts) => void;
};

export function KeyFields({ texts, onChange }: Props) {
  const field = (name: Exclude<keyof KeyTexts, "plan">) => ({
    value: texts[name],
    onInput: (value: string) => onChange((latest) => ({ ...latest, [name]: value })),
  });
  const isLimitRequired = texts.plan === "enterprise";
  const limit = {
    type: "number",
    min: 1,
    inputMode: "numeric",
    required: isLimitRequired,
    hint: isLimitRequired ? "The plan has no limit of its own." : "Empty: the plan's limit.",
  } as const;
  return (
    <>
      <InputField label="Name" required maxLength={100} autocomplete="off" {...field("name")} />
      <div class="pair">
        <InputField label="Owner" maxLength={100} autocomplete="off" {...field("ownerName")} />
        <InputField
          label="Owner's e-mail"
          type="email"
          maxLength={254}
          autocomplete="off"
          {...field("ownerEmail")}
        />
      </div>
      <TextAreaField label="Note" maxLength={1_000} {...field("note")} />
      <SelectField
        label="Plan"
        value={texts.plan}
        options={PLANS.map((each) => [each, each] as const)}
        onChange={(chosen) => isPlan(chosen) && onChange((latest) => ({ ...latest, plan: chosen }))}
      />
      <div class="pair">
        <InputField {...limit} label="Requests per minute" {...field("perMinute")} />
        <InputField {...limit} label="Requests per day" {...field("perDay")} />
      </div>
      <InputField
        label="Expires"
        hint="At 00:00 UTC of this day. Empty: never."
        type="date"
        {...field("expires")}
      />
    </>
  );
}
