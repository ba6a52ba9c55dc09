/** The audit page: every change, newest first, of all objects or of one. */

import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import { InputField } from "../components/field.tsx";
import { WhenLoaded } from "../components/notices.tsx";
import { Page } from "../components/page.tsx";
import { Pager } from "../components/pager.tsx";
import { isSecret } from "../keys/search-text.ts";
import { addressOf } from "../query.ts";
import { useLoad } from "../use-load.ts";
import { AuditTable } from "./audit-table.tsx";

const ENTRIES_PER_PAGE = 50;

export function AuditPage() {
  const { client } = useAdmin();
  const { query } = useLocation();
  const { object, before } = query;
  const filter = { ...(object ? { object } : {}), ...(before ? { before } : {}) };
  const loaded = useLoad(
    () => jsonOf(client.audit.$get({ query: { ...filter, limit: String(ENTRIES_PER_PAGE) } })),
    JSON.stringify(filter),
  );
  return (
    <Page title="Audit">
      <ObjectFilter />
      <WhenLoaded loaded={loaded}>
        {({ audit, next }) => (
          <>
            <AuditTable entries={audit} />
            <Pager
              first={before ? addressOf("/console/audit", { object }) : undefined}
              next={next === null ? undefined : addressOf("/console/audit", { object, before: String(next) })}
            />
          </>
        )}
      </WhenLoaded>
    </Page>
  );
}

function ObjectFilter() {
  const { query, route } = useLocation();
  const [text, setText] = useState(query.object ?? "");
  useEffect(() => setText(query.object ?? ""), [query.object]);
  const search = () => {
    const object = text.trim();
    if (!isSecret(object)) route(addressOf("/console/audit", { object }));
  };
  return (
    <search>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          search();
        }}
      >
        <InputField
          label="Object"
          placeholder="id of a key, a plan or an order"
          type="search"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={setText}
        />
        <button type="submit" class="button">
          Search
        </button>
      </form>
      <p role="status" class="problem">
        {isSecret(text.trim()) && "This is a secret. It is not sent."}
      </p>
    </search>
  );
}
