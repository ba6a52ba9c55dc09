/** The call that undoes a change of any resource. */
import { call } from "../call.ts";
import { dryRun } from "../http/schemas.ts";
import { undoChange } from "./change.ts";
import { undoing, undone } from "./schema.ts";

export const undoCalls = {
  undo: call({
    id: "audit.undo",
    route: "POST /audit/:id/undo",
    summary: "Undo a change",
    description:
      "Of an entry that is `undoable`. The members become what the entry has in `before`, by a new change with an entry of its own, which can be undone, too. With `together`, so do the other keys or orders of its `batch`, unless they have changed since. Of a load, within 7 days, all batches of its file are undone, 40 in a call: orders get back what they were, and those that were inserted are deleted, unless they have changed since.",
    query: dryRun,
    body: undoing,
    answer: undone,
    example: {},
    conflict: "The entry is not `undoable`, nor is any other of its `batch`.",

    run: undoChange,
  }),
};
