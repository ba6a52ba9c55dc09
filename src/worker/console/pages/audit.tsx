/** `/console/audit` lists every change by an operator, day by day. */
import { Hono } from "hono";
import { auditCalls } from "../../admin/audit/calls.ts";
import { auditQuery } from "../../admin/audit/schema.ts";
import { CALLS } from "../../admin/calls.ts";
import { AUDIT_CALLS } from "../../admin/says.ts";
import { inputOf } from "../../admin/serve.ts";
import { undoCalls } from "../../admin/undo/calls.ts";
import type { Undone } from "../../admin/undo/schema.ts";
import type { AppEnv } from "../../context.ts";
import { formatDay, formatTime } from "../../text/format.ts";
import { daysBefore } from "../../text/time.ts";
import { answerForm, type Failure, FailureNotice } from "../kit/failure.tsx";
import { addressOf, inputOfForm, queryOf } from "../kit/forms.ts";
import { answerList, CsvLink, Filters, NoRows, Pages } from "../kit/list.tsx";
import type { FormTexts } from "../kit/members.ts";
import { deedsIn, Entry, UndoForm } from "../kit/object.tsx";
import { type ConsoleContext, page } from "../kit/page.tsx";
import { PreviewPanel } from "../kit/preview.tsx";
import { Lines, Notice } from "../kit/ui.tsx";

const PATH = "/console/audit";
const ENTRIES_PER_PAGE = 50;

/** The reference has a sentence for each change. */
const CHANGES = Object.fromEntries(
  AUDIT_CALLS.map((id) => [id, CALLS.find((call) => call.id === id)?.summary ?? id]),
);

/** Only entries before version 2.3 have them. */
const RARE = ["keys.refresh", "keys.refresh_all"];

export const auditPages = new Hono<AppEnv>()
  .get("/", (c) =>
    answerList(c, auditCalls.list, () => showAudit(c), {
      title: "Audit",
      filters: (failure) => <Filters {...filtersOf(c)} failure={failure} />,
    }),
  )
  .post("/", (c) =>
    answerForm(
      c,
      "undo",
      (context, failure) => showAudit(context, { failure }),
      async (typed) => {
        const { entry: id = "", apply } = typed;
        const query = { "dry-run": apply === undefined };
        const undone = await undoCalls.undo.run({
          ...inputOfForm(c, undoCalls.undo, typed, { id }),
          query,
        });
        return showAudit(c, { undone, typed });
      },
    ),
  );

function filtersOf(c: ConsoleContext) {
  // Nobody types an id, but a link may have it.
  const byObject = c.req.query("object") ? (["object"] as const) : [];
  const own = { call: { choices: CHANGES, without: RARE } };
  return { c, schema: auditQuery, names: [...byObject, "actor", "call", "from", "to"], own } as const;
}

type Shown = { readonly failure?: Failure; readonly undone?: Undone; readonly typed?: FormTexts };

async function showAudit(c: ConsoleContext, { failure, undone, typed = {} }: Shown = {}) {
  const query = { ...queryOf(c, auditQuery), limit: ENTRIES_PER_PAGE };
  const { audit, next } = await auditCalls.list.run(inputOf(c, { query }));
  const shown = c.req.query();
  const preset = (from: string, to = "") => addressOf(PATH, { ...shown, from, to, after: "" });
  return page(
    c,
    { title: "Audit", actions: <CsvLink c={c} />, status: failure?.status ?? 200 },
    <>
      <FailureNotice failure={failure} />
      {undone && <Outcome undone={undone} typed={typed} />}
      <Filters
        {...filtersOf(c)}
        texts={shown}
        presets={[
          ["All entries", PATH],
          ["Today", preset(daysBefore(0))],
          ["Yesterday", preset(daysBefore(1), daysBefore(0))],
          ["7 days", preset(daysBefore(6))],
        ]}
      />
      {audit.length === 0 ? (
        <p class="row muted">
          <NoRows c={c} noun="entry" />
        </p>
      ) : (
        [...Map.groupBy(audit, ({ at }) => formatDay(at))].map(([day, entries]) => (
          <section>
            <h2>{day}</h2>
            <ol class="feed">
              {deedsIn(entries).map((deed) => (
                <Entry deed={deed} when={<Minute iso={deed[0].at} />} mayUndo={!c.var.mayOnlyRead} />
              ))}
            </ol>
          </section>
        ))
      )}
      <Pages c={c} next={next} />
    </>,
  );
}

/** A form without `apply` asked what the undo would do. */
function Outcome({ undone, typed }: { readonly undone: Undone; readonly typed: FormTexts }) {
  if (typed.apply === undefined) {
    const preview = { effects: undone.says.split("\n"), sent: typed, body: {} };
    return <PreviewPanel preview={preview} action={PATH} button="Undo" back={PATH} />;
  }
  return (
    <Notice kind={undone.left.length === 0 ? "good" : "warn"}>
      <Lines text={undone.says} />
      {undone.waiting > 0 && <UndoForm typed={typed} />}
    </Notice>
  );
}

function Minute({ iso }: { readonly iso: string }) {
  return (
    <time datetime={iso} title={formatTime(iso)}>
      {iso.slice(11, 16)}
    </time>
  );
}
