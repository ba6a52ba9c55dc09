/** Disables a key, or enables it again. */
import { jsonOf } from "../../admin-client.ts";
import { useAdmin } from "../../admin-context.ts";
import { ActionDialog } from "../../components/action-dialog.tsx";
import type { KeyDialogProps } from "../key-actions.tsx";

export function SwitchDialog({ shown, onChanged, onClose }: KeyDialogProps) {
  const { client, announce } = useAdmin();
  const isDisabled = shown.status === "disabled";
  const word = isDisabled ? "Enable" : "Disable";
  const run = async () => {
    const json = { disabled: !isDisabled };
    const { effective } = await jsonOf(
      client.keys[":id"].$patch({ param: { id: shown.id }, json }),
      "effective",
    );
    announce(`${shown.name} is ${isDisabled ? "enabled" : "disabled"}, effective ${effective}.`);
  };
  return (
    <ActionDialog
      title={`${word} ${shown.name}?`}
      action={word}
      isDangerous={!isDisabled}
      run={run}
      onChanged={onChanged}
      onClose={onClose}
    >
      <p>
        {isDisabled
          ? "Requests with this key are admitted again, within its limits, unless it has expired, is banned or has no valid secret."
          : "Requests with this key are answered 401 until it is enabled again."}
      </p>
    </ActionDialog>
  );
}
