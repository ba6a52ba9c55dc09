/** `/console/bans`: live and past bans. A live ban can be lifted here. */
import { Hono } from "hono";
import { addressOf, queryOf } from "../../console/forms.ts";
import { CsvLink, Pages, Presets } from "../../console/list.tsx";
import { page } from "../../console/page.tsx";
import { Basis, type Column, Owner, Relative, Table, Term, Time } from "../../console/ui.tsx";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { counted } from "../../format.ts";
import { nowSeconds, rfc3339, rfc3339OrNull } from "../../time.ts";
import { fromCursor, isTime, toCursor } from "../http/cursor.ts";
import { fileOf } from "../serve.ts";
import { banCalls } from "./calls.ts";
import { banOrder, listBans, type NamedBan, positionOf } from "./list-sql.ts";
import { banQuery } from "./schema.ts";

const PATH = "/console/bans";
const BANS_PER_PAGE = 50;

export const banPages = new Hono<AppEnv>().get("/", async (c) => {
  const query = queryOf(c, banQuery, { state: "live" });
  if (query.format === "csv") return fileOf(c, banCalls.list, query);
  const { state, key, after } = query;
  const order = banOrder({ state, key });
  // Not the call: a form that lifts a ban has the version of its key.
  const filter = { state, key, limit: BANS_PER_PAGE, after: fromCursor(order, after, isTime) };
  const bans = await listBans(openDatabase(c.env.DB), filter, nowSeconds());
  const last = bans.length < BANS_PER_PAGE ? undefined : bans.at(-1);
  const isPast = state === "past";
  const ofState = isPast ? PAST_COLUMNS : c.var.mayOnlyRead ? LIVE_COLUMNS : [...LIVE_COLUMNS, LIFT];
  return page(
    c,
    { title: "Bans", actions: <CsvLink c={c} /> },
    <>
      <Presets
        links={[
          ["Live", PATH, !isPast],
          ["Past", addressOf(PATH, { state: "past" }), isPast],
        ]}
      />
      <Table
        caption={isPast ? "Past bans" : "Live bans"}
        columns={[...COLUMNS, ...ofState]}
        rows={bans}
        empty={isPast ? "No ban has ended." : "No key is banned. To ban a key, open its page."}
      />
      <Pages c={c} next={last ? toCursor(order, positionOf(order, last.ban)) : null} />
    </>,
  );
});

const COLUMNS: readonly Column<NamedBan>[] = [
  {
    name: "Key",
    cell: ({ ban, keyName }) => <a href={`/console/keys/${ban.keyId}`}>{keyName ?? ban.keyId}</a>,
  },
  { name: "Owner", cell: ({ owner }) => <Owner name={owner} /> },
  {
    name: "Cause",
    cell: ({ ban }) =>
      ban.cause === "operator" ? "operator" : <Term name="strike">{counted(ban.strikes, "strike")}</Term>,
  },
  { name: "Reason", cell: ({ ban }) => ban.reason ?? "–" },
  { name: "Began", cell: ({ ban }) => <Time iso={rfc3339(ban.startedAt)} /> },
];

const LIVE_COLUMNS: readonly Column<NamedBan>[] = [
  { name: "Ends", cell: ({ ban }) => <Relative iso={rfc3339(ban.endsAt)} /> },
];

const LIFT: Column<NamedBan> = {
  name: "Action",
  cell: ({ ban, keyVersion }) => (
    <form method="post" action={`/console/keys/${ban.keyId}/lift`}>
      <Basis version={keyVersion} />
      <button type="submit" class="button small">
        Lift
      </button>
    </form>
  ),
};

const PAST_COLUMNS: readonly Column<NamedBan>[] = [
  { name: "Scheduled end", cell: ({ ban }) => <Time iso={rfc3339(ban.endsAt)} /> },
  {
    name: "Lifted",
    cell: ({ ban }) =>
      ban.liftedAt === null ? (
        "–"
      ) : (
        <>
          <Time iso={rfc3339OrNull(ban.liftedAt)} /> by {ban.liftedBy}
        </>
      ),
  },
];
