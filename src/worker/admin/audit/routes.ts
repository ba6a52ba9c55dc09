/** `/admin/audit`: every change by an operator. */
import { Hono } from "hono";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { queryOf } from "../http/request-validation.ts";
import { auditQuery } from "./schema.ts";
import { listAudit } from "./sql.ts";

export const auditRoutes = new Hono<AppEnv>().get("/", queryOf(auditQuery), async (c) => {
  const { entries, next } = await listAudit(openDatabase(c.env.DB), c.req.valid("query"));
  return c.json({ audit: entries, next });
});
