/** Undoes an import of orders. */
import { formatNumber } from "../../shared/format.ts";
import { useAdmin } from "../admin-context.ts";
import type { ImportView, UndoAnswer } from "../api-types.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { undoImport, undoneText } from "./undo-import.ts";

type Props = {
  /** As it was when the dialog opened. */
  readonly imported: ImportView;
  readonly onUndone: (undone: UndoAnswer) => void;
  readonly onChanged: () => Promise<void>;
  readonly onClose: () => void;
};

export function UndoDialog({ imported, onUndone, onChanged, onClose }: Props) {
  const { client, announce } = useAdmin();
  const undo = async (left: AbortSignal) => {
    const undone = await undoImport(client, imported.id, left);
    onUndone(undone);
    announce(undoneText(undone));
  };
  return (
    <ActionDialog
      title={`Undo the import of ${imported.file ?? imported.id}?`}
      action="Undo the import"
      isDangerous
      isInParts
      run={undo}
      onChanged={onChanged}
      onClose={onClose}
    >
      {imported.undone !== null && <p>It was undone already. If that broke off, the rest is undone now.</p>}
      <p>
        The {formatNumber(imported.inserted)} orders that it inserted are deleted, and the{" "}
        {formatNumber(imported.updated)} that it changed are set back. Orders that were changed, deleted or
        cancelled since stay as they are, and are named.
      </p>
    </ActionDialog>
  );
}
