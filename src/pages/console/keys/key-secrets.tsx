/** The secrets of a key, masked, with their ends. */
import { useState } from "preact/hooks";
import type { KeyView } from "../api-types.ts";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { RetireDialog } from "./dialogs/retire-dialog.tsx";

type Secret = KeyView["secrets"][number];
type Props = { readonly shown: KeyView; readonly onChanged: () => Promise<void> };

export function KeySecrets({ shown, onChanged }: Props) {
  // As it was when the dialog opened, also while the page is refreshed beneath it.
  const [retired, setRetired] = useState<{ readonly secret: Secret; readonly others: readonly Secret[] }>();
  const valid = shown.secrets.filter((secret) => !hasEnded(secret));
  /** The only valid secret cannot be retired: the key would be unusable without being revoked. */
  const canRetire = (secret: Secret) =>
    shown.status !== "revoked" && valid.length > 1 && valid.includes(secret);
  return (
    <section>
      <h2>Secrets</h2>
      <Table
        caption="Secrets"
        columns={[
          { name: "Secret", cell: (secret) => <code>{secret.hint}</code> },
          { name: "Created", cell: (secret) => <Time iso={secret.createdAt} /> },
          { name: "Ends", cell: (secret) => <End secret={secret} /> },
          {
            name: "Action",
            cell: (secret) =>
              canRetire(secret) ? (
                <button
                  type="button"
                  class="button small"
                  aria-label={`Retire secret ${secret.hint}…`}
                  onClick={() => setRetired({ secret, others: valid.filter((other) => other !== secret) })}
                >
                  Retire…
                </button>
              ) : (
                "–"
              ),
          },
        ]}
        rows={shown.secrets}
        rowKey={(secret) => secret.id}
        empty="The key has no secret."
      />
      {retired && (
        <RetireDialog
          keyId={shown.id}
          {...retired}
          onChanged={onChanged}
          onClose={() => setRetired(undefined)}
        />
      )}
    </section>
  );
}

function End({ secret }: { readonly secret: Secret }) {
  if (secret.expiresAt === null) return <>never</>;
  return (
    <>
      {hasEnded(secret) && "ended "}
      <Time iso={secret.expiresAt} />
    </>
  );
}

export function hasEnded({ expiresAt }: Secret): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now();
}
