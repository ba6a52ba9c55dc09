/** Says what the last form did. */
import type { AuditView } from "../../admin/audit/schema.ts";
import type { Effective } from "../../admin/refresh-limiters.ts";
import { saysOf } from "../../admin/says.ts";
import { sentenceOf } from "../../text/says.ts";
import { Notice } from "./ui.tsx";
import { EntryUndo } from "./undo.tsx";

type Props = {
  readonly subject: string;
  /** The version of the object, which is the id of the entry that made it. */
  readonly version: number | string;
  readonly entries: readonly AuditView[];
  readonly effective?: Effective;
  readonly mayUndo: boolean;
};

export function Done({ subject, version, entries, effective, mayUndo }: Props) {
  const entry = entries.find(({ id }) => String(id) === String(version));
  if (entry === undefined) return null;
  return (
    <Notice kind="good">
      <p>{sentenceOf(subject, saysOf(entry), effective)}</p>
      {mayUndo && <EntryUndo entry={entry} />}
    </Notice>
  );
}
