/** Routes without a key: the OpenAPI document, the same as text for AI models, and `/`, which links to the page at /docs (a static asset). */
import { type Context, Hono } from "hono";
import { cors } from "hono/cors";
import { llmsText, openApiDocument } from "../../openapi/document.ts";
import type { AppEnv } from "../context.ts";
import { urlOf } from "../platform/request-url.ts";
import { settingsOf } from "../platform/settings.ts";

/** Links to the documentation for people and to the description for programs (RFC 8631). */
const LINKS = '</docs>; rel="service-doc", </openapi.json>; rel="service-desc"';

const FRONT_PAGE =
  '<!doctype html><html lang="en"><title>Store Orders</title><p>Store Orders lists and cancels the orders of a pet store: <a href="/docs">the documentation</a>.\n';

export const docsRoutes = new Hono<AppEnv>()
  .get("/", (c) => c.html(FRONT_PAGE, 200, { Link: LINKS }))
  // The document is public, so tools in a browser may read it from any origin.
  .use("/openapi.json", cors({ allowMethods: ["GET", "HEAD"] }))
  // The document names the origin of the request, so a cached copy is revalidated before each use.
  .get("/openapi.json", async (c) => c.json(await documentOf(c), 200, { "Cache-Control": "no-cache" }))
  .get("/llms.txt", async (c) => c.text(llmsText(await documentOf(c)), 200, { "Cache-Control": "no-cache" }));

/** The first request for the document loads the text, which npm run build makes of openapi.yaml. */
async function documentOf(c: Context<AppEnv>) {
  const { default: template } = await import("../../../dist/openapi.txt");
  return openApiDocument(template, { ...settingsOf(c.env), ownOrigin: urlOf(c.req.raw).origin });
}
