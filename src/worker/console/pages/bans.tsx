/** How pages show a ban. */

import type { PropsWithChildren } from "hono/jsx";
import type { ListedBan } from "../../admin/bans/schema.ts";
import { counted } from "../../text/format.ts";
import { Basis, type Column, Submit, Table, Time } from "../kit/ui.tsx";

type BansProps = PropsWithChildren<{ readonly bans: readonly ListedBan[]; readonly hasKeys?: true }>;

/** `hasKeys`: the bans are of several keys. */
export function Bans({ bans, hasKeys, children }: BansProps) {
  return (
    <section>
      <h2>Bans</h2>
      <Table
        caption="Bans"
        columns={hasKeys ? [{ name: "Key", cell: (ban) => <BannedKey ban={ban} /> }, ...COLUMNS] : COLUMNS}
        rows={bans}
        empty="Never banned."
      />
      {children}
    </section>
  );
}

const COLUMNS: readonly Column<ListedBan>[] = [
  { name: "Began", isClear: true, cell: ({ startedAt }) => <Time iso={startedAt} /> },
  { name: "Ended, or ends", cell: ({ liftedAt, endsAt }) => <Time iso={liftedAt ?? endsAt} /> },
  { name: "Why", isClear: true, cell: (ban) => <BanReason ban={ban} /> },
];

type OfBan = { readonly ban: ListedBan };

export function BannedKey({ ban: { keyId, keyName } }: OfBan) {
  return <a href={`/console/keys/${keyId}`}>{keyName ?? keyId}</a>;
}

export function BanReason({ ban: { reason, strikes } }: OfBan) {
  return <>{reason ?? `${counted(strikes, "second")} over the limit`}</>;
}

/** A lift ends all live bans of the key. A ban that has ended has none, nor has the ban of a deleted key. */
export function LiftForm({ ban: { keyId, keyVersion, live } }: OfBan) {
  if (keyVersion === null || !live) return null;
  return (
    <form method="post" action={`/console/keys/${keyId}/lift`}>
      <Basis version={keyVersion} />
      <Submit tone="small">Lift</Submit>
    </form>
  );
}
