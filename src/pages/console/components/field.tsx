/** Labelled controls of a form, with a hint below them. */
import { useId } from "preact/hooks";

type Common = { readonly label: string; readonly hint?: string | undefined };

type InputProps = Common & {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: "text" | "search" | "password" | "number" | "date" | "datetime-local";
  readonly inputMode?: "numeric" | "email";
  readonly required?: boolean;
  readonly autocomplete?: "off" | "nickname";
  readonly spellcheck?: boolean;
  readonly maxLength?: number;
  readonly min?: number | string;
  readonly max?: string;
  readonly pattern?: string;
  readonly title?: string;
  readonly placeholder?: string;
  /** The id of a datalist. */
  readonly list?: string;
};

/** A year has four digits: without this, Chromium takes six. A date is of UTC, a time is local. */
const MAX: Partial<Record<NonNullable<InputProps["type"]>, string>> = {
  date: "9999-12-31",
  "datetime-local": "9999-12-30T23:59",
};

export function InputField({ label, hint, onInput, type = "text", ...input }: InputProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        max={MAX[type]}
        {...input}
        id={id}
        // Preact's types have one variant of <input> for each role. These types all have the attributes used here.
        type={type as "text"}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {hint !== undefined && <Hint id={id} text={hint} />}
    </div>
  );
}

type TextAreaProps = Common & {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly maxLength: number;
};

export function TextAreaField({ label, hint, onInput, ...textarea }: TextAreaProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        {...textarea}
        id={id}
        rows={2}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {hint !== undefined && <Hint id={id} text={hint} />}
    </div>
  );
}

type SelectProps = Common & {
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onChange: (value: string) => void;
};

export function SelectField({ label, hint, value, options, onChange }: SelectProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
      {hint !== undefined && <Hint id={id} text={hint} />}
    </div>
  );
}

type CheckProps = {
  readonly label: string;
  readonly isChecked: boolean;
  readonly isDisabled?: boolean;
  readonly onChange: (isChecked: boolean) => void;
};

export function CheckField({ label, isChecked, isDisabled = false, onChange }: CheckProps) {
  const id = useId();
  return (
    <p class="check">
      <input
        id={id}
        type="checkbox"
        checked={isChecked}
        disabled={isDisabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
    </p>
  );
}

function Hint({ id, text }: { readonly id: string; readonly text: string }) {
  return (
    <p class="hint" id={`${id}-hint`}>
      {text}
    </p>
  );
}
