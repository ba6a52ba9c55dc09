/** Says what the last form did. */
import type { PropsWithChildren } from "hono/jsx";
import type { AuditView } from "../../admin/audit/schema.ts";
import type { Effective } from "../../admin/refresh-limiters.ts";
import { saysOf } from "../../admin/says.ts";
import { sentenceOf } from "../../text/says.ts";
import type { FormTexts } from "./members.ts";
import { APPLY, HiddenFields } from "./preview.tsx";
import { Notice, Submit } from "./ui.tsx";

type Props = {
  readonly subject: string;
  /** The version of the object, which is the id of the entry that made it. */
  readonly version: number | string;
  readonly entries: readonly AuditView[];
  readonly effective?: Effective;
  readonly mayUndo: boolean;
};

/** The children say what the entry of the object does not. */
export function Done({ subject, version, entries, effective, mayUndo, children }: PropsWithChildren<Props>) {
  const entry = entries.find(({ id }) => String(id) === String(version));
  if (entry === undefined) return null;
  return (
    <Notice kind="good">
      <p>
        {sentenceOf(subject, saysOf(entry), effective)} {children}
      </p>
      {mayUndo && <EntryUndo entry={entry} />}
    </Notice>
  );
}

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
