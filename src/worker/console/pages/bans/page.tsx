/** `/console/bans` lists live and past bans, and lifts live bans. */
import { Hono } from "hono";
import { banCalls } from "../../../admin/bans/calls.ts";
import { banQuery, type ListedBan } from "../../../admin/bans/schema.ts";
import { fileOf, inputOf } from "../../../admin/serve.ts";
import type { AppEnv } from "../../../context.ts";
import { addressOf, queryOf } from "../../kit/forms.ts";
import { CsvLink, Pages, Presets } from "../../kit/list.tsx";
import { page } from "../../kit/page.tsx";
import { type Column, NONE, Table, Time } from "../../kit/ui.tsx";
import { BAN_COLUMNS, LiftForm } from "./columns.tsx";

const PATH = "/console/bans";
const BANS_PER_PAGE = 50;

export const banPages = new Hono<AppEnv>().get("/", async (c) => {
  const query = queryOf(c, banQuery, { state: "live" });
  if (query.format === "csv") return fileOf(c, banCalls.list, query);
  const { bans, next } = await banCalls.list.run(inputOf(c, { query: { ...query, limit: BANS_PER_PAGE } }));
  const isPast = query.state === "past";
  const columns = isPast ? PAST_COLUMNS : c.var.mayOnlyRead ? LIVE_COLUMNS : [...LIVE_COLUMNS, LIFT];
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
        columns={columns}
        rows={bans}
        empty={isPast ? "No ban has ended." : "No key is banned. To ban a key, open its page."}
      />
      <Pages c={c} next={next} />
    </>,
  );
});

const { key, owner, why, began, ends } = BAN_COLUMNS;
const COLUMNS = [key, owner, why, began];
const LIVE_COLUMNS = [...COLUMNS, ends];

const LIFT: Column<ListedBan> = { name: "Action", isClear: true, cell: (ban) => <LiftForm ban={ban} /> };

const PAST_COLUMNS: readonly Column<ListedBan>[] = [
  ...COLUMNS,
  { name: "Scheduled end", isMinor: true, cell: ({ endsAt }) => <Time iso={endsAt} /> },
  {
    name: "Lifted",
    cell: (ban) =>
      ban.liftedAt === null ? (
        NONE
      ) : (
        <>
          <Time iso={ban.liftedAt} /> by {ban.liftedBy}
        </>
      ),
  },
];
