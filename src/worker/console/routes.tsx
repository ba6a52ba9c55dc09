/** The console, mounted at `/console`. */
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { showReference } from "../admin/calls.ts";
import { answerTo } from "../admin/serve.ts";
import { refuseChangesOfOtherSites } from "../admin/sign-in/own-origin.ts";
import type { AppEnv } from "../context.ts";
import { ApiError } from "../platform/errors.ts";
import { MAX_UPLOAD_BYTES } from "../platform/memory.ts";
import { keepPrivate, limitForms } from "./kit/headers.ts";
import { alertPages } from "./pages/alerts.tsx";
import { auditPages } from "./pages/audit.tsx";
import { customerPages } from "./pages/customers/customer-page.tsx";
import { linkPages } from "./pages/customers/links-page.tsx";
import { customerListPages } from "./pages/customers/list-page.tsx";
import { answerFind, findPage } from "./pages/find.tsx";
import { keyPages } from "./pages/keys/key-page.tsx";
import { keyListPages } from "./pages/keys/list-page.tsx";
import { orderListPages } from "./pages/orders/list-page.tsx";
import { LOAD_PATH, loadPages } from "./pages/orders/load-page.tsx";
import { orderPages } from "./pages/orders/order-page.tsx";
import { overviewPage } from "./pages/overview.tsx";
import { planPages } from "./pages/plans.tsx";
import { sessionPages } from "./pages/sessions.tsx";
import { usagePages } from "./pages/usage.tsx";
import { requireOperator, signIn, signOut } from "./session.tsx";

const limitFiles = bodyLimit({
  maxSize: MAX_UPLOAD_BYTES,
  onError: () => {
    throw new ApiError("content_too_large", "The file is larger than 8 MB: use store-orders orders load.");
  },
});

export const consoleRoutes = new Hono<AppEnv>()
  .use(keepPrivate, refuseChangesOfOtherSites)
  .post("/sign-in", limitForms, signIn)
  .post("/sign-out", signOut)
  .get("/:form{sign-in|sign-out}", (c) => c.redirect("/console"))
  .use((c, next) => (c.req.path === LOAD_PATH ? limitFiles : limitForms)(c, next))
  .use(requireOperator)
  .post("/find", answerFind)
  // The reference of the pages: /admin/openapi.json takes a token, and no session of the console.
  .get("/openapi.json", (c) => answerTo(c, showReference))
  .get("/", overviewPage)
  .get("/find", findPage)
  .get("/reference", (c) => c.redirect("/docs/admin"))
  .route("/keys", keyListPages)
  .route("/keys", keyPages)
  .route("/customers", customerListPages)
  .route("/customers", linkPages)
  .route("/customers", customerPages)
  .route("/usage", usagePages)
  .route("/orders", orderListPages)
  .route("/orders", loadPages)
  .route("/orders", orderPages)
  .route("/plans", planPages)
  .route("/audit", auditPages)
  .route("/alerts", alertPages)
  .route("/sessions", sessionPages);
