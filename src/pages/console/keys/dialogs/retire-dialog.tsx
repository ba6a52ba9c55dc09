/** Ends one secret of a key, while another one goes on. */
import { jsonOf } from "../../admin-client.ts";
import { useAdmin } from "../../admin-context.ts";
import type { KeyView } from "../../api-types.ts";
import { ActionDialog } from "../../components/action-dialog.tsx";

type Props = {
  readonly keyId: string;
  readonly secret: KeyView["secrets"][number];
  readonly onChanged: () => Promise<void>;
  readonly onClose: () => void;
};

export function RetireDialog({ keyId, secret, onChanged, onClose }: Props) {
  const { client, announce } = useAdmin();
  const retire = async () => {
    const param = { id: keyId, secretId: secret.id };
    const { effective } = await jsonOf(
      client.keys[":id"].secrets[":secretId"].$delete({ param }),
      "effective",
    );
    announce(`Secret ${secret.hint} is retired, effective ${effective}.`);
  };
  return (
    <ActionDialog
      title={`Retire secret ${secret.hint}?`}
      action="Retire"
      isDangerous
      run={retire}
      onChanged={onChanged}
      onClose={onClose}
    >
      <p>
        Requests with this secret are answered 401. <strong>This is permanent.</strong> The key and its other
        secrets go on.
      </p>
    </ActionDialog>
  );
}
