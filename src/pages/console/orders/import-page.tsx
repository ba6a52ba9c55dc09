/** The page that imports a file of orders: by choosing it or by dropping it. */
import { useId, useRef, useState } from "preact/hooks";
import { toCsv } from "../../../worker/csv.ts";
import { importedFileName, type RefusedLine } from "../../../worker/orders/import-requests.ts";
import { counted, formatNumber } from "../../shared/format.ts";
import { useAdmin } from "../admin-context.ts";
import { CheckField } from "../components/field.tsx";
import { ProblemNotice } from "../components/notices.tsx";
import { Page } from "../components/page.tsx";
import { Table } from "../components/table.tsx";
import { saveCsv } from "../download.ts";
import { useSubmit } from "../use-submit.ts";
import { endOfImport, type ImportProgress, importOrders } from "./import-orders.ts";
import { Imports, importEnds } from "./imports.tsx";

/** A longer table would make a phone slow. The CSV file has all refused lines. */
const REFUSED_SHOWN = 100;

export function ImportPage() {
  const { session, announce, warn } = useAdmin();
  const [progress, setProgress] = useState<ImportProgress>();
  const [file, setFile] = useState<File>();
  const name = importedFileName(file?.name ?? "");
  const [restoresCancelled, setRestoresCancelled] = useState(false);
  // Enter that is held, or pressed again, must not import the file again.
  const [isImported, setIsImported] = useState(false);
  const send = (sent: File, isDryRun: boolean) =>
    importOrders(session, sent, { isDryRun, restoresCancelled }, setProgress);
  const checking = useSubmit(async () => {
    if (file) await send(file, true);
  });
  const importing = useSubmit(
    async (left) => {
      if (!file) return;
      // Also one that broke off can have stored orders.
      const end = await send(file, false).finally(() => importEnds.dispatchEvent(new Event("end")));
      setIsImported(true);
      if (!left.aborted) return;
      (end.refusedCount + end.backwards > 0 ? warn : announce)(endOfImport(name, end));
    },
    { name: `Import of ${name}`, isInParts: true },
  );
  const isRunning = checking.isRunning || importing.isRunning;
  const problem = checking.problem ?? importing.problem;
  const clear = () => {
    setProgress(undefined);
    checking.clear();
    importing.clear();
  };
  const start = (event: Event, { submit }: typeof checking) => {
    event.preventDefault();
    if (isRunning) return;
    clear();
    submit(event);
  };
  const choose = (chosen: File | undefined) => {
    setFile(chosen);
    setIsImported(false);
    clear();
  };
  const chooseRestoring = (isChosen: boolean) => {
    setRestoresCancelled(isChosen);
    setIsImported(false);
  };
  const startCheck = (event: Event) => {
    if (!isRunning) setIsImported(false);
    start(event, checking);
  };
  const startImport = (event: Event) => {
    event.preventDefault();
    if (!isImported) start(event, importing);
  };
  // `disabled` would take the focus from the button that was used.
  const usable = { disabled: !file, "aria-disabled": isRunning };
  return (
    <Page title="Import orders" actions={<a href="/console/orders">Orders</a>}>
      <p>
        A file with a JSON array, or with one JSON object per line. A new id is inserted, a known one
        replaced: a member that is absent is removed, but an absent status stays as it is. Importing a file
        twice is safe: orders that clients cancelled since are left cancelled, unless you choose otherwise. It
        stops when 1,000 lines were refused. A status in the file is stored also if it goes backwards: check
        the file first to see how many do.
      </p>
      <form class="panel" onSubmit={startImport}>
        <FileField file={file} isDisabled={isRunning} onChoose={choose} />
        <CheckField
          label="Insert orders again that clients have cancelled"
          isChecked={restoresCancelled}
          isDisabled={isRunning}
          onChange={chooseRestoring}
        />
        <div class="actions">
          <button type="button" class="button" {...usable} onClick={startCheck}>
            Check only
          </button>
          <button type="submit" class="button primary" {...usable} aria-disabled={isRunning || isImported}>
            Import
          </button>
        </div>
      </form>
      {isImported && <p class="muted">To import the file again, choose it or check it again.</p>}
      {problem && <ProblemNotice problem={problem} />}
      {progress && <Result progress={progress} isRunning={isRunning} />}
      <Imports />
    </Page>
  );
}

type FileFieldProps = {
  readonly file: File | undefined;
  /** While it is sent: what the page says is about the chosen file. */
  readonly isDisabled: boolean;
  readonly onChoose: (file: File | undefined) => void;
};

/** The browser's own field is hidden: it would name the file that was chosen last, also after another one was dropped. */
function FileField({ file, isDisabled, onChoose }: FileFieldProps) {
  const [isOver, setIsOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  return (
    <label
      for={id}
      class={isOver ? "drop over" : "drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(!isDisabled);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setIsOver(false);
        if (!isDisabled) onChoose(event.dataTransfer?.files[0]);
      }}
    >
      <span id={`${id}-file`}>
        {file
          ? `${importedFileName(file.name)}, ${formatNumber(file.size)} bytes`
          : "Drop a file here, or choose one"}
      </span>
      <button
        type="button"
        class="button"
        aria-describedby={`${id}-file`}
        disabled={isDisabled}
        onClick={() => input.current?.click()}
      >
        Choose a file
      </button>
      <input
        ref={input}
        id={id}
        type="file"
        hidden
        disabled={isDisabled}
        accept=".json,.ndjson,.jsonl,application/json,application/x-ndjson"
        onChange={({ currentTarget }) => {
          const chosen = currentTarget.files?.[0];
          // With a value, the browser would not tell that the same file is chosen again, after it was edited.
          currentTarget.value = "";
          onChoose(chosen);
        }}
      />
    </label>
  );
}

function Result({ progress, isRunning }: { readonly progress: ImportProgress; readonly isRunning: boolean }) {
  const { sent, total, inserted, updated, unchanged, refusedCount, refused, isDryRun, isDone } = progress;
  const isBrokenOff = !isDone && !isRunning && !isDryRun;
  return (
    <section>
      <h2>{titleOf(progress, isRunning)}</h2>
      <progress max={total} value={sent} aria-label="Orders sent" />
      <p role="status">
        {formatNumber(sent)} of {counted(total, "order")} {isDryRun ? "checked" : "sent"}:{" "}
        {formatNumber(inserted)} {isDryRun && "to be "}inserted, {formatNumber(updated)}{" "}
        {isDryRun && "to be "}updated, {formatNumber(unchanged)} unchanged, {formatNumber(refusedCount)}{" "}
        refused.
        <Cancelled progress={progress} />
        {progress.stopped && " So many lines are refused that nothing after the last of them was read."}
        {isDryRun && <strong> Nothing was stored.</strong>}
        {isBrokenOff && " These are the figures of the last answer. The list below has the present ones."}
      </p>
      <Backwards progress={progress} />
      {refused.length > 0 && <RefusedLines refused={refused} />}
    </section>
  );
}

function titleOf({ isDryRun, isDone, stopped }: ImportProgress, isRunning: boolean): string {
  if (stopped) return "Stopped";
  if (isDone) return isDryRun ? "Checked" : "Imported";
  if (isRunning) return isDryRun ? "Checking" : "Importing";
  return "Not finished";
}

function Cancelled({ progress: { cancelled, reinserted } }: { readonly progress: ImportProgress }) {
  return (
    <>
      {cancelled > 0 && ` Left out, because clients cancelled them: ${counted(cancelled, "order")}.`}
      {reinserted > 0 && ` Inserted again after clients cancelled them: ${counted(reinserted, "order")}.`}
    </>
  );
}

function Backwards({ progress: { backwards, isDryRun } }: { readonly progress: ImportProgress }) {
  if (backwards === 0) return null;
  return (
    <div class="notice warn" role="status">
      <p>
        <strong>
          The status of {counted(backwards, "order")} {isDryRun ? "would go" : "went"} backwards,
        </strong>{" "}
        such as from shipped to pending. A pending order can be cancelled, even if it has left the store.
      </p>
    </div>
  );
}

function RefusedLines({ refused }: { readonly refused: readonly RefusedLine[] }) {
  const download = () => {
    const csv = toCsv([["line", "reason"], ...refused.map(({ line, reason }) => [line, reason])]);
    saveCsv("refused-orders.csv", csv);
  };
  return (
    <>
      <div class="section-head">
        <h3>Refused lines</h3>
        <button type="button" class="button small" onClick={download}>
          Download as CSV
        </button>
      </div>
      <Table
        caption="Refused lines"
        columns={[
          { name: "Line or element", cell: ({ line }) => formatNumber(line) },
          { name: "Reason", cell: ({ reason }) => reason },
        ]}
        rows={refused.slice(0, REFUSED_SHOWN)}
        rowKey={({ line }) => String(line)}
        empty=""
      />
      {refused.length > REFUSED_SHOWN && (
        <p class="muted">The first {REFUSED_SHOWN} lines are shown. The CSV file has all.</p>
      )}
    </>
  );
}
