/** The calls about the audit log: every change by an operator. */
import type * as v from "valibot";
import { openDatabase } from "../../db/database.ts";
import { UNDOABLE_CALLS } from "../../db/values.ts";
import { call } from "../call.ts";
import { columnsOf } from "../http/csv.ts";
import { dryRun } from "../http/schemas.ts";
import { auditPage, auditQuery, auditView, undoing, undone } from "./schema.ts";
import { listAudit } from "./sql.ts";
import { undoChange } from "./undo.ts";

export const ENTRY: v.InferInput<typeof auditView> = {
  id: 118,
  at: "2026-11-21T10:00:00Z",
  requestId: "8fb8fa07-53c3-4d2f-a4a0-5a7a0e2a5d5b",
  actor: "mo",
  call: "keys.update",
  object: "key_0C8yRw3mQz1T",
  objectName: "Backend of Pet Shop",
  before: { requestsPerMinute: null },
  after: { requestsPerMinute: 600 },
  undoable: true,
};

export const auditCalls = {
  list: call({
    id: "audit.list",
    route: "GET /audit",
    summary: "List changes by operators",
    description: "Newest first.",
    query: auditQuery,
    answer: auditPage,
    example: { answer: { audit: [ENTRY], next: null } },

    run: ({ env, query }) => listAudit(openDatabase(env.DB), query),
    table: ({ audit, next }) => ({
      file: "audit",
      columns: columnsOf(auditView),
      rows: audit,
      next,
    }),
  }),

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
