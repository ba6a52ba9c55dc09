/** Adds a new secret to a key, and lets the old ones end. */
import { useState } from "preact/hooks";
import { jsonOf } from "../../admin-client.ts";
import { useAdmin } from "../../admin-context.ts";
import { requireSame } from "../../changes.ts";
import { ActionDialog } from "../../components/action-dialog.tsx";
import { SelectField } from "../../components/field.tsx";
import type { KeyDialogProps } from "../key-actions.tsx";

const HOUR = 3_600;
const DAY = 24 * HOUR;

const GRACES = [
  [String(HOUR), "1 hour"],
  [String(DAY), "24 hours"],
  [String(7 * DAY), "7 days"],
  [String(30 * DAY), "30 days"],
  ["0", "None: they stop at once"],
] as const;

export function RotateDialog({ shown, onChanged, onSecret, onClose }: KeyDialogProps) {
  const { client, announce } = useAdmin();
  const [grace, setGrace] = useState<string>(String(DAY));
  const rotate = async () => {
    // A secret that a colleague has issued meanwhile would end, too.
    requireSame(shown.secrets, (await jsonOf(client.keys[":id"].$get({ param: { id: shown.id } }))).secrets);
    const json = { graceSeconds: Number(grace) };
    const rotated = await jsonOf(client.keys[":id"].rotate.$post({ param: { id: shown.id }, json }));
    onSecret(rotated.key);
    announce(`${shown.name} has a new secret, effective ${rotated.effective}.`);
    await onChanged();
  };
  return (
    <ActionDialog
      title={`Rotate ${shown.name}?`}
      action="Rotate"
      isDangerous={grace === "0"}
      run={rotate}
      onClose={onClose}
    >
      <p>The key gets a new secret, which is shown once. Quota and bans stay the same.</p>
      <SelectField
        label="Old secrets work for"
        hint="A secret that ends earlier anyway keeps its end."
        value={grace}
        options={GRACES}
        onChange={setGrace}
      />
      {grace === "0" && (
        <p class="problem">
          Every client that still uses an old secret is answered 401 from its next request on.
        </p>
      )}
    </ActionDialog>
  );
}
