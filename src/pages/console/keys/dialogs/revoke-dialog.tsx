/** Revokes a key. */
import { jsonOf } from "../../admin-client.ts";
import { useAdmin } from "../../admin-context.ts";
import { ActionDialog } from "../../components/action-dialog.tsx";
import type { KeyDialogProps } from "../key-actions.tsx";

export function RevokeDialog({ shown, onChanged, onClose }: KeyDialogProps) {
  const { client, announce } = useAdmin();
  const revoke = async () => {
    const { effective } = await jsonOf(client.keys[":id"].$delete({ param: { id: shown.id } }), "effective");
    announce(`${shown.name} is revoked, effective ${effective}.`);
  };
  return (
    <ActionDialog
      title={`Revoke ${shown.name}?`}
      action="Revoke"
      isDangerous
      run={revoke}
      onChanged={onChanged}
      onClose={onClose}
    >
      <p>
        All secrets of this key stop working: requests with them are answered 401.{" "}
        <strong>This is permanent.</strong> The record stays for the audit log. To stop the key for a time
        only, disable it.
      </p>
    </ActionDialog>
  );
}
