/** `/admin/bans` and `/admin/keys/{id}/ban`: live and past bans, banning a key and lifting its bans. */
import { Hono } from "hono";
import type { AppEnv } from "../../context.ts";
import { nowSeconds } from "../../time.ts";
import { fromCursor, isTime, toCursor } from "../http/cursor.ts";
import { etag, ifMatch } from "../http/if-match.ts";
import { jsonBody, queryOf } from "../http/request-validation.ts";
import { banOrder } from "./list-sql.ts";
import { banQuery, banRequest } from "./schema.ts";
import { banKey, findBans, liftBan } from "./service.ts";

export const banListRoutes = new Hono<AppEnv>().get("/", queryOf(banQuery), async (c) => {
  const { after, ...filter } = c.req.valid("query");
  const order = banOrder(filter);
  const page = await findBans(c.env, { ...filter, after: fromCursor(order, after, isTime) }, nowSeconds());
  return c.json({ ...page, next: toCursor(order, page.next) });
});

export const keyBanRoutes = new Hono<AppEnv>()
  .put("/:id/ban", jsonBody(banRequest), async (c) => {
    const set = await banKey(c.env, c.req.param("id"), c.req.valid("json"), c.var.author, ifMatch(c));
    return c.json(set, 200, etag(set));
  })

  .delete("/:id/ban", async (c) => {
    const lifted = await liftBan(c.env, c.req.param("id"), c.var.author, ifMatch(c));
    return c.json(lifted, 200, etag(lifted));
  });
