/** The console, mounted at `/console`. */
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { createMiddleware } from "hono/factory";
import { MAX_JSON_BODY_BYTES, refuseAdminToken } from "../admin/http/request-validation.ts";
import { listKeys } from "../admin/keys/list-sql.ts";
import { findKeys } from "../admin/keys/sql.ts";
import { showReference } from "../admin/openapi.ts";
import { findOrder } from "../admin/orders/sql.ts";
import { answerTo } from "../admin/serve.ts";
import { refuseChangesOfOtherSites } from "../admin/sign-in/own-origin.ts";
import type { AppEnv } from "../context.ts";
import { openDatabase } from "../db/database.ts";
import { hasKey, keyIn, parseKey } from "../key/key.ts";
import { hashKey } from "../key/mac.ts";
import { ERROR_STATUS } from "../platform/error-codes.ts";
import { ApiError, notFound } from "../platform/errors.ts";
import { MAX_UPLOAD_BYTES } from "../platform/memory.ts";
import { isInt64 } from "../text/int64.ts";
import { nowSeconds } from "../text/time.ts";
import { addressOf, formOf, KeptForm } from "./kit/forms.ts";
import { inWords } from "./kit/labels.ts";
import { barePage, type ConsoleContext, page } from "./kit/page.tsx";
import { alertReceiver } from "./kit/receiver.tsx";
import { Field } from "./kit/ui.tsx";
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

const MAX_SUGGESTIONS = 8;

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
  .get("/:form{sign-in|sign-out|search}", (c) => c.redirect("/console"))
  .use((c, next) => (c.req.path === LOAD_PATH ? limitFiles : limitForms)(c, next))
  .use(requireOperator)
  .post("/search", search)
  .get("/find", findPage)
  .get("/suggestions", suggest)
  // The reference of the pages: /admin/openapi.json takes a token, and no session of the console.
  .get("/openapi.json", (c) => answerTo(c, showReference))
  .use((c, next) => {
    // Not awaited: the page's own queries run meanwhile.
    void alertReceiver(c);
    return next();
  })
  .get("/", overviewPage)
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

/** The text may be a secret, so it is sent in a body. No address of a result has a secret. */
async function search(c: ConsoleContext): Promise<Response> {
  // A search changes nothing, so after a sign-in it is made.
  const { text: typed = "" } = await formOf(c).catch((thrown) => {
    if (thrown instanceof KeptForm) return thrown.typed;
    throw thrown;
  });
  const text = typed.trim();
  refuseAdminToken(text, c.env);
  const db = openDatabase(c.env.DB);
  const now = nowSeconds();
  if (hasKey(text)) {
    const secret = keyIn(text) ?? text;
    const [key] = await findKeys(db, [parseKey(secret)?.id ?? ""], now);
    const hash = await hashKey(secret);
    if (key?.secrets.some(({ id }) => hash.startsWith(id))) return c.redirect(`/console/keys/${key.id}`, 303);
    throw notFound("No key has this secret.");
  }
  if (isInt64(text) && (await findOrder(db, text))) return c.redirect(`/console/orders/${text}`, 303);
  // A masked secret is found by its end.
  const part = /(?:…|\.\.\.)/.test(text) ? text.slice(-4) : text;
  const { keys } = await listKeys(db, { search: part, sort: "name", direction: "asc", limit: 2 }, now);
  const [found, another] = keys;
  if (!found && isInt64(text)) throw notFound("No order has this id, and no key matches.");
  if (found && !another) return c.redirect(`/console/keys/${found.id}`, 303);
  return c.redirect(addressOf("/console/keys", { search: part }), 303);
}

function findPage(c: ConsoleContext) {
  const form = (
    <form method="post" action="/console/search" class="panel">
      <Field name="text" label="Name, owner, note, id of a key or order, or secret" type="search" />
      <button type="submit" class="button primary">
        Find
      </button>
    </form>
  );
  return page(c, { title: "Find" }, form);
}

/** Finds keys for the search field. */
async function suggest(c: ConsoleContext): Promise<Response> {
  const text = c.req.query("text")?.trim() ?? "";
  if (text === "" || hasKey(text)) return c.json([]);
  const filter = { search: text, sort: "name", direction: "asc", limit: MAX_SUGGESTIONS } as const;
  const { keys } = await listKeys(openDatabase(c.env.DB), filter, nowSeconds());
  return c.json(keys.map(({ name, ownerName }) => ({ name, owner: ownerName ?? "" })));
}

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
        {isOfOwner ? <a href="/owner">Your keys</a> : <a href="/console">Overview</a>}
      </p>
    </>
  );
  if (isOfOwner) return barePage(c, frame, content, "/owner");
  return c.var.author ? page(c, frame, content) : barePage(c, frame, content);
}
