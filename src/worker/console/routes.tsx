/** The console, mounted at `/console`. */
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { createMiddleware } from "hono/factory";
import { MAX_JSON_BODY_BYTES } from "../admin/http/request-validation.ts";
import { showReference } from "../admin/openapi.ts";
import { answerTo } from "../admin/serve.ts";
import { refuseChangesOfOtherSites } from "../admin/sign-in/own-origin.ts";
import type { AppEnv } from "../context.ts";
import { ERROR_STATUS } from "../platform/error-codes.ts";
import { ApiError } from "../platform/errors.ts";
import { MAX_UPLOAD_BYTES } from "../platform/memory.ts";
import { find, findPage } from "./find.tsx";
import { KeptForm } from "./kit/forms.ts";
import { inWords } from "./kit/labels.ts";
import { barePage, type ConsoleContext, page } from "./kit/page.tsx";
import { alertReceiver } from "./kit/receiver.tsx";
import { alertPages } from "./pages/alerts/page.tsx";
import { auditPages } from "./pages/audit/page.tsx";
import { banPages } from "./pages/bans/page.tsx";
import { documentPage } from "./pages/documents.tsx";
import { keyPages } from "./pages/keys/key-page.tsx";
import { keyListPages } from "./pages/keys/list-page.tsx";
import { orderListPages } from "./pages/orders/list-page.tsx";
import { LOAD_PATH, loadPages } from "./pages/orders/load-page.tsx";
import { orderPages } from "./pages/orders/order-page.tsx";
import { overviewPage } from "./pages/overview.tsx";
import { linkPages } from "./pages/owner/links-page.tsx";
import { planPages } from "./pages/plans/page.tsx";
import { customerPages } from "./pages/usage/customer-page.tsx";
import { customerListPages, usagePages } from "./pages/usage/page.tsx";
import { requireOperator, signIn, signOut } from "./session.tsx";

/** A form is read into memory, even before anybody has signed in. */
export const limitForms = bodyLimit({
  maxSize: MAX_JSON_BODY_BYTES,
  onError: () => {
    throw new ApiError("content_too_large", "The form is too large.");
  },
});
const limitFiles = bodyLimit({
  maxSize: MAX_UPLOAD_BYTES,
  onError: () => {
    throw new ApiError("content_too_large", "The file is larger than 8 MB: use store-orders orders load.");
  },
});

/** Allows scripts, styles and forms of this service only, and none inline. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Pages show secrets and internal data, so no cache may store them. */
export const keepPrivate = createMiddleware<AppEnv>(async (c, next) => {
  await next();
  c.res.headers.set("Cache-Control", "no-store");
  c.res.headers.set("Content-Security-Policy", CONTENT_SECURITY_POLICY);
  // With no-referrer, browsers send the Origin of forms as null.
  c.res.headers.set("Referrer-Policy", "same-origin");
  c.res.headers.set("Cross-Origin-Opener-Policy", "same-origin");
});

export const consoleRoutes = new Hono<AppEnv>()
  .use(keepPrivate, refuseChangesOfOtherSites)
  .post("/sign-in", limitForms, signIn)
  .post("/sign-out", signOut)
  .get("/:form{sign-in|sign-out}", (c) => c.redirect("/console"))
  .use((c, next) => (c.req.path === LOAD_PATH ? limitFiles : limitForms)(c, next))
  .use(requireOperator)
  .post("/find", find)
  // The reference of the pages: /admin/openapi.json takes a token, and no session of the console.
  .get("/openapi.json", (c) => answerTo(c, showReference))
  .use((c, next) => {
    // Not awaited: the page's own queries run meanwhile.
    void alertReceiver(c);
    return next();
  })
  .get("/", overviewPage)
  .get("/find", findPage)
  .get("/documents/:name", documentPage)
  .get("/reference", (c) => c.redirect("/docs/admin"))
  .route("/keys", keyListPages)
  .route("/keys", keyPages)
  .route("/customers", customerListPages)
  .route("/customers", customerPages)
  .route("/customers", linkPages)
  .route("/usage", usagePages)
  .route("/bans", banPages)
  .route("/orders", orderListPages)
  .route("/orders", loadPages)
  .route("/orders", orderPages)
  .route("/plans", planPages)
  .route("/audit", auditPages)
  .route("/alerts", alertPages);

/** Without a session, the page has no navigation. */
export function errorPage(c: ConsoleContext, error: ApiError): Response | Promise<Response> {
  // The form was a mere button. Its page has it again.
  if (error instanceof KeptForm) return c.redirect(c.req.path, 303);
  const status = ERROR_STATUS[error.code];
  const frame = { title: status === 404 ? "Not found" : "That did not work", status };
  for (const [name, value] of Object.entries(error.headers)) c.header(name, value);
  const isOfOwner = /^\/owner(?![^/])/.test(c.req.path);
  const content = (
    <>
      <p>{inWords(error)}</p>
      <p class="row">
        {status === 400 && c.req.method === "GET" && <a href={c.req.path}>Without filters</a>}
        {status === 403 && c.req.method === "GET" && (
          <a href={c.req.path.replace(/\/[^/]+$/, "")}>The page without the form</a>
        )}
        {isOfOwner ? <a href="/owner">Your keys</a> : <a href="/console">Overview</a>}
      </p>
    </>
  );
  if (isOfOwner) return barePage(c, frame, content, "/owner");
  return c.var.author ? page(c, frame, content) : barePage(c, frame, content);
}
