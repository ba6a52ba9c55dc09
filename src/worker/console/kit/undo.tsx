/** Buttons that undo a change: by its audit entry, or by the action that brings back the state before. */
import type { AuditView } from "../../admin/audit/schema.ts";
import { UNDOABLE } from "../../admin/audit/undo.ts";
import type { FormTexts } from "./members.ts";
import { APPLY, HiddenFields } from "./preview.tsx";
import { Basis } from "./ui.tsx";

type EntryProps = { readonly entry: AuditView; readonly isShipment?: boolean };

/** For a shipment, `entry` is any of its entries. The call undoes nothing that was changed later. A load is undone after a preview. */
export function EntryUndo({ entry: { id, call }, isShipment = false }: EntryProps) {
  if (!UNDOABLE.includes(call) || (isShipment && !["orders.ship", "orders.load"].includes(call))) return null;
  const typed = {
    entry: String(id),
    ...(isShipment && call === "orders.ship" && { shipment: "true" }),
    ...(call !== "orders.load" && APPLY),
  };
  return <UndoForm action="/console/audit" typed={typed} />;
}

type Props = { readonly action: string; readonly version?: number | string; readonly typed: FormTexts };

/** `version` is what the change has left, so the form undoes no later change. */
export function UndoForm({ action, version, typed }: Props) {
  return (
    <form method="post" action={action}>
      {version !== undefined && <Basis version={version} />}
      <HiddenFields typed={typed} />
      <button type="submit" class="button small">
        Undo
      </button>
    </form>
  );
}
