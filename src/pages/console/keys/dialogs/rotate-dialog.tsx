/** Adds a new secret to a key, and lets the old ones end. */
import { useState } from "preact/hooks";
import { jsonOf } from "../../admin-client.ts";
import { useAdmin } from "../../admin-context.ts";
import type { KeyView } from "../../api-types.ts";
import { ActionDialog } from "../../components/action-dialog.tsx";
import { SelectField } from "../../components/field.tsx";
import { FreshDialog } from "../../components/fresh-dialog.tsx";
import { RelativeTime } from "../../components/time.tsx";
import type { KeyDialogProps } from "../key-actions.tsx";
import { hasEnded } from "../key-secrets.tsx";

const HOUR = 3_600;
const DAY = 24 * HOUR;

const GRACES = [
  [String(HOUR), "1 hour"],
  [String(DAY), "24 hours"],
  [String(7 * DAY), "7 days"],
  [String(30 * DAY), "30 days"],
  ["0", "None: they stop at once"],
] as const;

/** All secrets that it has now end, also one that a colleague has issued. */
export function RotateDialog(props: KeyDialogProps) {
  const { client } = useAdmin();
  const { id } = props.shown;
  const load = async () => (await jsonOf(client.keys[":id"].$get({ param: { id } }), "secrets")).secrets;
  return (
    <FreshDialog of={id} load={load} onClose={props.onClose}>
      {(secrets, requireUnchanged) => (
        <RotateTheseDialog {...props} secrets={secrets} requireUnchanged={requireUnchanged} />
      )}
    </FreshDialog>
  );
}

type RotateProps = KeyDialogProps & {
  readonly secrets: KeyView["secrets"];
  readonly requireUnchanged: (left: AbortSignal) => Promise<void>;
};

function RotateTheseDialog(props: RotateProps) {
  const { shown, secrets, requireUnchanged, onChanged, onSecret, onClose } = props;
  const { client, announce, warn } = useAdmin();
  const [grace, setGrace] = useState<string>(String(DAY));
  const rotate = async (left: AbortSignal) => {
    const json = { graceSeconds: Number(grace) };
    const call = client.keys[":id"].rotate.$post({ param: { id: shown.id }, json });
    const rotated = await jsonOf(call, "key", "effective");
    const done = `${shown.name} has a new secret, effective ${rotated.effective}.`;
    // A newer one may be shown by now.
    if (left.aborted) warn(`${done} It was not shown: rotate the key again.`);
    else {
      onSecret(rotated.key);
      announce(done);
    }
  };
  return (
    <ActionDialog
      title={`Rotate ${shown.name}?`}
      action="Rotate"
      isDangerous={grace === "0"}
      makesSecret
      look={requireUnchanged}
      run={rotate}
      onChanged={onChanged}
      onClose={onClose}
    >
      <p>
        The key gets a new secret, which is shown once: if the answer is lost, rotate it again. Quota and bans
        stay the same. Its secrets now:
      </p>
      <ul>
        {secrets
          .filter((secret) => !hasEnded(secret))
          .map(({ id, hint, createdAt }) => (
            <li key={id}>
              <code>{hint}</code>, issued <RelativeTime iso={createdAt} />
            </li>
          ))}
      </ul>
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
