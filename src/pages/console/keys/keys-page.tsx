/** The keys page: a list with search, filters and pages, all of which are in its address. */
import { useLocation } from "preact-iso";
import { useAdmin } from "../admin-context.ts";
import type { KeyView } from "../api-types.ts";
import { WhenLoaded } from "../components/notices.tsx";
import { Page } from "../components/page.tsx";
import { Pager } from "../components/pager.tsx";
import { StatusBadge } from "../components/status-badge.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { addressOf } from "../query.ts";
import { useLoad } from "../use-load.ts";
import { searchKeys } from "./find-keys.ts";
import { KeyFilters } from "./key-filters.tsx";
import { lastUsedText, limitsText } from "./key-types.ts";
import { listQueryOf } from "./list-query.ts";

const KEYS_PER_PAGE = 50;

const COLUMNS: readonly Column<KeyView>[] = [
  { name: "Name", cell: (key) => <a href={`/console/keys/${key.id}`}>{key.name}</a> },
  { name: "Owner", cell: (key) => key.ownerName ?? key.ownerEmail ?? "–" },
  { name: "Plan", cell: (key) => key.plan },
  { name: "Status", cell: (key) => <StatusBadge status={key.status} /> },
  { name: "Limits", cell: limitsText },
  { name: "Secret", cell: (key) => <code>{key.secrets.at(-1)?.hint ?? "–"}</code> },
  { name: "Expires", cell: (key) => <Time iso={key.expiresAt} /> },
  { name: "Last used", cell: lastUsedText },
];

export function KeysPage() {
  const { client } = useAdmin();
  const { query } = useLocation();
  const loaded = useLoad(
    () => searchKeys(client, listQueryOf(query, Date.now()), KEYS_PER_PAGE),
    JSON.stringify(query),
  );
  return (
    <Page
      title="Keys"
      actions={
        <a class="button primary" href="/console/keys/new">
          Create key
        </a>
      }
    >
      <KeyFilters />
      <WhenLoaded loaded={loaded}>
        {({ keys, next }) => (
          <>
            <Table
              caption="Keys"
              columns={COLUMNS}
              rows={keys}
              rowKey={(key) => key.id}
              empty={
                next === null ? "No key matches." : "No key matches so far. More follow on the next page."
              }
            />
            <Pager
              first={
                query.after === undefined ? undefined : addressOf("/console/keys", { ...query, after: "" })
              }
              next={next === null ? undefined : addressOf("/console/keys", { ...query, after: next })}
            />
          </>
        )}
      </WhenLoaded>
    </Page>
  );
}
