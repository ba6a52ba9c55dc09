/** `/console/audit` lists every change by an operator, day by day. */
import { Hono } from "hono";
import { addressOf, queryOf } from "../../console/forms.ts";
import { CsvLink, Filters, NoRows, Pages } from "../../console/list.tsx";
import { page } from "../../console/page.tsx";
import type { AppEnv } from "../../context.ts";
import { AUDIT_CALLS } from "../../db/values.ts";
import { formatDay, formatTime } from "../../format.ts";
import { daysBefore } from "../../time.ts";
import { CALLS } from "../calls.ts";
import { fileOf, inputOf } from "../serve.ts";
import { auditCalls } from "./calls.ts";
import { deedsIn, Entry } from "./entry.tsx";
import { auditQuery } from "./schema.ts";

const PATH = "/console/audit";
const ENTRIES_PER_PAGE = 50;

/** The reference has a sentence for each change. */
const CHANGES = Object.fromEntries(
  AUDIT_CALLS.map((id) => [id, CALLS.find((call) => call.id === id)?.summary ?? id]),
);

export const auditPages = new Hono<AppEnv>().get("/", async (c) => {
  const query = { ...queryOf(c, auditQuery), limit: ENTRIES_PER_PAGE };
  if (query.format === "csv") return fileOf(c, auditCalls.list, query);
  const { audit, next } = await auditCalls.list.run(inputOf(c, { query }));
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
        own={{ call: { choices: CHANGES } }}
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
        [...Map.groupBy(audit, ({ at }) => formatDay(at))].map(([day, entries]) => (
          <section>
            <h2>{day}</h2>
            <ol class="feed">
              {deedsIn(entries).map((deed) => (
                <Entry deed={deed} when={<Minute iso={deed[0].at} />} />
              ))}
            </ol>
          </section>
        ))
      )}
      <Pages c={c} next={next} by="before" />
    </>,
  );
});

function Minute({ iso }: { readonly iso: string }) {
  return (
    <time datetime={iso} title={formatTime(iso)}>
      {iso.slice(11, 16)}
    </time>
  );
}
