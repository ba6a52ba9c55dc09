/** Ends one secret of a key, while another one goes on. */
import { jsonOf } from "../../admin-client.ts";
import { useAdmin } from "../../admin-context.ts";
import type { KeyView } from "../../api-types.ts";
import { ActionDialog } from "../../components/action-dialog.tsx";
import { Time } from "../../components/time.tsx";

type Secret = KeyView["secrets"][number];

type Props = {
  readonly keyId: string;
  readonly secret: Secret;
  /** The key's other valid secrets. */
  readonly others: readonly Secret[];
  readonly onChanged: () => Promise<void>;
  readonly onClose: () => void;
};

export function RetireDialog({ keyId, secret, others, onChanged, onClose }: Props) {
  const { client, announce } = useAdmin();
  const retire = async () => {
    const param = { id: keyId, secretId: secret.id };
    const { effective } = await jsonOf(
      client.keys[":id"].secrets[":secretId"].$delete({ param }),
      "effective",
    );
    announce(`Secret ${secret.hint} is retired, effective ${effective}.`);
  };
  const ends = others.flatMap(({ expiresAt }) => expiresAt ?? []).sort();
  const lastEnd = ends.length < others.length ? undefined : ends.at(-1);
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
        Requests with this secret are answered 401. <strong>This is permanent.</strong> The key&apos;s other
        secrets go on until they end.
      </p>
      {lastEnd !== undefined && (
        <p>
          The last of them ends <Time iso={lastEnd} />. Rotate the key before then, or no secret of it is
          valid.
        </p>
      )}
    </ActionDialog>
  );
}
