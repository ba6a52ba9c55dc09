/** Changes a key's name, owner, note, plan, own limits and expiry. */
import { useState } from "preact/hooks";
import { jsonOf } from "../../admin-client.ts";
import { useAdmin } from "../../admin-context.ts";
import { changedMembers, tryMembers } from "../../changes.ts";
import { ActionDialog } from "../../components/action-dialog.tsx";
import type { KeyDialogProps } from "../key-actions.tsx";
import { KeyFields, type KeyTexts, NEW_KEY, toKeyRequest } from "../key-fields.tsx";
import { expiryTextOf, isPlan } from "../key-types.ts";

export function EditDialog({ shown, onChanged, onClose }: KeyDialogProps) {
  const { client, announce } = useAdmin();
  const before = textsOf(shown);
  const [texts, setTexts] = useState(before);
  const [tried] = useState(() => new Set<string>());
  const save = async () => {
    const json = changedMembers(toKeyRequest(before), toKeyRequest(texts), tried);
    if (Object.keys(json).length === 0) return;
    const call = client.keys[":id"].$patch({ param: { id: shown.id }, json });
    const { effective } = await tryMembers(jsonOf(call, "effective"), json, tried);
    announce(`${texts.name} is changed, effective ${effective}.`);
  };
  return (
    <ActionDialog
      title={`Edit ${before.name}`}
      action="Save"
      run={save}
      onChanged={onChanged}
      onClose={onClose}
    >
      <KeyFields texts={texts} onChange={setTexts} />
    </ActionDialog>
  );
}

function textsOf(shown: KeyDialogProps["shown"]): KeyTexts {
  return {
    name: shown.name,
    plan: isPlan(shown.plan) ? shown.plan : NEW_KEY.plan,
    ownerName: shown.ownerName ?? "",
    ownerEmail: shown.ownerEmail ?? "",
    note: shown.note ?? "",
    perMinute: String(shown.requestsPerMinute ?? ""),
    perDay: String(shown.requestsPerDay ?? ""),
    expires: expiryTextOf(shown.expiresAt),
  };
}
