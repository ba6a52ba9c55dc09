/** The fields of a form, made from the schema that checks what they send. */
import type { ObjectSchema } from "../check-schema.ts";
import type { Typed } from "./forms.ts";
import { memberOf } from "./members.ts";
import { type Attributes, Check, Field, type Option, optionsOf, Select, TextArea } from "./ui.tsx";

const DIGITS = { inputmode: "numeric" };
const ATTRIBUTES: Readonly<Record<string, Attributes>> = {
  number: { type: "number", ...DIGITS },
  duration: { type: "number", ...DIGITS },
  digits: { pattern: "-?[0-9]+", ...DIGITS },
  time: { type: "datetime-local", step: 1 },
  date: { type: "date" },
  email: { inputmode: "email", spellcheck: false },
};
const UNITS = Object.entries({ 60: "minutes", 3600: "hours", 86400: "days" });
const ALL = [["", "All"]] as const;
const CHOICES = Object.entries({ "": "not set", true: "yes", false: "no" });

type Own = { readonly hint?: string; readonly options?: readonly Option[]; readonly attributes?: Attributes };

export type FieldsProps<Name extends string> = {
  readonly schema: ObjectSchema & { readonly entries: { readonly [Each in Name]: unknown } };
  /** In this order. The fields of an inner list are beside each other. */
  readonly names: readonly (Name | readonly Name[])[];
  readonly texts?: Typed;
  /** What depends on more than the schema. */
  readonly own?: { readonly [Each in Name]?: Own };
  /** Distinguishes the fields of several forms on a page. */
  readonly form?: string;
  /** An empty field filters nothing. */
  readonly isFilter?: boolean;
};

export function Fields<Name extends string>({ names, ...props }: FieldsProps<Name>) {
  const fieldOf = (name: Name) => <OneField {...props} name={name} />;
  const rows = names.map((each) =>
    typeof each === "string" ? fieldOf(each) : <div class="pair">{each.map(fieldOf)}</div>,
  );
  return <>{rows}</>;
}

type OneProps<Name extends string> = Omit<FieldsProps<Name>, "names"> & { readonly name: Name };

function OneField<Name extends string>({
  schema,
  name,
  texts = {},
  own = {},
  form,
  isFilter,
}: OneProps<Name>) {
  const { kind, base, title, help, isNullable, options, ...bounds } = memberOf(schema, name);
  const { hint = help?.replace(/^Null:/, "Empty:"), attributes, ...rest } = own[name] ?? {};
  const label = kind === "time" || kind === "date" ? `${title} (UTC)` : title;
  const field = { name, form, label, hint, value: texts[name] };
  if (kind === "switch" || (kind === "boolean" && !isNullable)) return <Check name={name} label={label} />;
  if (rest.options !== undefined) return <Select {...field} options={rest.options} />;
  if (kind === "boolean") return <Select {...field} options={CHOICES} />;
  if (base === "picklist") {
    return <Select {...field} options={[...(isFilter ? ALL : []), ...optionsOf(options)]} />;
  }
  const shared = { required: !isNullable && !isFilter, ...bounds, ...ATTRIBUTES[kind], ...attributes };
  if (kind === "lines") return <TextArea {...field} attributes={shared} />;
  if (kind !== "duration") return <Field {...field} type={isFilter ? "search" : "text"} attributes={shared} />;
  const unit = `${name}.unit`;
  return (
    <div class="pair">
      <Field {...field} label="For" attributes={{ ...shared, max: undefined }} />
      <Select name={unit} form={form} label="Unit" value={texts[unit]} options={UNITS} />
    </div>
  );
}
