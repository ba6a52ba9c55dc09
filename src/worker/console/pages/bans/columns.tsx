/** The columns of the lists of bans. */

import type { ListedBan } from "../../../admin/bans/schema.ts";
import { counted } from "../../../text/format.ts";
import { type Column, Owner, Relative, Term, Time } from "../../kit/ui.tsx";

export const BAN_COLUMNS = {
  key: {
    name: "Key",
    cell: (ban) => <a href={`/console/keys/${ban.keyId}`}>{ban.keyName ?? ban.keyId}</a>,
  },
  owner: { name: "Owner", cell: ({ owner }) => <Owner name={owner} /> },
  why: {
    name: "Why",
    cell: (ban) => ban.reason ?? <Term name="strike">{counted(ban.strikes, "strike")}</Term>,
  },
  began: { name: "Began", cell: (ban) => <Time iso={ban.startedAt} /> },
  ends: { name: "Ends", cell: (ban) => <Relative iso={ban.endsAt} /> },
} satisfies Record<string, Column<ListedBan>>;
