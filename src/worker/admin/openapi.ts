/** Serves the OpenAPI document of the admin API, which src/tools/admin-reference.ts makes when the project is built. */
import type { Context } from "hono";
import type { AppEnv } from "../context.ts";
import { urlOf } from "../request-url.ts";

/** Loaded by the first request for the document, and never parsed. */
export async function adminDocument(c: Context<AppEnv>): Promise<Response> {
  const { default: text } = await import("../../../dist/admin-openapi.txt");
  const servers = JSON.stringify([{ url: urlOf(c.req.raw).origin }]);
  return c.body(`{"servers":${servers},${text.slice(1)}`, 200, { "Content-Type": "application/json" });
}
