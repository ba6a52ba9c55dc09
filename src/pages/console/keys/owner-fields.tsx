/** The fields for a key's owner and note. */
import { InputField, TextAreaField } from "../components/field.tsx";

type Props = {
  readonly ownerName: string;
  readonly onOwnerName: (value: string) => void;
  readonly ownerEmail: string;
  readonly onOwnerEmail: (value: string) => void;
  readonly note: string;
  readonly onNote: (value: string) => void;
};

export function OwnerFields(props: Props) {
  return (
    <>
      <div class="pair">
        <InputField
          label="Owner"
          maxLength={100}
          autocomplete="off"
          value={props.ownerName}
          onInput={props.onOwnerName}
        />
        <InputField
          label="Owner's e-mail"
          type="email"
          maxLength={254}
          autocomplete="off"
          value={props.ownerEmail}
          onInput={props.onOwnerEmail}
        />
      </div>
      <TextAreaField label="Note" maxLength={1_000} value={props.note} onInput={props.onNote} />
    </>
  );
}
