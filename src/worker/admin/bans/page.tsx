/** `/console/bans`: live and past bans. A live one can be lifted here. */
import { Hono } from "hono";
import { counted } from "../../console/format.ts";
import { addressOf, queryOf } from "../../console/forms.ts";
import { page } from "../../console/page.tsx";
import { Basis, type Column, Pager, Relative, Table, Time } from "../../console/ui.tsx";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { nowSeconds, rfc3339, rfc3339OrNull } from "../../time.ts";
import { fromCursor, isTime, toCursor } from "../http/cursor.ts";
import { banOrder, listBans, type NamedBan, positionOf } from "./list-sql.ts";
import { banQuery } from "./schema.ts";

const PATH = "/console/bans";
const BANS_PER_PAGE = 50;

export const banPages = new Hono<AppEnv>().get("/", async (c) => {
  const { state, key, after } = queryOf(c, banQuery);
  const shown = c.req.query();
  const filter = { state: shown.state === undefined ? "live" : state, key, limit: BANS_PER_PAGE } as const;
  const order = banOrder(filter);
  const bans = await listBans(
    openDatabase(c.env.DB),
    { ...filter, after: fromCursor(order, after, isTime) },
    nowSeconds(),
  );
  const last = bans.length < BANS_PER_PAGE ? undefined : bans.at(-1);
  const next = last && toCursor(order, positionOf(order, last.ban));
  const isPast = filter.state === "past";
  return page(
    c,
    { title: "Bans" },
    <>
      <p class="presets">
        <a href={PATH} aria-current={isPast ? undefined : "true"}>
          Live
        </a>
        <a href={addressOf(PATH, { state: "past" })} aria-current={isPast ? "true" : undefined}>
          Past
        </a>
      </p>
      <Table
        caption={isPast ? "Past bans" : "Live bans"}
        columns={isPast ? [...COLUMNS, ...PAST_COLUMNS] : [...COLUMNS, ...LIVE_COLUMNS]}
        rows={bans}
        empty={isPast ? "No ban has ended." : "No key is banned. To ban a key, open its page."}
      />
      <Pager
        first={after === undefined ? undefined : addressOf(PATH, { ...shown, after: "" })}
        next={next ? addressOf(PATH, { ...shown, after: next }) : undefined}
      />
    </>,
  );
});

const COLUMNS: readonly Column<NamedBan>[] = [
  {
    name: "Key",
    cell: ({ ban, keyName }) => <a href={`/console/keys/${ban.keyId}`}>{keyName ?? ban.keyId}</a>,
  },
  {
    name: "Cause",
    cell: ({ ban }) => (ban.cause === "operator" ? "operator" : counted(ban.strikes, "strike")),
  },
  { name: "Reason", cell: ({ ban }) => ban.reason ?? "–" },
  { name: "Began", cell: ({ ban }) => <Time iso={rfc3339(ban.startedAt)} /> },
];

const LIVE_COLUMNS: readonly Column<NamedBan>[] = [
  { name: "Ends", cell: ({ ban }) => <Relative iso={rfc3339(ban.endsAt)} /> },
  {
    name: "Action",
    cell: ({ ban, keyVersion }) => (
      <form method="post" action={`/console/keys/${ban.keyId}/lift`}>
        <Basis version={keyVersion} />
        <button type="submit" class="button small">
          Lift
        </button>
      </form>
    ),
  },
];

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
