/** `/console/bans` lists live and past bans, and lifts live bans. */
import { Hono } from "hono";
import { banCalls } from "../../../admin/bans/calls.ts";
import { banQuery, type ListedBan } from "../../../admin/bans/schema.ts";
import { fileOf, inputOf } from "../../../admin/serve.ts";
import type { AppEnv } from "../../../context.ts";
import { addressOf, queryOf } from "../../kit/forms.ts";
import { CsvLink, Filters, NoRows, Pages } from "../../kit/list.tsx";
import { page } from "../../kit/page.tsx";
import { type Column, NONE, Table, Time } from "../../kit/ui.tsx";
import { BAN_COLUMNS, LiftForm } from "./columns.tsx";

const PATH = "/console/bans";
const BANS_PER_PAGE = 50;

const TABS = { live: "Live", past: "Past", all: "All" } as const;

export const banPages = new Hono<AppEnv>().get("/", async (c) => {
  const query = queryOf(c, banQuery, { state: "live" });
  if (query.format === "csv") return fileOf(c, banCalls.list, query);
  const { bans, next } = await banCalls.list.run(inputOf(c, { query: { ...query, limit: BANS_PER_PAGE } }));
  const { state } = query;
  const shown = c.req.query();
  const mayLift = state !== "past" && !c.var.mayOnlyRead;
  return page(
    c,
    { title: "Bans", actions: <CsvLink c={c} /> },
    <>
      <Filters
        c={c}
        schema={banQuery}
        // Nobody types the id of a key, but a link may have it.
        names={query.key ? ["key", "customer"] : ["customer"]}
        texts={shown}
        presets={Object.entries(TABS).map(([each, name]) => [
          name,
          addressOf(PATH, { ...shown, state: each, after: "" }),
          each === state,
        ])}
      >
        <input type="hidden" name="state" value={state} />
      </Filters>
      <Table
        caption={`${TABS[state]} bans`}
        columns={[...COLUMNS, ...(state === "live" ? [] : [LIFTED]), ...(mayLift ? [LIFT] : [])]}
        rows={bans}
        empty={
          <NoRows c={c} noun={state === "all" ? "ban" : `${state} ban`}>
            To ban a key, open its page.
          </NoRows>
        }
      />
      <Pages c={c} next={next} />
    </>,
  );
});

const { key, customer, why, began, ends } = BAN_COLUMNS;
const COLUMNS = [key, customer, why, began, ends];

const LIFT: Column<ListedBan> = { name: "Action", isClear: true, cell: (ban) => <LiftForm ban={ban} /> };

const LIFTED: Column<ListedBan> = {
  name: "Lifted",
  cell: (ban) =>
    ban.liftedAt === null ? (
      NONE
    ) : (
      <>
        <Time iso={ban.liftedAt} /> by {ban.liftedBy}
      </>
    ),
};
