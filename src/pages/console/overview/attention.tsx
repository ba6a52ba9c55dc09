/** Keys that need attention: those that expire soon, and those that nobody uses. */
import { useAdmin } from "../admin-context.ts";
import type { KeyPage, KeyView } from "../api-types.ts";
import { WhenLoaded } from "../components/notices.tsx";
import { type Column, Table } from "../components/table.tsx";
import { RelativeTime } from "../components/time.tsx";
import { listKeys, noneText, restAddress } from "../keys/find-keys.ts";
import { lastUsedText } from "../keys/key-types.ts";
import { expiring, unused } from "../keys/list-query.ts";
import { useLoad } from "../use-load.ts";

const KEYS_SHOWN = 5;

const NAME: Column<KeyView> = {
  name: "Key",
  cell: (key) => <a href={`/console/keys/${key.id}`}>{key.name}</a>,
};
const OWNER: Column<KeyView> = { name: "Owner", cell: (key) => key.ownerName ?? key.ownerEmail ?? "–" };

type Props = { readonly everyMs: number };

export function ExpiringKeys({ everyMs }: Props) {
  const { client } = useAdmin();
  const loaded = useLoad(
    () => listKeys(client, { ...expiring(Date.now()), status: "active", sort: "expiry" }, KEYS_SHOWN),
    "",
    { everyMs },
  );
  return (
    <section>
      <h2>Expire within 30 days</h2>
      <WhenLoaded loaded={loaded}>
        {(page) => (
          <>
            <Table
              caption="Keys that expire within 30 days"
              columns={[
                NAME,
                OWNER,
                {
                  name: "Expires",
                  cell: (key) => key.expiresAt !== null && <RelativeTime iso={key.expiresAt} />,
                },
              ]}
              rows={page.keys}
              rowKey={(key) => key.id}
              empty={noneText(page, "No active key expires soon.")}
            />
            <Rest query={{ time: "expiring", status: "active", sort: "expiry" }} page={page} />
          </>
        )}
      </WhenLoaded>
    </section>
  );
}

export function UnusedKeys({ everyMs }: Props) {
  const { client } = useAdmin();
  const loaded = useLoad(
    () => listKeys(client, { ...unused(Date.now()), status: "active" }, KEYS_SHOWN),
    "",
    { everyMs },
  );
  return (
    <section>
      <h2>Unused for 30 days</h2>
      <WhenLoaded loaded={loaded}>
        {(page) => (
          <>
            <Table
              caption="Keys unused for 30 days"
              columns={[NAME, OWNER, { name: "Last used", cell: lastUsedText }]}
              // Keys are sorted by their creation, so those that follow are not old either.
              rows={page.keys.filter(isOld)}
              rowKey={(key) => key.id}
              empty={noneText(page, "No active key is unused for 30 days.")}
            />
            <Rest query={{ time: "unused", status: "active" }} page={page} />
          </>
        )}
      </WhenLoaded>
    </section>
  );
}

function Rest({ query, page }: { readonly query: Record<string, string>; readonly page: KeyPage }) {
  const address = restAddress(query, page);
  return address === undefined ? null : <a href={address}>More</a>;
}

/** A key that was issued lately need not be in use yet. */
function isOld({ createdAt }: KeyView): boolean {
  return createdAt.slice(0, 10) < unused(Date.now()).unusedSince;
}
