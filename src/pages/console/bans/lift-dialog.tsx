/** Lifts the live ban of a key, which it shows, or only ends the escalation of its bans. */
import { useState } from "preact/hooks";
import { useAdmin } from "../admin-context.ts";
import type { BanView } from "../api-types.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { CheckField } from "../components/field.tsx";
import { FreshDialog } from "../components/fresh-dialog.tsx";
import { liftBans } from "./lift-bans.ts";
import { BanFacts, loadLiveBans } from "./live-bans.tsx";

type Props = {
  readonly keyId: string;
  readonly keyName: string;
  /** Whether the operator chose to forgive. */
  readonly isForgiving: boolean;
  readonly onChanged: () => Promise<void>;
  readonly onClose: () => void;
};

const FORGIVING = "The escalation ends: the next ban by strikes is a first one again, of 5 minutes.";

const NOT_ALL_LIFTED =
  "If another ban was set or began meanwhile, or the limiter has one that it has not reported yet, that ban stays: lift again later.";

export function LiftDialog(props: Props) {
  const { client } = useAdmin();
  return (
    <FreshDialog of={props.keyId} load={() => loadLiveBans(client, props.keyId)} onClose={props.onClose}>
      {(bans, requireUnchanged) => (
        <LiftTheseDialog {...props} bans={bans} requireUnchanged={requireUnchanged} />
      )}
    </FreshDialog>
  );
}

type LiftTheseProps = Props & {
  readonly bans: readonly BanView[];
  readonly requireUnchanged: (left: AbortSignal) => Promise<void>;
};

function LiftTheseDialog(props: LiftTheseProps) {
  const { keyId, keyName, isForgiving, bans, requireUnchanged, onChanged, onClose } = props;
  const { client, announce } = useAdmin();
  const isLifting = bans.length > 0;
  const [isChecked, setIsChecked] = useState(isForgiving);
  const forgive = isChecked || !isLifting;
  const lift = async () => {
    const { lifted, liftedAll, effective } = await liftBans(client, { keyId, bans, forgive });
    const done = lifted ? "The ban is lifted" : forgive ? "The escalation is ended" : "No ban was live";
    const notLifted = liftedAll ? "" : ` ${NOT_ALL_LIFTED}`;
    announce(`${keyName}: ${done}, effective ${effective}.${notLifted}`);
  };
  return (
    <ActionDialog
      title={isLifting ? `Lift the ban of ${keyName}?` : `Forgive ${keyName}?`}
      action={isLifting ? "Lift ban" : "Forgive"}
      // The service refuses to lift a named ban that is not live any more. Without a ban there is none to name.
      look={isLifting ? undefined : requireUnchanged}
      run={lift}
      onChanged={onChanged}
      onClose={onClose}
    >
      {bans.map((ban) => (
        <BanFacts key={ban.id} ban={ban} />
      ))}
      {isLifting ? (
        <>
          <p>
            Requests with this key are admitted again, within its limits, unless it is disabled, expired or
            revoked.
          </p>
          <CheckField label={`Forgive. ${FORGIVING}`} isChecked={isChecked} onChange={setIsChecked} />
        </>
      ) : (
        <p>No live ban of this key is known. {FORGIVING}</p>
      )}
    </ActionDialog>
  );
}
