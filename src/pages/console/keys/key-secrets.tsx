/** The secrets of a key, masked, with their ends. */

import type { KeyView } from "../api-types.ts";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";

export function KeySecrets({ secrets }: { readonly secrets: KeyView["secrets"] }) {
  return (
    <section>
      <h2>Secrets</h2>
      <Table
        caption="Secrets"
        columns={[
          { name: "Secret", cell: (secret) => <code>{secret.hint}</code> },
          { name: "Created", cell: (secret) => <Time iso={secret.createdAt} /> },
          {
            name: "Ends",
            cell: (secret) => (secret.expiresAt === null ? "never" : <End at={secret.expiresAt} />),
          },
        ]}
        rows={secrets}
        rowKey={(secret) => `${secret.hint} ${secret.createdAt}`}
        empty="The key has no secret."
      />
    </section>
  );
}

function End({ at }: { readonly at: string }) {
  return (
    <>
      {Date.parse(at) <= Date.now() && "ended "}
      <Time iso={at} />
    </>
  );
}
