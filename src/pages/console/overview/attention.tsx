/** Keys that need attention: those that expire soon, and those that nobody uses. */
import { useAdmin } from "../admin-context.ts";
import type { KeyView } from "../api-types.ts";
import { WhenLoaded } from "../components/notices.tsx";
import { type Column, Table } from "../components/table.tsx";
import { RelativeTime } from "../components/time.tsx";
import { listKeys } from "../keys/find-keys.ts";
import { expiring, unused } from "../keys/list-query.ts";
import { useLoad } from "../use-load.ts";

const KEYS_SHOWN = 5;

const NAME: Column<KeyView> = {
  name: "Key",
  cell: (key) => <a href={`/console/keys/${key.id}`}>{key.name}</a>,
};
const OWNER: Column<KeyView> = { name: "Owner", cell: (key) => key.ownerName ?? key.ownerEmail ?? "–" };

export function ExpiringKeys() {
  const { client } = useAdmin();
  const loaded = useLoad(
    () => listKeys(client, { ...expiring(Date.now()), status: "active", sort: "expiry" }, KEYS_SHOWN),
    "",
  );
  return (
    <section>
      <h2>Expire within 30 days</h2>
      <WhenLoaded loaded={loaded}>
        {({ keys, next }) => (
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
              rows={keys}
              rowKey={(key) => key.id}
              empty="No active key expires soon."
            />
            {next !== null && <a href="/console/keys?time=expiring&status=active&sort=expiry">More</a>}
          </>
        )}
      </WhenLoaded>
    </section>
  );
}

export function UnusedKeys() {
  const { client } = useAdmin();
  const loaded = useLoad(() => listKeys(client, { ...unused(Date.now()), status: "active" }, KEYS_SHOWN), "");
  return (
    <section>
      <h2>Unused for 30 days</h2>
      <WhenLoaded loaded={loaded}>
        {({ keys, next }) => (
          <>
            <Table
              caption="Keys unused for 30 days"
              columns={[NAME, OWNER, { name: "Last used", cell: (key) => key.lastUsedDay ?? "never" }]}
              rows={keys.filter(isOld)}
              rowKey={(key) => key.id}
              empty="No active key is unused for 30 days."
            />
            {next !== null && <a href="/console/keys?time=unused&status=active">More</a>}
          </>
        )}
      </WhenLoaded>
    </section>
  );
}

/** A key that was issued lately need not be in use yet. */
function isOld({ createdAt }: KeyView): boolean {
  return createdAt.slice(0, 10) < unused(Date.now()).unusedSince;
}
