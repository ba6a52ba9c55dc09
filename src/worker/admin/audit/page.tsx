/** `/console/audit`: every change by an operator, one sentence an entry. */
import { Hono } from "hono";
import { addressOf, queryOf, type Typed } from "../../console/forms.ts";
import { page } from "../../console/page.tsx";
import { Field, optionsOf, Pager, Select } from "../../console/ui.tsx";
import type { AppEnv } from "../../context.ts";
import { type Database, openDatabase } from "../../db/database.ts";
import { AUDIT_CALLS } from "../../db/values.ts";
import { DAY_SECONDS, dayName, nowSeconds } from "../../time.ts";
import { findKeys } from "../keys/sql.ts";
import { Entry, sentenceOf } from "./entry.tsx";
import type { AuditView } from "./schema.ts";
import { auditQuery } from "./schema.ts";
import { listAudit } from "./sql.ts";

const PATH = "/console/audit";
const ENTRIES_PER_PAGE = 50;

export const auditPages = new Hono<AppEnv>().get("/", async (c) => {
  const query = queryOf(c, auditQuery);
  const db = openDatabase(c.env.DB);
  const { entries, next } = await listAudit(db, { ...query, limit: ENTRIES_PER_PAGE });
  const names = await keyNamesOf(db, entries);
  const shown = c.req.query();
  return page(
    c,
    { title: "Audit" },
    <>
      <Filters shown={shown} />
      {entries.length === 0 ? (
        <p class="muted">No entry matches.</p>
      ) : (
        <ol class="feed">
          {entries.map((entry) => (
            <Entry entry={entry} sentence={sentenceOf(entry, names.get(entry.object))} />
          ))}
        </ol>
      )}
      <Pager
        first={query.before === undefined ? undefined : addressOf(PATH, { ...shown, before: "" })}
        next={next === null ? undefined : addressOf(PATH, { ...shown, before: next })}
      />
    </>,
  );
});

export async function keyNamesOf(
  db: Database,
  entries: readonly Pick<AuditView, "object">[],
): Promise<ReadonlyMap<string, string>> {
  const ids = new Set(entries.map(({ object }) => object).filter((object) => object.startsWith("key_")));
  const keys = await findKeys(db, [...ids], nowSeconds());
  return new Map(keys.map(({ id, name }) => [id, name]));
}

function Filters({ shown }: { readonly shown: Typed }) {
  const day = (daysAgo: number) => dayName(nowSeconds() - daysAgo * DAY_SECONDS);
  const preset = (from: string, to = "") => addressOf(PATH, { ...shown, from, to, before: "" });
  return (
    <search>
      <form class="filters" method="get">
        <Field name="object" label="Key, plan or order (id)" type="search" value={shown.object} />
        <Field name="actor" label="Who" type="search" value={shown.actor} />
        <Select
          name="call"
          label="Change"
          value={shown.call}
          options={[["", "All"], ...optionsOf(AUDIT_CALLS)]}
        />
        <Field name="from" label="From (UTC)" type="date" value={shown.from} />
        <Field name="to" label="Before (UTC)" type="date" value={shown.to} />
        <button type="submit" class="button">
          Filter
        </button>
      </form>
      <p class="presets">
        <a href={PATH}>All entries</a>
        <a href={preset(day(0))}>Today</a>
        <a href={preset(day(1), day(0))}>Yesterday</a>
        <a href={preset(day(6))}>7 days</a>
      </p>
    </search>
  );
}
