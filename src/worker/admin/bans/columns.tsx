/** The columns of the lists of bans. */
import { type Column, Owner, Relative, Term, Time } from "../../console/ui.tsx";
import { counted } from "../../format.ts";
import { rfc3339 } from "../../time.ts";
import type { NamedBan } from "./list-sql.ts";

export const BAN_COLUMNS = {
  key: {
    name: "Key",
    cell: ({ ban, keyName }) => <a href={`/console/keys/${ban.keyId}`}>{keyName ?? ban.keyId}</a>,
  },
  owner: { name: "Owner", cell: ({ owner }) => <Owner name={owner} /> },
  why: {
    name: "Why",
    cell: ({ ban }) => ban.reason ?? <Term name="strike">{counted(ban.strikes, "strike")}</Term>,
  },
  began: { name: "Began", cell: ({ ban }) => <Time iso={rfc3339(ban.startedAt)} /> },
  ends: { name: "Ends", cell: ({ ban }) => <Relative iso={rfc3339(ban.endsAt)} /> },
} satisfies Record<string, Column<NamedBan>>;
