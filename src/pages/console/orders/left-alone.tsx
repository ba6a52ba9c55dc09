/** The orders that an undone import has left alone, because they were changed, deleted or cancelled since. */
import { CopyButton } from "../../shared/copy-button.tsx";
import { counted } from "../../shared/format.ts";
import type { UndoAnswer } from "../api-types.ts";
import { undoneText } from "./undo-import.ts";

export function LeftAlone({ undone }: { readonly undone: UndoAnswer }) {
  const { import: imported, leftAlone } = undone;
  const unnamed = (imported.undone?.leftAlone ?? 0) - leftAlone.length;
  if (leftAlone.length + unnamed === 0) return null;
  const ids = leftAlone.join("\n");
  return (
    <div class="notice warn">
      <p>
        <strong>{undoneText(undone)}</strong> Changed, deleted or cancelled since the import of{" "}
        {imported.file ?? imported.id}, they stay as they are.
        {unnamed > 0 && ` ${counted(unnamed, "more order")} cannot be named.`}
      </p>
      {leftAlone.length > 0 && (
        <>
          <textarea rows={4} readOnly aria-label="Ids of the orders that are left alone" value={ids} />
          <CopyButton text={ids} label="Copy the ids" />
        </>
      )}
    </div>
  );
}
