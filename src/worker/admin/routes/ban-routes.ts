/** `/admin/bans` and `/admin/keys/{id}/ban`: live and past bans, banning a key and lifting its bans. */
import { Hono } from "hono";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { nowSeconds } from "../../time.ts";
import { banKey, findBans, liftBan } from "../ban-service.ts";
import { banQuery, banRequest, lifting } from "./request-schemas.ts";
import { jsonBody, queryOf } from "./request-validation.ts";

export const banListRoutes = new Hono<AppEnv>().get("/", queryOf(banQuery), async (c) => {
  const bans = await findBans(c.env, openDatabase(c.env.DB), c.req.valid("query"), nowSeconds());
  return c.json({ bans });
});

export const keyBanRoutes = new Hono<AppEnv>()
  .put("/:id/ban", jsonBody(banRequest), async (c) => {
    const db = openDatabase(c.env.DB);
    return c.json(await banKey(c.env, db, c.req.param("id"), c.req.valid("json"), c.var.author));
  })
  .delete("/:id/ban", jsonBody(lifting), async (c) => {
    const db = openDatabase(c.env.DB);
    return c.json(await liftBan(c.env, db, c.req.param("id"), c.req.valid("json"), c.var.author));
  });
