/** The imports of orders, newest first, each of which can be undone for a day. */
import { useState } from "preact/hooks";
import { formatNumber } from "../../shared/format.ts";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { ImportView } from "../api-types.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { WhenLoaded } from "../components/notices.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { useLoad } from "../use-load.ts";

const IMPORTS_SHOWN = 20;
const DAY_MS = 86_400_000;

/** `changes` counts the imports made on this page. */
export function Imports({ changes }: { readonly changes: number }) {
  const { client } = useAdmin();
  const loaded = useLoad(
    () => jsonOf(client.orders.imports.$get({ query: { limit: String(IMPORTS_SHOWN) } })),
    String(changes),
  );
  const [open, setOpen] = useState<ImportView>();
  return (
    <section>
      <h2>Last imports</h2>
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
      {open && <UndoDialog imported={open} onChanged={loaded.reload} onClose={() => setOpen(undefined)} />}
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
    { name: "Backwards", isNumber: true, cell: (each) => formatNumber(each.backwards) },
    { name: "Refused", isNumber: true, cell: (each) => formatNumber(each.refused) },
    {
      name: "Undo",
      cell: (each) =>
        each.undone === null && Date.now() - Date.parse(each.startedAt) < DAY_MS ? (
          <button
            type="button"
            class="button small"
            aria-label={`Undo the import of ${each.file ?? each.id}…`}
            onClick={() => undo(each)}
          >
            Undo…
          </button>
        ) : (
          <Undone undone={each.undone} />
        ),
    },
  ];
}

function Undone({ undone }: Pick<ImportView, "undone">) {
  if (undone === null) return <>–</>;
  return (
    <>
      undone: {formatNumber(undone.deleted)} deleted, {formatNumber(undone.restored)} set back,{" "}
      {formatNumber(undone.leftAlone)} left alone
    </>
  );
}

type UndoProps = {
  readonly imported: ImportView;
  readonly onChanged: () => Promise<void>;
  readonly onClose: () => void;
};

function UndoDialog({ imported, onChanged, onClose }: UndoProps) {
  const { client, announce } = useAdmin();
  const undo = async () => {
    const param = { id: imported.id };
    // Each call undoes a part that fits into one request.
    for (;;) {
      const { isComplete } = await jsonOf(client.orders.imports[":id"].undo.$post({ param }));
      if (isComplete) break;
    }
    announce("The import is undone.");
    await onChanged();
  };
  return (
    <ActionDialog
      title={`Undo the import of ${imported.file ?? imported.id}?`}
      action="Undo the import"
      isDangerous
      run={undo}
      onClose={onClose}
    >
      <p>
        The {formatNumber(imported.inserted)} orders that it inserted are deleted, and the{" "}
        {formatNumber(imported.updated)} that it changed are set back. Orders that were changed or cancelled
        since stay as they are.
      </p>
    </ActionDialog>
  );
}
