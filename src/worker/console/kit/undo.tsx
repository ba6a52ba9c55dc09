/** The button that undoes a change, by its audit entry. */
import type { AuditView } from "../../admin/audit/schema.ts";
import type { FormTexts } from "./members.ts";
import { APPLY, HiddenFields } from "./preview.tsx";
import { Submit } from "./ui.tsx";

type EntryProps = {
  readonly entry: AuditView;
  /** Whether the other changes of its batch are undone, too. */
  readonly isTogether?: boolean;
};

/** A load is undone as a whole, after a preview. */
export function EntryUndo({ entry: { id, call, undoable }, isTogether = false }: EntryProps) {
  if (!undoable) return null;
  const isLoad = call === "orders.load" || call === "audit.undo";
  const together = isTogether && !isLoad ? { together: "true" } : {};
  return <UndoForm typed={{ entry: String(id), ...together, ...(isLoad ? {} : APPLY) }} />;
}

export function UndoForm({ typed }: { readonly typed: FormTexts }) {
  return (
    <form method="post" action="/console/audit">
      <HiddenFields typed={typed} />
      <Submit tone="small">Undo</Submit>
    </form>
  );
}
