/**
 * Middleware: a change whose `Idempotency-Key` an earlier one had is a 409 and changes nothing. Browsers send a call again if its
 * connection ends before an answer, also a POST, and pass on the second answer only (ADR-27).
 */
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../../context.ts";
import { isMadeByAnother } from "../../db/audit-repository.ts";
import { openDatabase } from "../../db/database.ts";
import { invalidRequest, repeatedCall } from "../../errors.ts";
import { hasAdminToken } from "../admin-token.ts";

const FORMAT = /^[0-9a-f]{32}$/;

/** An import can be repeated, as its id says what is made already. */
const IMPORT = "POST /admin/orders";

export const refuseRepeatedCall = createMiddleware<AppEnv>(async (c, next) => {
  const key = c.req.header("Idempotency-Key");
  const { method, path } = c.req;
  const isRepeatable = method === "GET" || method === "HEAD" || `${method} ${path}` === IMPORT;
  if (key === undefined || isRepeatable) return next();
  // It is stored.
  if (!FORMAT.test(key) || hasAdminToken(key, c.env.ADMIN_TOKEN))
    throw invalidRequest("Idempotency-Key must be 32 random hex digits in lower case.");
  c.set("author", { ...c.var.author, idempotencyKey: key });
  await next();
  // A trigger refuses the rest. Here the earlier change can be why this call is refused, or the refusal says that nothing was changed.
  const answer = c.res;
  if (answer.ok) return;
  // Hono would add the headers of this answer, such as Retry-After, to those of an error.
  c.res = undefined;
  if (await isMadeByAnother(openDatabase(c.env.DB), key, c.var.requestId)) throw repeatedCall();
  c.res = answer;
});
