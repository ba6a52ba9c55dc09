/** The newest changes of a key. */

import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import { AuditTable } from "../audit/audit-table.tsx";
import { WhenLoaded } from "../components/notices.tsx";
import { addressOf } from "../query.ts";
import { useLoad } from "../use-load.ts";

const ENTRIES = 20;
const REFRESH_MS = 30_000;

/** `changes` counts the changes made on this page: each of them adds an entry, as do those of colleagues. */
export function KeyAudit({ id, changes }: { readonly id: string; readonly changes: number }) {
  const { client } = useAdmin();
  const loaded = useLoad(
    () => jsonOf(client.audit.$get({ query: { object: id, limit: String(ENTRIES) } }), "audit", "next"),
    id,
    { everyMs: REFRESH_MS, changes },
  );
  return (
    <section>
      <h2>Audit</h2>
      <WhenLoaded loaded={loaded}>
        {({ audit, next }) => (
          <>
            <AuditTable entries={audit} query={{ object: id }} isOfOneObject />
            {next !== null && (
              <a href={addressOf("/console/audit", { object: id })}>All changes of this key</a>
            )}
          </>
        )}
      </WhenLoaded>
    </section>
  );
}
