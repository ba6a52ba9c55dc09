/** Lifts the live bans of a key, which it shows. */
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { FreshDialog } from "../components/fresh-dialog.tsx";
import { BanFacts, loadLiveBans } from "./live-bans.tsx";

type Props = {
  readonly keyId: string;
  readonly keyName: string;
  readonly onChanged: () => Promise<void>;
  readonly onClose: () => void;
};

export function LiftDialog({ keyId, keyName, onChanged, onClose }: Props) {
  const { client, announce } = useAdmin();
  const lift = async () => {
    const call = client.keys[":id"].ban.$delete({ param: { id: keyId } });
    const { lifted, effective } = await jsonOf(call, "lifted", "effective");
    announce(`${keyName}: ${lifted ? "The ban is lifted" : "No ban was live"}, effective ${effective}.`);
  };
  return (
    <FreshDialog of={keyId} load={() => loadLiveBans(client, keyId)} onClose={onClose}>
      {(bans, requireUnchanged) => (
        <ActionDialog
          title={`Lift the ban of ${keyName}?`}
          action="Lift ban"
          look={requireUnchanged}
          run={lift}
          onChanged={onChanged}
          onClose={onClose}
        >
          {bans.length === 0 && <p>No live ban of this key is known.</p>}
          {bans.map((ban) => (
            <BanFacts key={ban.id} ban={ban} />
          ))}
          <p>
            Requests with this key are admitted again, within its limits, unless it is disabled, expired or
            revoked. The next ban for strikes is a first one again.
          </p>
        </ActionDialog>
      )}
    </FreshDialog>
  );
}
