/** The calls about the audit log: every change by an operator. */
import { openDatabase } from "../../db/database.ts";
import { call } from "../call.ts";
import { tableOf } from "../http/csv.ts";
import { auditPage, auditQuery, auditView } from "./schema.ts";
import { listAudit } from "./sql.ts";

export const auditCalls = {
  list: call({
    id: "audit.list",
    route: "GET /audit",
    summary: "List changes by operators",
    description: "Newest first.",
    query: auditQuery,
    answer: auditPage,

    run: ({ env, query }) => listAudit(openDatabase(env.DB), query),
    table: tableOf("audit", auditView),
  }),
};
