/** `/console/orders/load` loads a file of orders, and says what became of its lines. */
import { Hono } from "hono";
import type { PropsWithChildren } from "hono/jsx";
import { checked } from "../../../admin/http/request-validation.ts";
import { orderCalls } from "../../../admin/orders/calls.ts";
import { MAX_ORDERS_PER_LOAD, ORDER_MEMBERS } from "../../../admin/orders/loaded-order.ts";
import {
  type LoadProgress,
  loadedFileName,
  loadInBatches,
  NOTHING_LOADED,
  type RefusedLine,
  readOrders,
} from "../../../admin/orders/order-file.ts";
import { loadQuery } from "../../../admin/orders/schema.ts";
import { inputOf } from "../../../admin/serve.ts";
import type { AppEnv } from "../../../context.ts";
import { invalidRequest } from "../../../platform/errors.ts";
import { toCsv } from "../../../text/csv.ts";
import { counted, formatNumber } from "../../../text/format.ts";
import { Fields } from "../../kit/fields.tsx";
import { receiveForm } from "../../kit/forms.ts";
import { page } from "../../kit/page.tsx";
import { Notice } from "../../kit/ui.tsx";

export const LOAD_PATH = "/console/orders/load";
const CHARS_SHOWN = 500;
const REFUSED_LINES_SHOWN = 100;
/** The page holds the lines for the download, and an isolate has 128 MB. */
const MAX_REFUSED_LINES = 10_000;

export const loadPages = new Hono<AppEnv>()
  .get("/load", (c) => {
    if (c.var.mayOnlyRead) return c.redirect("/console/orders");
    return page(
      c,
      { title: "Load orders" },
      <form method="post" action={LOAD_PATH} enctype="multipart/form-data" class="panel">
        <p>
          A JSON array, NDJSON or CSV of up to 8 MB. Wrong lines are listed; the others are loaded. A file can
          be loaded again: what is there already is unchanged. An absent column keeps its values, an empty
          cell takes its value away.
        </p>
        <p>
          <Download name="orders.csv" rows={[ORDER_MEMBERS]}>
            Template for a spreadsheet
          </Download>
        </p>
        <div class="field">
          <label for="file">File</label>
          <input
            type="file"
            id="file"
            name="file"
            required
            accept=".json,.ndjson,.jsonl,.csv,.tsv,.txt,application/json,text/csv,text/plain"
          />
        </div>
        <Fields schema={loadQuery} names={["dry-run", "restore-cancelled", "allow-backwards"]} />
        <button type="submit" class="button primary">
          Load
        </button>
      </form>,
    );
  })

  .post("/load", async (c) => {
    const { file, ...switches } = Object.fromEntries(await receiveForm(c));
    if (!(file instanceof File) || file.size === 0) throw invalidRequest("Choose a file that is not empty.");
    const query = checked(c.env, loadQuery, { file: loadedFileName(file.name), ...switches });
    const isDryRun = query["dry-run"];
    const refused: RefusedLine[] = [];
    let progress: LoadProgress = NOTHING_LOADED;
    for await (progress of loadInBatches(
      readOrders(file.stream()),
      (text) => orderCalls.load.run(inputOf(c, { query, text })),
      MAX_ORDERS_PER_LOAD, // a request has a limit of D1 queries
    )) {
      refused.push(...progress.refusedLines.slice(0, MAX_REFUSED_LINES - refused.length));
    }
    return page(
      c,
      { title: isDryRun ? "Dry run" : "Load orders" },
      <>
        <h2>{query.file}</h2>
        <Result progress={progress} refused={refused} isDryRun={isDryRun} />
      </>,
    );
  });

type DownloadProps = PropsWithChildren<{
  readonly name: string;
  readonly rows: Parameters<typeof toCsv>[0];
}>;

/** The link has the whole file, so the service stores nothing for a later download. */
function Download({ name, rows, children }: DownloadProps) {
  const csv = `\ufeff${toCsv(rows)}`; // spreadsheets take a file without a byte order mark for Latin-1
  return (
    <a download={name} href={`data:text/csv;charset=utf-8,${encodeURIComponent(csv.toWellFormed())}`}>
      {children}
    </a>
  );
}

type ResultProps = {
  readonly progress: LoadProgress;
  readonly refused: readonly RefusedLine[];
  readonly isDryRun: boolean;
};

function Result({ progress, refused, isDryRun }: ResultProps) {
  const { inserted, updated, unchanged, cancelled, kept } = progress;
  return (
    <>
      <Notice kind={progress.refused === 0 ? "good" : "warn"}>
        <p>
          {isDryRun ? "Dry run: nothing was stored. Would be loaded" : "Loaded"}: {formatNumber(inserted)}{" "}
          inserted, {formatNumber(updated)} updated, {formatNumber(unchanged)} unchanged,{" "}
          {formatNumber(cancelled)} skipped (cancelled), {formatNumber(progress.refused)} refused.
          {kept > 0 && ` The status of ${counted(kept, "order")} would have gone back, and was kept.`}
        </p>
      </Notice>
      {refused.length > 0 && (
        <>
          <h2>Refused lines</h2>
          <p>
            <Download
              name="refused-lines.csv"
              rows={[
                ["line", "reason", "text"],
                ...refused.map((each) => [each.line, each.reason, each.text]),
              ]}
            >
              {refused.length < progress.refused ? `Download the first ${refused.length}` : "Download them"}
            </Download>
          </p>
          {REFUSED_LINES_SHOWN < refused.length && <p class="muted">The first {REFUSED_LINES_SHOWN}:</p>}
          <ul class="feed">
            {refused.slice(0, REFUSED_LINES_SHOWN).map(({ line, text, reason }) => (
              <li>
                <strong>Line {line}</strong>: {reason}
                <pre>{text.length > CHARS_SHOWN ? `${text.slice(0, CHARS_SHOWN)}…` : text}</pre>
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        <a href="/console/orders">Orders</a>
      </p>
    </>
  );
}
