/** `/admin/keys`: lists, issues, shows, changes, rotates and revokes keys. */
import { Hono } from "hono";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { listKeys } from "../../db/key-repository.ts";
import { nowSeconds } from "../../time.ts";
import { inspectKey, issueKey, revokeKey, rotateKey, updateKey } from "../key-service.ts";
import { keyQuery, keyUpdate, newKey, rotation } from "./request-schemas.ts";
import { jsonBody, queryOf } from "./request-validation.ts";

export const keyRoutes = new Hono<AppEnv>()
  .get("/", queryOf(keyQuery), async (c) => {
    return c.json(await listKeys(openDatabase(c.env.DB), c.req.valid("query"), nowSeconds()));
  })

  .post("/", jsonBody(newKey), async (c) => {
    const key = await issueKey(c.env, c.req.valid("json"), c.var.author);
    return c.json(key, 201, { Location: `/admin/keys/${key.id}` });
  })

  .get("/:id", async (c) => c.json(await inspectKey(c.env, c.req.param("id"))))

  .patch("/:id", jsonBody(keyUpdate), async (c) =>
    c.json(await updateKey(c.env, c.req.param("id"), c.req.valid("json"), c.var.author)),
  )

  .post("/:id/rotate", jsonBody(rotation), async (c) =>
    c.json(await rotateKey(c.env, c.req.param("id"), c.req.valid("json"), c.var.author)),
  )

  .delete("/:id", async (c) => c.json(await revokeKey(c.env, c.req.param("id"), c.var.author)));
