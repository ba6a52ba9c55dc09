/** Outside /v1, without a key: the OpenAPI document, and a line at `/` that leads to it. The page at /docs is a static asset. */
import { type Context, Hono } from "hono";
import { openApiDocument } from "../openapi/document.ts";
import type { JsonObject } from "../openapi/json.ts";
import { toYaml } from "../openapi/yaml.ts";
import { type AppEnv, settingsOf } from "./context.ts";

/** The document names the address that it was asked for at, so a copy is asked after before it is used again. */
const FRESH = { "Cache-Control": "no-cache" };

/** RFC 8631: where people read on, and where programs do. */
const LINKS = '</docs>; rel="service-doc", </openapi.json>; rel="service-desc"';

const FRONT_PAGE =
  '<!doctype html><html lang="en"><title>Store Orders</title><p>Store Orders lists and cancels the orders of a pet store: <a href="/docs">the documentation</a>.\n';

export const docsRoutes = new Hono<AppEnv>()
  .get("/", (c) => c.html(FRONT_PAGE, 200, { Link: LINKS }))
  .get("/openapi.json", (c) => c.json(documentOf(c), 200, FRESH))
  .get("/openapi.yaml", (c) =>
    c.body(toYaml(documentOf(c)), 200, { ...FRESH, "Content-Type": "application/yaml; charset=utf-8" }),
  );

function documentOf(c: Context<AppEnv>): JsonObject {
  return openApiDocument({ ...settingsOf(c.env), ownOrigin: new URL(c.req.url).origin });
}
