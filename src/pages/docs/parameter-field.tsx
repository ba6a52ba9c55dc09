/** The field for a parameter in the path or in a header. It begins empty: an example could be somebody's order. */
import { useId } from "preact/hooks";
import type { ParameterObject } from "./openapi-model.ts";

type Props = {
  readonly parameter: ParameterObject;
  readonly value: string;
  readonly onValue: (text: string) => void;
};

/** What can be sent. */
const SENDABLE = {
  // fetch refuses other characters.
  header: { pattern: "[ -~]*", title: "ASCII characters" },
  // Others are encoded.
  path: {
    pattern: String.raw`(?!\s*\.{0,2}\s*$).*`,
    title: "A URL cannot have only blanks, . or .. in this place",
  },
};

export function ParameterField({ parameter, value, onValue }: Props) {
  const { name, required, schema, example } = parameter;
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{required ? name : `${name} (optional)`}</label>
      <input
        id={id}
        type="text"
        inputMode={schema.type === "integer" ? "numeric" : "text"}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        required={required}
        placeholder={`for example ${example}`}
        {...SENDABLE[parameter.in]}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </div>
  );
}
