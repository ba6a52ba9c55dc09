/** The audit page: every change, newest first, filtered by who, call, object and time. */
import { useLocation } from "preact-iso";
import { useAdmin } from "../admin-context.ts";
import { WhenLoaded } from "../components/notices.tsx";
import { Page } from "../components/page.tsx";
import { Pager } from "../components/pager.tsx";
import { addressOf } from "../query.ts";
import { useLoad } from "../use-load.ts";
import { AuditFilters } from "./audit-filters.tsx";
import { auditQueryOf, listAudit } from "./audit-query.ts";
import { AuditTable } from "./audit-table.tsx";

const PATH = "/console/audit";
const ENTRIES_PER_PAGE = 50;

export function AuditPage() {
  const { client } = useAdmin();
  const { query } = useLocation();
  const loaded = useLoad(
    () => listAudit(client, auditQueryOf(query), ENTRIES_PER_PAGE),
    JSON.stringify(query),
  );
  return (
    <Page title="Audit">
      <AuditFilters names={loaded.data?.audit.map(({ actor }) => actor) ?? []} />
      <WhenLoaded loaded={loaded}>
        {({ audit, next }) => (
          <>
            <AuditTable
              entries={audit}
              query={query}
              empty={
                next === null
                  ? "No entry matches. Who and object are compared as a whole; the object is an id, not a name."
                  : "No entry matches so far. More follow on the next page."
              }
            />
            <Pager
              first={query.before ? addressOf(PATH, { ...query, before: "" }) : undefined}
              next={next === null ? undefined : addressOf(PATH, { ...query, before: String(next) })}
            />
          </>
        )}
      </WhenLoaded>
    </Page>
  );
}
