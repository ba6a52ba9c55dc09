/** The call that undoes a change of any resource. */
import { UNDOABLE_CALLS } from "../../db/values.ts";
import { call } from "../call.ts";
import { ENTRY } from "../examples.ts";
import { dryRun } from "../http/schemas.ts";
import { undoing, undone } from "./schema.ts";
import { undoChange } from "./undo.ts";

export const undoCalls = {
  undo: call({
    id: "audit.undo",
    route: "POST /audit/:id/undo",
    summary: "Undo a change",
    description: `Of the kinds ${UNDOABLE_CALLS.map((kind) => `\`${kind}\``).join(", ")} and \`orders.load\`. The members become what the entry has in \`before\`, by a new change with an entry of its own. With \`together\`, so do the other orders that the same request has shipped, or the other keys that it has changed, unless they have changed since. Of a load, within 7 days, all batches of its file are undone, 40 in a call: orders get back what they were, and those that were inserted are deleted, unless they have changed since.`,
    query: dryRun,
    body: undoing,
    answer: undone,
    example: {
      body: {},
      answer: {
        ...{ call: ENTRY.call, undone: [ENTRY.object], left: [] },
        ...{ effective: "immediately", load: null },
      },
    },
    conflict: "The change is of another kind, or a member is not as the change left it.",

    run: undoChange,
  }),
};
