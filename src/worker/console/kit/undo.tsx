/** Buttons that undo a change: by its audit entry, or by the action that brings back the state before. */
import type { AuditView } from "../../admin/audit/schema.ts";
import { TOGETHER_CALLS } from "../../db/values.ts";
import type { FormTexts } from "./members.ts";
import { APPLY, HiddenFields } from "./preview.tsx";
import { Basis, Submit } from "./ui.tsx";

type EntryProps = {
  readonly entry: AuditView;
  /** Whether the other changes of its request are undone, too. */
  readonly isTogether?: boolean;
};

/** The call undoes nothing that was changed later. A load is undone as a whole, after a preview. */
export function EntryUndo({ entry: { id, call, undoable }, isTogether = false }: EntryProps) {
  const isLoad = call === "orders.load";
  if (!undoable || (isTogether && !isLoad && !TOGETHER_CALLS.includes(call))) return null;
  const together = isTogether && !isLoad ? { together: "true" } : {};
  return (
    <UndoForm action="/console/audit" typed={{ entry: String(id), ...together, ...(isLoad ? {} : APPLY) }} />
  );
}

type Props = { readonly action: string; readonly version?: number | string; readonly typed: FormTexts };

/** `version` is what the change has left, so the form undoes no later change. */
export function UndoForm({ action, version, typed }: Props) {
  return (
    <form method="post" action={action}>
      {version !== undefined && <Basis version={version} />}
      <HiddenFields typed={typed} />
      <Submit tone="small">Undo</Submit>
    </form>
  );
}
