/** The keys page: a list with search, filters and pages, all of which are in its address. */

import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { KeyView } from "../api-types.ts";
import { InputField, SelectField } from "../components/field.tsx";
import { WhenLoaded } from "../components/notices.tsx";
import { Page } from "../components/page.tsx";
import { Pager } from "../components/pager.tsx";
import { StatusBadge } from "../components/status-badge.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { addressOf } from "../query.ts";
import { useLoad } from "../use-load.ts";
import { isKeyId, isKeyStatus, isPlan, isSecret, limitsText, PLANS, STATUSES } from "./key-types.ts";

const KEYS_PER_PAGE = 50;

const COLUMNS: readonly Column<KeyView>[] = [
  { name: "Name", cell: (key) => <a href={`/console/keys/${key.id}`}>{key.name}</a> },
  { name: "Plan", cell: (key) => key.plan },
  { name: "Status", cell: (key) => <StatusBadge status={key.status} /> },
  { name: "Limits", cell: limitsText },
  { name: "Secret", cell: (key) => <code>{key.secrets.at(-1)?.hint ?? "–"}</code> },
  { name: "Expires", cell: (key) => <Time iso={key.expiresAt} /> },
  { name: "Last used", cell: (key) => key.lastUsedDay ?? "never" },
];

export function KeysPage() {
  const { client } = useAdmin();
  const { query } = useLocation();
  const filter = {
    plan: isPlan(query.plan) ? query.plan : undefined,
    status: isKeyStatus(query.status) ? query.status : undefined,
    name: query.name,
    after: query.after,
  };
  const loaded = useLoad(
    () => jsonOf(client.keys.$get({ query: { ...withoutUndefined(filter), limit: String(KEYS_PER_PAGE) } })),
    JSON.stringify(filter),
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
      <Filters />
      <WhenLoaded loaded={loaded}>
        {({ keys, next }) => (
          <>
            <Table
              caption="Keys"
              columns={COLUMNS}
              rows={keys}
              rowKey={(key) => key.id}
              empty="No key matches."
            />
            <Pager
              first={
                filter.after === undefined ? undefined : addressOf("/console/keys", { ...query, after: "" })
              }
              next={next === null ? undefined : addressOf("/console/keys", { ...query, after: next })}
            />
          </>
        )}
      </WhenLoaded>
    </Page>
  );
}

function Filters() {
  const { query, route } = useLocation();
  const [text, setText] = useState(query.name ?? "");
  useEffect(() => setText(query.name ?? ""), [query.name]);
  const filterBy = (changes: Record<string, string>) =>
    route(addressOf("/console/keys", { ...query, after: "", ...changes }));
  const search = () => {
    const wanted = text.trim();
    if (isSecret(wanted)) return;
    if (isKeyId(wanted)) route(`/console/keys/${wanted}`);
    else filterBy({ name: wanted });
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
          label="Name or id"
          type="search"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={setText}
        />
        <SelectField
          label="Plan"
          value={query.plan ?? ""}
          options={[["", "All"], ...PLANS.map((plan) => [plan, plan] as const)]}
          onChange={(plan) => filterBy({ plan })}
        />
        <SelectField
          label="Status"
          value={query.status ?? ""}
          options={[["", "All"], ...STATUSES.map((status) => [status, status] as const)]}
          onChange={(status) => filterBy({ status })}
        />
        <button type="submit" class="button">
          Search
        </button>
      </form>
      <p role="status" class="problem">
        {isSecret(text.trim()) &&
          "This is a secret. It is not sent: a search is part of the address. Search for the name or the id."}
      </p>
    </search>
  );
}

function withoutUndefined<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // Only the members that are undefined are removed.
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
