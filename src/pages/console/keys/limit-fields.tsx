/** The two fields for a key's own limits. */
import { InputField } from "../components/field.tsx";

type Props = {
  readonly isRequired: boolean;
  readonly perMinute: string;
  readonly onPerMinute: (value: string) => void;
  readonly perDay: string;
  readonly onPerDay: (value: string) => void;
};

export function LimitFields({ isRequired, perMinute, onPerMinute, perDay, onPerDay }: Props) {
  const limit = { type: "number", min: 1, inputMode: "numeric", required: isRequired } as const;
  const hint = isRequired ? "The plan has no limit of its own." : "Empty: the plan's limit.";
  return (
    <div class="pair">
      <InputField
        {...limit}
        label="Requests per minute"
        hint={hint}
        value={perMinute}
        onInput={onPerMinute}
      />
      <InputField {...limit} label="Requests per day" hint={hint} value={perDay} onInput={onPerDay} />
    </div>
  );
}
