/** `/admin/bans` and `/admin/keys/{id}/ban`: live and past bans, banning a key and lifting its bans. */
import { Hono } from "hono";
import type { AppEnv } from "../../context.ts";
import { nowSeconds } from "../../time.ts";
import { banKey, findBans, liftBan } from "../ban-service.ts";
import { banQuery, banRequest, lifting } from "./request-schemas.ts";
import { jsonBody, queryOf } from "./request-validation.ts";

export const banListRoutes = new Hono<AppEnv>().get("/", queryOf(banQuery), async (c) => {
  const bans = await findBans(c.env, c.req.valid("query"), nowSeconds());
  return c.json({ bans });
});

export const keyBanRoutes = new Hono<AppEnv>()
  .put("/:id/ban", jsonBody(banRequest), async (c) =>
    c.json(await banKey(c.env, c.req.param("id"), c.req.valid("json"), c.var.author)),
  )
  .delete("/:id/ban", jsonBody(lifting), async (c) =>
    c.json(await liftBan(c.env, c.req.param("id"), c.req.valid("json"), c.var.author)),
  );
