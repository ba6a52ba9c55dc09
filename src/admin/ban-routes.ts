/** `/admin/bans` and `/admin/keys/{id}/ban`: the live and past bans, and banning and lifting by hand. */
import { Hono } from "hono";
import { type Database, openDatabase } from "../db/database.ts";
import type { Bindings } from "../env.ts";
import { getKey, type KeyView } from "../keys/key-store.ts";
import { banByHand } from "../limits/ban.ts";
import {
  type BanFilter,
  type BanView,
  decreeTimeMs,
  describeBan,
  insertBan,
  type Lifting,
  liftBans,
  listBans,
  putDecree,
  recordLifted,
} from "../limits/ban-store.ts";
import { decreeTo, lookAt, lookAtAll } from "../limits/limiter-operator.ts";
import { dayName } from "../limits/limiter-state.ts";
import { DAY_MS } from "../limits/quota.ts";
import { keysToLookAt } from "../limits/use-store.ts";
import { rfc3339 } from "../time.ts";
import { audit } from "./audit-store.ts";
import { holds, nowSeconds } from "./holds.ts";
import { existingKey } from "./key-routes.ts";
import { limitsOf } from "./live-use.ts";
import { GUARDS, guarded, isRefusedBy } from "./overtaken.ts";
import type { AdminEnv } from "./require-admin.ts";
import { banQuery, banByHand as banSchema, lifting } from "./schemas.ts";
import { jsonBody, queryOf } from "./validation.ts";

/** Limiters asked for bans that the history has not heard of; each is one call, of 1,000 that an invocation may make. */
const MOST_LIMITERS_ASKED = 500;

/** Of storing a decree, while others are stored for the same key. */
const MOST_TRIES = 5;

export const banListRoutes = new Hono<AdminEnv>().get("/", queryOf(banQuery), async (c) => {
  const db = openDatabase(c.env.DB);
  const filter = c.req.valid("query");
  const known = await listBans(db, filter, nowSeconds());
  if (filter.state === "past") return c.json({ bans: known });
  const unheard = await unheardBans(c.env, db, filter, new Set(known.map((ban) => ban.id)));
  return c.json({ bans: [...unheard, ...known].slice(0, filter.limit) });
});

export const keyBanRoutes = new Hono<AdminEnv>()
  .put("/:id/ban", jsonBody(banSchema), async (c) => {
    const db = openDatabase(c.env.DB);
    const key = await existingKey(db, c.req.param("id"));
    const { seconds, reason } = c.req.valid("json");
    const by = { at: c.var.author.at, by: c.var.author.actor };
    const { decree, view } = await inOrder(async () => {
      const atMs = await decreeTimeMs(db, key.id, Date.now());
      const ban = banByHand(key.id, seconds * 1000, reason, atMs);
      const view = describeBan(key.id, key.name, ban, nowSeconds());
      const live = await liveBanOf(c.env, db, key);
      const decree = { atMs, ban, forgive: false };
      await db.batch([
        putDecree(db, key.id, decree),
        liftBans(db, key.id, by),
        insertBan(db, key.id, ban),
        audit(db, c.var.author, {
          call: "bans.set",
          object: key.id,
          before: live && essence(live),
          after: essence(view),
        }),
      ]);
      return { decree, view };
    });
    const replaced = await decreeTo(c.env, key.id, decree);
    if (replaced) await recordLifted(db, key.id, replaced, by);
    return c.json({ ban: view, holds: holds(replaced !== undefined) });
  })

  .delete("/:id/ban", jsonBody(lifting), async (c) => {
    const db = openDatabase(c.env.DB);
    const key = await existingKey(db, c.req.param("id"));
    const { forgive } = c.req.valid("json");
    const by = { at: c.var.author.at, by: c.var.author.actor };
    const { decree, live } = await inOrder(async () => {
      const live = await liveBanOf(c.env, db, key);
      if (live === null && !forgive) return { decree: null, live };
      const decree = { atMs: await decreeTimeMs(db, key.id, Date.now()), ban: null, forgive };
      await db.batch([
        putDecree(db, key.id, decree),
        liftBans(db, key.id, by),
        audit(db, c.var.author, {
          call: "bans.lift",
          object: key.id,
          before: live && essence(live),
          after: { forgive },
        }),
      ]);
      return { decree, live };
    });
    if (!decree) return c.json({ lifted: null, holds: holds(true) });
    const ended = await decreeTo(c.env, key.id, decree);
    if (ended) await recordLifted(db, key.id, ended, by);
    const view = live ?? (ended ? describeBan(key.id, key.name, ended, nowSeconds()) : null);
    return c.json({ lifted: view && asLifted(view, by), holds: holds(ended !== undefined) });
  });

/**
 * Another operator's decree may come between reading when the last one was issued and storing this one: the database
 * then refuses this one, and it is issued anew, after the other.
 */
async function inOrder<T>(issue: () => Promise<T>): Promise<T> {
  for (let tries = 1; tries < MOST_TRIES; tries++) {
    try {
      return await issue();
    } catch (thrown) {
      if (!isRefusedBy(GUARDS.decreesInOrder, thrown)) throw thrown;
    }
  }
  return guarded(GUARDS.decreesInOrder, "Others are changing this key's bans. Please try again.", issue());
}

function asLifted(ban: BanView, { at, by }: Lifting): BanView {
  return { ...ban, liftedAt: rfc3339(at), liftedBy: by, live: false };
}

function essence({ id, cause, reason, endsAt }: BanView) {
  return { ban: id, cause, reason, endsAt };
}

/** The history's word, or where it has none the limiter's: null if there is no live ban, undefined if neither knows. */
async function liveBanOf(env: Bindings, db: Database, key: KeyView): Promise<BanView | null | undefined> {
  const [known] = await listBans(db, { state: "live", key: key.id, limit: 1 }, nowSeconds());
  if (known) return known;
  const look = await lookAt(env, key.id, limitsOf(key));
  return look?.ban ? describeBan(key.id, key.name, look.ban, nowSeconds()) : look && null;
}

/** Live bans that only the limiters know of, because the database failed when they began. */
async function unheardBans(
  env: Bindings,
  db: Database,
  filter: BanFilter,
  heard: ReadonlySet<string>,
): Promise<BanView[]> {
  const looks = await lookAtAll(env, await keysToAsk(db, filter.key));
  return looks.flatMap(({ key, look }) =>
    look.ban && !heard.has(look.ban.id) ? [describeBan(key.id, key.name, look.ban, nowSeconds())] : [],
  );
}

async function keysToAsk(db: Database, only: string | undefined) {
  if (only === undefined) return keysToLookAt(db, dayName(Date.now() - DAY_MS), MOST_LIMITERS_ASKED);
  const key = await getKey(db, only, nowSeconds());
  return key ? [{ id: key.id, name: key.name, limits: limitsOf(key) }] : [];
}
