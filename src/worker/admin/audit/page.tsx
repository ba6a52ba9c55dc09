/** `/console/audit`: every change by an operator, one sentence an entry. */
import { Hono } from "hono";
import { addressOf, queryOf } from "../../console/forms.ts";
import { CsvLink, Filters, NoRows, Pages } from "../../console/list.tsx";
import { page } from "../../console/page.tsx";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { daysBefore } from "../../time.ts";
import { findKeyNames } from "../keys/sql.ts";
import { fileOf, inputOf } from "../serve.ts";
import { auditCalls } from "./calls.ts";
import { Entry, sentenceOf } from "./entry.tsx";
import { auditQuery } from "./schema.ts";

const PATH = "/console/audit";
const ENTRIES_PER_PAGE = 50;

export const auditPages = new Hono<AppEnv>().get("/", async (c) => {
  const query = { ...queryOf(c, auditQuery), limit: ENTRIES_PER_PAGE };
  if (query.format === "csv") return fileOf(c, auditCalls.list, query);
  const { audit, next } = await auditCalls.list.run(inputOf(c, { query }));
  const names = await findKeyNames(
    openDatabase(c.env.DB),
    audit.map(({ object }) => object),
  );
  const shown = c.req.query();
  const preset = (from: string, to = "") => addressOf(PATH, { ...shown, from, to, before: "" });
  return page(
    c,
    { title: "Audit", actions: <CsvLink c={c} /> },
    <>
      <Filters
        c={c}
        schema={auditQuery}
        names={["object", "actor", "call", "from", "to"]}
        texts={shown}
        presets={[
          ["All entries", PATH],
          ["Today", preset(daysBefore(0))],
          ["Yesterday", preset(daysBefore(1), daysBefore(0))],
          ["7 days", preset(daysBefore(6))],
        ]}
      />
      {audit.length === 0 ? (
        <p class="empty">
          <NoRows c={c} noun="entry" />
        </p>
      ) : (
        <ol class="feed">
          {audit.map((entry) => (
            <Entry entry={entry} sentence={sentenceOf(entry, names.get(entry.object))} />
          ))}
        </ol>
      )}
      <Pages c={c} next={next} by="before" />
    </>,
  );
});
