/** Sets an operator ban. */
import { useState } from "preact/hooks";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { InputField, SelectField } from "../components/field.tsx";

const HOUR = 3_600;
const DAY = 24 * HOUR;

const LENGTHS = [
  [String(HOUR / 6), "10 minutes"],
  [String(HOUR), "1 hour"],
  [String(DAY), "24 hours"],
  [String(7 * DAY), "7 days"],
  [String(30 * DAY), "30 days"],
  [String(366 * DAY), "366 days"],
] as const;

type Props = {
  readonly keyId: string;
  readonly keyName: string;
  readonly onChanged: () => Promise<void>;
  readonly onClose: () => void;
};

export function BanDialog({ keyId, keyName, onChanged, onClose }: Props) {
  const { client, announce } = useAdmin();
  const [seconds, setSeconds] = useState<string>(String(HOUR));
  const [reason, setReason] = useState("");
  const ban = async () => {
    const json = { seconds: Number(seconds), reason };
    const { effective } = await jsonOf(client.keys[":id"].ban.$put({ param: { id: keyId }, json }));
    announce(`${keyName} is banned, effective ${effective}.`);
    await onChanged();
  };
  return (
    <ActionDialog title={`Ban ${keyName}?`} action="Ban" isDangerous run={ban} onClose={onClose}>
      <p>
        Requests with this key are answered 429 until the ban ends or is lifted. It replaces a ban that is
        live.
      </p>
      <SelectField label="For" value={seconds} options={LENGTHS} onChange={setSeconds} />
      <InputField
        label="Reason"
        hint="For the list of bans and the audit log. Clients do not see it."
        required
        maxLength={500}
        value={reason}
        onInput={setReason}
      />
    </ActionDialog>
  );
}
