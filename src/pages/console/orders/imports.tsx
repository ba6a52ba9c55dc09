/** The imports of orders, newest first, each of which can be undone for a day. */
import { useEffect, useState } from "preact/hooks";
import { formatNumber } from "../../shared/format.ts";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { ImportView, UndoAnswer } from "../api-types.ts";
import { FreshDialog } from "../components/fresh-dialog.tsx";
import { WhenLoaded } from "../components/notices.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { useLoad } from "../use-load.ts";
import { LeftAlone } from "./left-alone.tsx";
import { UndoDialog } from "./undo-dialog.tsx";

const IMPORTS_SHOWN = 20;
const DAY_MS = 86_400_000;

/** Gets `end` when an import of this tab has ended. Its page can have been left since, and opened again. */
export const importEnds = new EventTarget();

export function Imports() {
  const { client } = useAdmin();
  const load = () =>
    jsonOf(client.orders.imports.$get({ query: { limit: String(IMPORTS_SHOWN) } }), "imports");
  const loaded = useLoad(load, "");
  const { reload } = loaded;
  useEffect(() => {
    importEnds.addEventListener("end", reload);
    return () => importEnds.removeEventListener("end", reload);
  }, [reload]);
  const [open, setOpen] = useState<ImportView>();
  const close = () => setOpen(undefined);
  // An import that others make or undo meanwhile changes its figures, and newer ones can leave no place for it here.
  const loadAgain = async (listed: ImportView) =>
    (await load()).imports.find(({ id }) => id === listed.id) ?? listed;
  const [undone, setUndone] = useState<UndoAnswer>();
  return (
    <section>
      <h2>Last imports</h2>
      {undone && <LeftAlone undone={undone} />}
      <WhenLoaded loaded={loaded}>
        {({ imports }) => (
          <Table
            caption="Last imports"
            columns={columns(setOpen)}
            rows={imports}
            rowKey={(each) => each.id}
            empty="No orders were imported yet."
          />
        )}
      </WhenLoaded>
      {open && (
        <FreshDialog of={open.id} load={() => loadAgain(open)} onClose={close}>
          {(imported) => (
            <UndoDialog imported={imported} onUndone={setUndone} onChanged={loaded.reload} onClose={close} />
          )}
        </FreshDialog>
      )}
    </section>
  );
}

function columns(undo: (imported: ImportView) => void): Column<ImportView>[] {
  return [
    { name: "File", cell: (each) => each.file ?? "–" },
    { name: "When", cell: (each) => <Time iso={each.startedAt} /> },
    { name: "Who", cell: (each) => each.actor },
    { name: "Inserted", isNumber: true, cell: (each) => formatNumber(each.inserted) },
    { name: "Updated", isNumber: true, cell: (each) => formatNumber(each.updated) },
    { name: "Left cancelled", isNumber: true, cell: (each) => formatNumber(each.cancelled) },
    { name: "Reinserted", isNumber: true, cell: (each) => formatNumber(each.reinserted) },
    { name: "Backwards", isNumber: true, cell: (each) => formatNumber(each.backwards) },
    { name: "Refused", isNumber: true, cell: refusedText },
    {
      name: "Undo",
      cell: (each) => <UndoCell imported={each} undo={undo} />,
    },
  ];
}

function refusedText({ refused, stopped }: ImportView): string {
  return `${formatNumber(refused)}${stopped ? ", stopped" : ""}`;
}

type UndoCellProps = { readonly imported: ImportView; readonly undo: (imported: ImportView) => void };

/** An undo that broke off can be repeated, and a complete one names the orders that it left alone again. */
function UndoCell({ imported, undo }: UndoCellProps) {
  const { id, file, startedAt, undone } = imported;
  const isRecent = Date.now() - Date.parse(startedAt) < DAY_MS;
  const label = undone === null ? "Undo the import of" : "Repeat the undo of";
  return (
    <>
      {undone !== null && undoneFigures(undone)} {undone === null && !isRecent && "–"}
      {isRecent && (
        <button
          type="button"
          class="button small"
          aria-label={`${label} ${file ?? id}…`}
          onClick={() => undo(imported)}
        >
          {undone === null ? "Undo…" : "Repeat…"}
        </button>
      )}
    </>
  );
}

function undoneFigures({ deleted, restored, leftAlone }: NonNullable<ImportView["undone"]>): string {
  return `undone: ${formatNumber(deleted)} deleted, ${formatNumber(restored)} set back, ${formatNumber(leftAlone)} left alone`;
}
