/** The columns of the lists of bans. */

import type { ListedBan } from "../../../admin/bans/schema.ts";
import { counted } from "../../../text/format.ts";
import { Basis, type Column, Customer, Relative, Submit, Term, Time } from "../../kit/ui.tsx";

type OfBan = { readonly ban: ListedBan };

export function BannedKey({ ban: { keyId, keyName } }: OfBan) {
  return <a href={`/console/keys/${keyId}`}>{keyName ?? keyId}</a>;
}

export function BanReason({ ban: { reason, strikes } }: OfBan) {
  return <>{reason ?? <Term name="overLimit">{counted(strikes, "second")} over the limit</Term>}</>;
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

export const BAN_COLUMNS = {
  key: { name: "Key", cell: (ban) => <BannedKey ban={ban} /> },
  customer: { name: "Customer", isClear: true, cell: ({ customer }) => <Customer of={customer} /> },
  why: { name: "Why", isClear: true, cell: (ban) => <BanReason ban={ban} /> },
  began: { name: "Began", isClear: true, cell: (ban) => <Time iso={ban.startedAt} /> },
  ends: {
    name: "Ends",
    cell: ({ endsAt, live }) => (live ? <Relative iso={endsAt} /> : <Time iso={endsAt} />),
  },
} satisfies Record<string, Column<ListedBan>>;
