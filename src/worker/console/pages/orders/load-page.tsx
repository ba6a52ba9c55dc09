/** `/console/orders/load` loads a file of orders, and says what became of its lines. */
import { Hono } from "hono";
import { auditCalls } from "../../../admin/audit/calls.ts";
import type { AuditView } from "../../../admin/audit/schema.ts";
import { checked } from "../../../admin/http/request-validation.ts";
import { orderCalls } from "../../../admin/orders/calls.ts";
import { type CheckedFile, checkFile } from "../../../admin/orders/file/check.ts";
import {
  type LoadProgress,
  loadedFileName,
  loadInBatches,
  NOTHING_LOADED,
} from "../../../admin/orders/file/load.ts";
import { readOrders } from "../../../admin/orders/file/read.ts";
import { ORDER_MEMBERS } from "../../../admin/orders/loaded-order.ts";
import { fileLoad } from "../../../admin/orders/schema.ts";
import { inputOf } from "../../../admin/serve.ts";
import { requireWriter } from "../../../admin/sign-in/require-admin.ts";
import type { AppEnv } from "../../../context.ts";
import { invalidRequest } from "../../../platform/errors.ts";
import { counted, formatNumber } from "../../../text/format.ts";
import { Fields } from "../../kit/fields.tsx";
import { ask, receiveForm } from "../../kit/forms.ts";
import { EntryUndo } from "../../kit/object.tsx";
import { page } from "../../kit/page.tsx";
import { Notice, Submit } from "../../kit/ui.tsx";

export const LOAD_PATH = "/console/orders/load";
const CHARS_SHOWN = 500;
const REFUSED_LINES_SHOWN = 100;
/** An isolate remembers each id of a file, and holds the refused lines for the page. */
const LIMITS = { orders: 100_000, refused: 10_000, refusedChars: 500_000 };
/** A piece takes some milliseconds. Then other requests get their turn. */
const PIECE_BYTES = 64 * 1024;
/** A request has a limit of D1 queries, and a batch holds an isolate for some 100 ms. */
const BATCH_ORDERS = 2_000;

export const loadPages = new Hono<AppEnv>()
  .get("/load", (c) => {
    requireWriter(c.var);
    return page(
      c,
      { title: "Load orders" },
      <>
        <form method="post" action={LOAD_PATH} enctype="multipart/form-data" class="panel">
          <p>
            JSON or CSV of up to 8 MB and {formatNumber(LIMITS.orders)} orders. Wrong lines are listed; the
            others are loaded. A file can be loaded again: what is there already is unchanged. An absent
            column keeps its values, an empty cell takes its value away.
          </p>
          <p>
            A spreadsheet has the columns <code>{ORDER_MEMBERS.join(", ")}</code>. It keeps 15 digits: open
            the columns id and petId as text.
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
          <Fields schema={fileLoad} names={["restore-cancelled", "allow-backwards", "allow-rounded"]} />
          <div class="row">
            <button type="submit" class="button primary" name="dry-run" value="true">
              Check the file (dry run)
            </button>
            <Submit>Load</Submit>
          </div>
        </form>
        <div data-below aria-live="polite" />
      </>,
    );
  })

  .post("/load", async (c) => {
    const { file, ...switches } = Object.fromEntries(await receiveForm(c));
    if (!(file instanceof File) || file.size === 0) throw invalidRequest("Choose a file that is not empty.");
    const form = checked(c.env, fileLoad, { file: loadedFileName(file.name), ...switches });
    const { "allow-rounded": allowsRounded, ...query } = form;
    const read = () => readOrders(piecesOf(file));
    const checkedFile = await checkFile(read(), LIMITS, allowsRounded);
    let progress: LoadProgress = NOTHING_LOADED;
    if (checkedFile.kind === "ready") {
      const send = (text: string) => orderCalls.load.run(inputOf(c, { query, text }));
      for await (progress of loadInBatches(read(), send, BATCH_ORDERS));
    }
    const isDryRun = query["dry-run"];
    const [entry] = (await ask(c, auditCalls.list, { batch: c.var.author.requestId, limit: "1" })).audit;
    return page(
      c,
      { title: isDryRun ? "Dry run" : "Load orders" },
      <>
        <h2>{query.file}</h2>
        <Result progress={progress} file={checkedFile} isDryRun={isDryRun} entry={entry} />
        <Refused file={checkedFile} />
        <p>
          <a href="/console/orders">Orders</a>
        </p>
      </>,
    );
  });

async function* piecesOf(file: File): AsyncGenerator<Uint8Array, void> {
  for (let start = 0; start < file.size; start += PIECE_BYTES) {
    await scheduler.wait(0);
    yield new Uint8Array(await file.slice(start, start + PIECE_BYTES).arrayBuffer());
  }
}

type ResultProps = {
  readonly progress: LoadProgress;
  readonly file: CheckedFile;
  readonly isDryRun: boolean;
  /** The last batch that has changed something. */
  readonly entry: AuditView | undefined;
};

function Result({ progress, file, isDryRun, entry }: ResultProps) {
  const { inserted, updated, unchanged, cancelled, kept, refused } = progress;
  if (file.kind !== "ready") {
    return (
      <Notice kind="warn">
        <p>Nothing was loaded. {file.reason}</p>
        {file.kind === "rounded" && (
          <p>Make the file again with ids as text. If the numbers are right, load the file with the tick.</p>
        )}
      </Notice>
    );
  }
  return (
    <>
      <Notice kind={refused === 0 ? "good" : "warn"}>
        <p>
          {isDryRun ? "Dry run: nothing was stored. Would be loaded" : "Loaded"}: {formatNumber(inserted)}{" "}
          inserted, {formatNumber(updated)} updated, {formatNumber(unchanged)} unchanged,{" "}
          {formatNumber(cancelled)} cancelled, {formatNumber(refused)} refused.
          {kept > 0 && ` The status of ${counted(kept, "order")} would have gone back, and was kept.`}
        </p>
        {entry && <EntryUndo entry={entry} />}
      </Notice>
      {file.notes.length > 0 && (
        <Notice kind="warn">
          {file.notes.map((note) => (
            <p>{note}</p>
          ))}
        </Notice>
      )}
    </>
  );
}

function Refused({ file: { refused, refusedLines } }: { readonly file: CheckedFile }) {
  if (refused === 0) return "";
  return (
    <>
      <h2>Refused lines</h2>
      {REFUSED_LINES_SHOWN < refused && <p class="muted">The first {REFUSED_LINES_SHOWN}:</p>}
      <ul class="feed">
        {refusedLines.slice(0, REFUSED_LINES_SHOWN).map(({ line, text, reason }) => (
          <li>
            <strong>Line {line}</strong>: {cut(reason)}
            <pre>{cut(text)}</pre>
          </li>
        ))}
      </ul>
    </>
  );
}

function cut(text: string): string {
  return text.length > CHARS_SHOWN ? `${text.slice(0, CHARS_SHOWN)}…` : text;
}
