/** Lifts the live ban of a key, or only ends the escalation of its bans. */
import { useId, useState } from "preact/hooks";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import { ActionDialog } from "../components/action-dialog.tsx";

type Props = {
  readonly keyId: string;
  readonly keyName: string;
  /** Whether a ban is live, so that there is one to lift. */
  readonly isLive: boolean;
  readonly onChanged: () => Promise<void>;
  readonly onClose: () => void;
};

const FORGIVING = "The escalation ends: the next ban by strikes is a first one again, of 5 minutes.";

export function LiftDialog({ keyId, keyName, isLive, onChanged, onClose }: Props) {
  const { client, announce } = useAdmin();
  // The page refreshes while the dialog is open, and the ban may end meanwhile.
  const [isLifting] = useState(isLive);
  const [forgive, setForgive] = useState(!isLive);
  const id = useId();
  const lift = async () => {
    const call = client.keys[":id"].ban.$delete({ param: { id: keyId }, json: { forgive } });
    const { lifted, effective } = await jsonOf(call);
    const done = lifted ? "The ban is lifted" : forgive ? "The escalation is ended" : "No ban was live";
    announce(`${keyName}: ${done}, effective ${effective}.`);
    await onChanged();
  };
  return (
    <ActionDialog
      title={isLifting ? `Lift the ban of ${keyName}?` : `Forgive ${keyName}?`}
      action={isLifting ? "Lift ban" : "Forgive"}
      run={lift}
      onClose={onClose}
    >
      {isLifting ? (
        <>
          <p>Requests with this key are admitted again, within its limits.</p>
          <p class="check">
            <input
              id={id}
              type="checkbox"
              checked={forgive}
              onChange={(event) => setForgive(event.currentTarget.checked)}
            />
            <label for={id}>Forgive. {FORGIVING}</label>
          </p>
        </>
      ) : (
        <p>{FORGIVING} A ban that is live is lifted, too.</p>
      )}
    </ActionDialog>
  );
}
