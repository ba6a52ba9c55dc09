/** `/admin/keys`: lists, finds, issues, shows, changes, rotates and revokes keys, and retires their secrets. */
import { Hono } from "hono";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { nowSeconds } from "../../time.ts";
import { fromCursor, isSortValue, isTime, toCursor } from "../http/cursor.ts";
import { etag, ifMatch } from "../http/if-match.ts";
import { jsonBody, queryOf, refuseSecrets } from "../http/request-validation.ts";
import { findKeyHistory } from "./history.ts";
import { listKeys } from "./list-sql.ts";
import {
  keyHistoryQuery,
  keyQuery,
  keySearch,
  keyUpdate,
  newKey,
  rotation,
  temporaryLimits,
} from "./schema.ts";
import { findKeysBy } from "./search.ts";
import { retireSecret, rotateKey } from "./secrets.ts";
import { inspectKey, issueKey, revokeKey, tellKeys, updateKey } from "./service.ts";
import { setTemporaryLimits } from "./temporary-limits.ts";

export const keyRoutes = new Hono<AppEnv>()
  .get("/", queryOf(keyQuery), async (c) => {
    const { after, ...filter } = c.req.valid("query");
    const order = `${filter.sort} ${filter.direction}`;
    const page = await listKeys(
      openDatabase(c.env.DB),
      { ...filter, after: fromCursor(order, after, isSortValue) },
      nowSeconds(),
    );
    return c.json({ keys: page.keys, next: toCursor(order, page.next) });
  })

  .post("/", jsonBody(newKey), async (c) => {
    const key = await issueKey(c.env, c.req.valid("json"), c.var.author);
    return c.json(key, 201, { Location: `/admin/keys/${key.id}`, ...etag(key) });
  })

  .post("/find", jsonBody(keySearch, refuseSecrets), async (c) => {
    const keys = await findKeysBy(openDatabase(c.env.DB), c.req.valid("json"), nowSeconds());
    return c.json({ keys });
  })

  .on("POST", ["/tell", "/:id/tell"], async (c) => {
    return c.json(await tellKeys(c.env, c.req.param("id"), c.var.author));
  })

  .get("/:id", async (c) => {
    const key = await inspectKey(c.env, c.req.param("id"));
    return c.json(key, 200, etag(key));
  })

  .get("/:id/history", queryOf(keyHistoryQuery), async (c) => {
    const { after, limit } = c.req.valid("query");
    const page = { after: fromCursor("history", after, isTime), limit };
    const history = await findKeyHistory(c.env, c.req.param("id"), page);
    return c.json({ ...history, next: toCursor("history", history.next) });
  })

  .patch("/:id", jsonBody(keyUpdate), async (c) => {
    const key = await updateKey(c.env, c.req.param("id"), c.req.valid("json"), c.var.author, ifMatch(c));
    return c.json(key, 200, etag(key));
  })

  .post("/:id/rotate", jsonBody(rotation), async (c) => {
    const key = await rotateKey(c.env, c.req.param("id"), c.req.valid("json"), c.var.author, ifMatch(c));
    return c.json(key, 200, etag(key));
  })

  .post("/:id/temporary-limits", jsonBody(temporaryLimits), async (c) => {
    const request = c.req.valid("json");
    const key = await setTemporaryLimits(c.env, c.req.param("id"), request, c.var.author, ifMatch(c));
    return c.json(key, 200, etag(key));
  })

  .delete("/:id/temporary-limits", async (c) => {
    const key = await setTemporaryLimits(c.env, c.req.param("id"), null, c.var.author, ifMatch(c));
    return c.json(key, 200, etag(key));
  })

  .delete("/:id/secrets/:secretId", async (c) => {
    const { id, secretId } = c.req.param();
    const key = await retireSecret(c.env, id, secretId, c.var.author, ifMatch(c));
    return c.json(key, 200, etag(key));
  })

  .delete("/:id", async (c) => {
    const key = await revokeKey(c.env, c.req.param("id"), c.var.author, ifMatch(c));
    return c.json(key, 200, etag(key));
  });
