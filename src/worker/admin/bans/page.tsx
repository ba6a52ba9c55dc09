/** `/console/bans` lists live and past bans, and lifts live bans. */
import { Hono } from "hono";
import { addressOf, queryOf } from "../../console/forms.ts";
import { CsvLink, Pages, Presets } from "../../console/list.tsx";
import { page } from "../../console/page.tsx";
import { Basis, type Column, Owner, Relative, Table, Term, Time } from "../../console/ui.tsx";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { counted } from "../../format.ts";
import { nowSeconds } from "../../time.ts";
import { fileOf } from "../serve.ts";
import { banCalls } from "./calls.ts";
import { type ListedBan, listBans } from "./list-sql.ts";
import { banQuery } from "./schema.ts";

const PATH = "/console/bans";
const BANS_PER_PAGE = 50;

export const banPages = new Hono<AppEnv>().get("/", async (c) => {
  const query = queryOf(c, banQuery, { state: "live" });
  if (query.format === "csv") return fileOf(c, banCalls.list, query);
  // The call lacks the version of the key, which the form that lifts a ban sends.
  const filter = { ...query, limit: BANS_PER_PAGE };
  const { bans, next } = await listBans(openDatabase(c.env.DB), filter, nowSeconds());
  const isPast = query.state === "past";
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
      <Pages c={c} next={next} />
    </>,
  );
});

const COLUMNS: readonly Column<ListedBan>[] = [
  {
    name: "Key",
    cell: ({ ban }) => <a href={`/console/keys/${ban.keyId}`}>{ban.keyName ?? ban.keyId}</a>,
  },
  { name: "Owner", cell: ({ owner }) => <Owner name={owner} /> },
  {
    name: "Cause",
    cell: ({ ban }) =>
      ban.cause === "operator" ? "operator" : <Term name="strike">{counted(ban.strikes, "strike")}</Term>,
  },
  { name: "Reason", cell: ({ ban }) => ban.reason ?? "–" },
  { name: "Began", cell: ({ ban }) => <Time iso={ban.startedAt} /> },
];

const LIVE_COLUMNS: readonly Column<ListedBan>[] = [
  { name: "Ends", cell: ({ ban }) => <Relative iso={ban.endsAt} /> },
];

const LIFT: Column<ListedBan> = {
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

const PAST_COLUMNS: readonly Column<ListedBan>[] = [
  { name: "Scheduled end", cell: ({ ban }) => <Time iso={ban.endsAt} /> },
  {
    name: "Lifted",
    cell: ({ ban }) =>
      ban.liftedAt === null ? (
        "–"
      ) : (
        <>
          <Time iso={ban.liftedAt} /> by {ban.liftedBy}
        </>
      ),
  },
];
