/** The fields of a form, made from the schema that checks what they send. */
import type { Child } from "hono/jsx";
import type { ObjectSchema } from "../../text/check-schema.ts";
import { memberText } from "../../text/says.ts";
import type { Failure } from "./failure.tsx";
import { labelOf } from "./labels.ts";
import { type FormTexts, memberOf } from "./members.ts";
import { type Attributes, Check, Field } from "./ui.tsx";

const TYPES: Readonly<Record<string, string>> = {
  duration: "number",
  lines: "lines",
};
/** Dates are text fields, because the date fields of browsers use the order of the browser's language. */
const ATTRIBUTES: Readonly<Record<string, Attributes>> = {
  date: {
    placeholder: "2026-12-03",
    title: "A day such as 2026-12-03, or 7d, yesterday 14:00, today, tomorrow",
  },
  time: {
    placeholder: "2026-12-03 10:00",
    title: "A time such as 2026-12-03 10:00, or a day such as 2026-12-03",
  },
  /** A field of the type `number` takes no thousands separators. */
  number: { inputmode: "numeric", title: "A whole number such as 10,000" },
  digits: { inputmode: "numeric" },
  email: { inputmode: "email", spellcheck: false },
  lines: { rows: 3 },
};
const UNITS = Object.entries({ 60: "minutes", 3600: "hours", 86400: "days" });
const YES_OR_NO: Choices = { "": "not set", true: "yes", false: "no" };

/** The texts of choices, by their values. */
type Choices = Readonly<Record<string, string>>;

/** A part of a field that depends on more than the schema. */
type FieldOptions = {
  readonly hint?: Child;
  readonly choices?: Choices;
  /** Values that the choice does not offer, unless one is in the address. */
  readonly without?: readonly string[];
  /** Texts that the field offers. */
  readonly suggestions?: readonly string[];
  readonly attributes?: Attributes;
};

export type FieldsProps<Name extends string> = {
  readonly schema: ObjectSchema & { readonly entries: { readonly [Each in Name]: unknown } };
  /** The order of the fields. The fields of an inner list are beside each other. */
  readonly names: readonly (Name | readonly Name[])[];
  readonly texts?: FormTexts;
  readonly own?: { readonly [Each in Name]?: FieldOptions };
  /** Distinguishes the fields of several forms on a page. */
  readonly form?: string;
  /** An empty field filters nothing. */
  readonly isFilter?: boolean;
  /** The first field has the focus. */
  readonly isFocused?: boolean;
  /** What was refused: the fields show what was typed, and what is wrong. */
  readonly failure?: Failure | undefined;
};

export function Fields<Name extends string>({
  names,
  own = {},
  failure,
  isFocused,
  ...props
}: FieldsProps<Name>) {
  const texts = { ...props.texts, ...failure?.typed };
  const problemOf = (name: Name) => failure?.problems.find(({ member }) => member === name)?.reason;
  const all = names.flatMap((each): readonly Name[] => (typeof each === "string" ? [each] : each));
  const focused = all.find((name) => problemOf(name) !== undefined) ?? (isFocused ? all[0] : undefined);
  const fieldOf = (name: Name) => {
    const ofField: FieldOptions = own[name] ?? {};
    const attributes = { ...ofField.attributes, autofocus: name === focused };
    return (
      <OneField
        {...props}
        name={name}
        texts={texts}
        own={{ ...ofField, attributes }}
        problem={problemOf(name)}
      />
    );
  };
  const rows = names.map((each) =>
    typeof each === "string" ? fieldOf(each) : <div class="pair">{each.map(fieldOf)}</div>,
  );
  return <>{rows}</>;
}

type OneProps = Pick<FieldsProps<string>, "schema" | "form" | "isFilter"> & {
  readonly name: string;
  readonly texts: FormTexts;
  readonly own: FieldOptions;
  readonly problem: string | undefined;
};

function OneField({ schema, name, texts, own, problem, form, isFilter = false }: OneProps) {
  const { kind, isNullable, ...member } = memberOf(schema, name);
  const label = kind === "time" || kind === "date" ? `${labelOf(name)} (UTC)` : labelOf(name);
  if (kind === "switch" || (kind === "boolean" && !isNullable && !own.choices))
    return <Check name={name} label={label} />;
  const { hint, suggestions } = own;
  const field = { name, form, label, hint, value: texts[name], problem, suggestions };
  const choices = own.choices ?? (kind === "boolean" ? YES_OR_NO : undefined);
  const allowed = member.options ?? Object.keys(choices ?? {});
  const values = allowed.filter((value) => value === texts[name] || !own.without?.includes(value));
  if (values.length > 0) {
    const hasNone = kind !== "boolean" && (isNullable || (isFilter && !member.hasDefault));
    const all = hasNone ? ["", ...values] : values;
    const options = all.map(
      (value) => [value, choices?.[value] ?? (value === "" ? "All" : memberText(name, value))] as const,
    );
    return <Field {...field} options={options} attributes={own.attributes ?? {}} />;
  }
  const type = TYPES[kind] ?? (isFilter && kind === "string" ? "search" : "text");
  const required = !isNullable && !isFilter;
  const attributes = { required, ...ATTRIBUTES[kind], ...own.attributes };
  if (kind !== "duration") return <Field {...field} type={type} attributes={attributes} />;
  const unit = `${name}.unit`;
  return (
    <div class="pair">
      <Field {...field} label="For" type={type} attributes={attributes} />
      <Field name={unit} form={form} label="Unit" value={texts[unit]} options={UNITS} />
    </div>
  );
}
