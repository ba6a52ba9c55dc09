/** The fields of a key that is issued or changed. */
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import { InputField, SelectField, TextAreaField } from "../components/field.tsx";
import { useLoad } from "../use-load.ts";
import { expiryFieldOf, isPlan, limitFieldOf, limitOf, PLANS, type Plan, textOrNull } from "./key-types.ts";

/** The fields as they are typed; an empty one stands for none. */
export type KeyTexts = {
  readonly name: string;
  readonly plan: Plan;
  readonly ownerName: string;
  readonly ownerEmail: string;
  readonly note: string;
  readonly perMinute: string;
  readonly perDay: string;
  /** `YYYY-MM-DD`, or an RFC 3339 date-time */
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
  const { client } = useAdmin();
  // Until they are loaded, and if that fails, the service says whether a limit is missing.
  const { data } = useLoad(() => jsonOf(client.plans.$get(), "plans"), "");
  const plan = data?.plans.find(({ id }) => id === texts.plan);
  const limit = { type: "number", min: 1, inputMode: "numeric" } as const;
  return (
    <>
      <InputField label="Name" required maxLength={100} autocomplete="off" {...field("name")} />
      <div class="pair">
        <InputField label="Owner" maxLength={100} autocomplete="off" {...field("ownerName")} />
        <InputField
          label="Owner's e-mail"
          inputMode="email"
          spellcheck={false}
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
        <InputField
          {...limit}
          {...limitFieldOf(plan?.requestsPerMinute)}
          label="Requests per minute"
          {...field("perMinute")}
        />
        <InputField
          {...limit}
          {...limitFieldOf(plan?.requestsPerDay)}
          label="Requests per day"
          {...field("perDay")}
        />
      </div>
      <InputField label="Expires" type="date" {...field("expires")} {...expiryFieldOf(texts.expires)} />
    </>
  );
}
