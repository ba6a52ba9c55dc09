/** Changes a key's name, owner, note, plan, own limits and expiry. */
import { useState } from "preact/hooks";
import { jsonOf } from "../../admin-client.ts";
import { useAdmin } from "../../admin-context.ts";
import { ActionDialog } from "../../components/action-dialog.tsx";
import { InputField, SelectField } from "../../components/field.tsx";
import type { KeyDialogProps } from "../key-actions.tsx";
import { isPlan, limitOf, PLANS, textOrNull } from "../key-types.ts";
import { LimitFields } from "../limit-fields.tsx";
import { OwnerFields } from "../owner-fields.tsx";

export function EditDialog({ shown, onChanged, onClose }: KeyDialogProps) {
  const { client, announce } = useAdmin();
  // As the key was when the dialog opened: the page goes on refreshing it.
  const [before] = useState(() => textsOf(shown));
  const [name, setName] = useState(before.name);
  const [plan, setPlan] = useState(before.plan);
  const [perMinute, setPerMinute] = useState(before.perMinute);
  const [perDay, setPerDay] = useState(before.perDay);
  const [expires, setExpires] = useState(before.expires);
  const [ownerName, setOwnerName] = useState(before.ownerName);
  const [ownerEmail, setOwnerEmail] = useState(before.ownerEmail);
  const [note, setNote] = useState(before.note);
  const save = async () => {
    const json = {
      ...(name === before.name ? {} : { name }),
      ...(plan === before.plan || !isPlan(plan) ? {} : { plan }),
      ...(perMinute === before.perMinute ? {} : { requestsPerMinute: limitOf(perMinute) }),
      ...(perDay === before.perDay ? {} : { requestsPerDay: limitOf(perDay) }),
      ...(ownerName === before.ownerName ? {} : { ownerName: textOrNull(ownerName) }),
      ...(ownerEmail === before.ownerEmail ? {} : { ownerEmail: textOrNull(ownerEmail) }),
      ...(note === before.note ? {} : { note: textOrNull(note) }),
      ...(expires === before.expires ? {} : { expiresAt: expires === "" ? null : expires }),
    };
    if (Object.keys(json).length === 0) return;
    const { effective } = await jsonOf(client.keys[":id"].$patch({ param: { id: shown.id }, json }));
    announce(`${name} is changed, effective ${effective}.`);
    await onChanged();
  };
  return (
    <ActionDialog title={`Edit ${before.name}`} action="Save" run={save} onClose={onClose}>
      <InputField label="Name" required maxLength={100} value={name} onInput={setName} />
      <OwnerFields
        ownerName={ownerName}
        onOwnerName={setOwnerName}
        ownerEmail={ownerEmail}
        onOwnerEmail={setOwnerEmail}
        note={note}
        onNote={setNote}
      />
      <SelectField
        label="Plan"
        value={plan}
        options={PLANS.map((each) => [each, each] as const)}
        onChange={setPlan}
      />
      <LimitFields
        isRequired={plan === "enterprise"}
        perMinute={perMinute}
        onPerMinute={setPerMinute}
        perDay={perDay}
        onPerDay={setPerDay}
      />
      <InputField
        label="Expires"
        hint="At 00:00 UTC of this day. Empty: never."
        type="date"
        value={expires}
        onInput={setExpires}
      />
    </ActionDialog>
  );
}

function textsOf(shown: KeyDialogProps["shown"]) {
  return {
    name: shown.name,
    plan: shown.plan,
    ownerName: shown.ownerName ?? "",
    ownerEmail: shown.ownerEmail ?? "",
    note: shown.note ?? "",
    perMinute: String(shown.requestsPerMinute ?? ""),
    perDay: String(shown.requestsPerDay ?? ""),
    expires: shown.expiresAt?.slice(0, 10) ?? "",
  };
}
