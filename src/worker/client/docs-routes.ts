/**
 * Routes without a key: the documentation, the OpenAPI document, where programs and finders of security holes look,
 * and `/`, which links to the documentation.
 */
import { type Context, Hono } from "hono";
import { cors } from "hono/cors";
import { docsHtml, openApiDocument } from "../../openapi/document.ts";
import type { AppEnv } from "../context.ts";
import { notFound } from "../platform/errors.ts";
import { urlOf } from "../platform/request-url.ts";
import { settingsOf } from "../platform/settings.ts";
import { DAY_SECONDS, nowSeconds, rfc3339 } from "../text/time.ts";

/** Links to the documentation for people and to the description for programs (RFC 8631). */
const LINKS = '</docs>; rel="service-doc", </openapi.json>; rel="service-desc"';

/** RFC 9727, 4.2. */
const CATALOG_TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

const FRONT_PAGE =
  '<!doctype html><html lang="en"><title>Store Orders</title><p>Store Orders lists and cancels the orders of a pet store: <a href="/docs">the documentation</a>.\n';

const PAGE_HEADERS = {
  "Cache-Control": "no-cache",
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

export const docsRoutes = new Hono<AppEnv>()
  .get("/", (c) => c.html(FRONT_PAGE, 200, { Link: LINKS }))
  .get("/docs/", (c) => c.redirect("/docs", 308))
  .get("/docs", async (c) => {
    const { default: template } = await import("../../../dist/docs.txt");
    return c.html(docsHtml(template, settingsFor(c)), 200, PAGE_HEADERS);
  })
  // The document is public, so tools in a browser may read it from any origin.
  .use("/openapi.json", cors({ allowMethods: ["GET", "HEAD"] }))
  // The document names the origin of the request, so a cached copy is revalidated before each use.
  .get("/openapi.json", async (c) => {
    const { default: template } = await import("../../../dist/openapi.txt");
    return c.json(openApiDocument(template, settingsFor(c)), 200, { "Cache-Control": "no-cache" });
  })
  .get("/.well-known/api-catalog", (c) => {
    const { origin } = urlOf(c.req.raw);
    const link = (path: string, type: string) => [{ href: `${origin}${path}`, type }];
    const service = {
      anchor: `${origin}/v1`,
      "service-desc": link("/openapi.json", "application/json"),
      "service-doc": link("/docs", "text/html"),
      status: link("/health", "application/json"),
    };
    const Link = `<${origin}/.well-known/api-catalog>; rel="api-catalog"`;
    return c.body(JSON.stringify({ linkset: [service] }), 200, { "Content-Type": CATALOG_TYPE, Link });
  })
  .get("/.well-known/security.txt", (c) => {
    const { supportContact } = settingsOf(c.env);
    if (supportContact === undefined) throw notFound();
    const contact = supportContact.startsWith("https:") ? supportContact : `mailto:${supportContact}`;
    // Whoever keeps a copy asks again after a while: the contact may have changed.
    const expires = rfc3339(nowSeconds() + 30 * DAY_SECONDS);
    return c.text(`Contact: ${contact}\nExpires: ${expires}\nPreferred-Languages: en\n`);
  });

function settingsFor(c: Context<AppEnv>) {
  return { ...settingsOf(c.env), ownOrigin: urlOf(c.req.raw).origin };
}
