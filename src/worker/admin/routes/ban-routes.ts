/** `/admin/bans` and `/admin/keys/{id}/ban`: the live and past bans, and banning and lifting by hand. */
import { Hono } from "hono";
import type { AppEnv, Bindings } from "../../context.ts";
import { audit } from "../../db/audit-repository.ts";
import {
  type BanFilter,
  type BanView,
  banOverrideTimeMs,
  describeBan,
  insertBan,
  type Lifting,
  liftBans,
  listBans,
  putBanOverride,
  recordLifted,
} from "../../db/ban-repository.ts";
import { type Database, openDatabase } from "../../db/database.ts";
import { findKey, type KeyView } from "../../db/key-repository.ts";
import { keysToInspect } from "../../db/usage-repository.ts";
import { banByHand } from "../../limiter/core/ban.ts";
import { dayName } from "../../limiter/core/limiter-state.ts";
import { DAY_MS } from "../../limiter/core/quota.ts";
import { inspectLimiter, inspectLimiters, sendBanOverride } from "../../limiter/limiter-admin-client.ts";
import { rfc3339, toUnixSeconds } from "../../time.ts";
import { effective } from "../effective.ts";
import { requireKey } from "../key-service.ts";
import { limitsOf } from "../live-usage.ts";
import { CONSTRAINT_MESSAGES, conflictOn, violates } from "../write-conflict.ts";
import { banQuery, banRequest, lifting } from "./request-schemas.ts";
import { jsonBody, queryOf } from "./request-validation.ts";

/** Limiters asked for bans that the history has not heard of; each is one call, of 1,000 that an invocation may make. */
const MAX_LIMITERS_INSPECTED = 500;

/** Of storing a override, while others are stored for the same key. */
const MAX_TRIES = 5;

export const banListRoutes = new Hono<AppEnv>().get("/", queryOf(banQuery), async (c) => {
  const db = openDatabase(c.env.DB);
  const filter = c.req.valid("query");
  const known = await listBans(db, filter, toUnixSeconds(Date.now()));
  if (filter.state === "past") return c.json({ bans: known });
  const unheard = await unheardBans(c.env, db, filter, new Set(known.map((ban) => ban.id)));
  return c.json({ bans: [...unheard, ...known].slice(0, filter.limit) });
});

export const keyBanRoutes = new Hono<AppEnv>()
  .put("/:id/ban", jsonBody(banRequest), async (c) => {
    const db = openDatabase(c.env.DB);
    const key = await requireKey(db, c.req.param("id"));
    const { seconds, reason } = c.req.valid("json");
    const by = { at: c.var.author.at, by: c.var.author.actor };
    const { override, view } = await retryOnConflict(async () => {
      const atMs = await banOverrideTimeMs(db, key.id, Date.now());
      const ban = banByHand(key.id, seconds * 1000, reason, atMs);
      const view = describeBan(key.id, key.name, ban, toUnixSeconds(Date.now()));
      const live = await liveBanOf(c.env, db, key);
      const override = { atMs, ban, forgive: false };
      await db.batch([
        putBanOverride(db, key.id, override),
        liftBans(db, key.id, by),
        insertBan(db, key.id, ban),
        audit(db, c.var.author, {
          call: "bans.set",
          object: key.id,
          before: live && banSummary(live),
          after: banSummary(view),
        }),
      ]);
      return { override, view };
    });
    const replaced = await sendBanOverride(c.env, key.id, override);
    if (replaced) await recordLifted(db, key.id, replaced, by);
    return c.json({ ban: view, effective: effective(replaced !== undefined) });
  })

  .delete("/:id/ban", jsonBody(lifting), async (c) => {
    const db = openDatabase(c.env.DB);
    const key = await requireKey(db, c.req.param("id"));
    const { forgive } = c.req.valid("json");
    const by = { at: c.var.author.at, by: c.var.author.actor };
    const { override, live } = await retryOnConflict(async () => {
      const live = await liveBanOf(c.env, db, key);
      if (live === null && !forgive) return { override: null, live };
      const override = { atMs: await banOverrideTimeMs(db, key.id, Date.now()), ban: null, forgive };
      await db.batch([
        putBanOverride(db, key.id, override),
        liftBans(db, key.id, by),
        audit(db, c.var.author, {
          call: "bans.lift",
          object: key.id,
          before: live && banSummary(live),
          after: { forgive },
        }),
      ]);
      return { override, live };
    });
    if (!override) return c.json({ lifted: null, effective: effective(true) });
    const ended = await sendBanOverride(c.env, key.id, override);
    if (ended) await recordLifted(db, key.id, ended, by);
    const view = live ?? (ended ? describeBan(key.id, key.name, ended, toUnixSeconds(Date.now())) : null);
    return c.json({ lifted: view && asLifted(view, by), effective: effective(ended !== undefined) });
  });

/**
 * Another operator's override may come between reading when the last one was issued and storing this one: the database
 * then refuses this one, and it is issued anew, after the other.
 */
async function retryOnConflict<T>(issue: () => Promise<T>): Promise<T> {
  for (let tries = 1; tries < MAX_TRIES; tries++) {
    try {
      return await issue();
    } catch (thrown) {
      if (!violates(CONSTRAINT_MESSAGES.overridesInOrder, thrown)) throw thrown;
    }
  }
  return conflictOn(
    CONSTRAINT_MESSAGES.overridesInOrder,
    "Others are changing this key's bans. Please try again.",
    issue(),
  );
}

function asLifted(ban: BanView, { at, by }: Lifting): BanView {
  return { ...ban, liftedAt: rfc3339(at), liftedBy: by, live: false };
}

function banSummary({ id, cause, reason, endsAt }: BanView) {
  return { ban: id, cause, reason, endsAt };
}

/** The history's word, or where it has none the limiter's: null if there is no live ban, undefined if neither knows. */
async function liveBanOf(env: Bindings, db: Database, key: KeyView): Promise<BanView | null | undefined> {
  const [known] = await listBans(db, { state: "live", key: key.id, limit: 1 }, toUnixSeconds(Date.now()));
  if (known) return known;
  const look = await inspectLimiter(env, key.id, limitsOf(key));
  return look?.ban ? describeBan(key.id, key.name, look.ban, toUnixSeconds(Date.now())) : look && null;
}

/** Live bans that only the limiters know of, because the database failed when they began. */
async function unheardBans(
  env: Bindings,
  db: Database,
  filter: BanFilter,
  heard: ReadonlySet<string>,
): Promise<BanView[]> {
  const looks = await inspectLimiters(env, await keysToAsk(db, filter.key));
  return looks.flatMap(({ key, look }) =>
    look.ban && !heard.has(look.ban.id)
      ? [describeBan(key.id, key.name, look.ban, toUnixSeconds(Date.now()))]
      : [],
  );
}

async function keysToAsk(db: Database, only: string | undefined) {
  if (only === undefined) return keysToInspect(db, dayName(Date.now() - DAY_MS), MAX_LIMITERS_INSPECTED);
  const key = await findKey(db, only, toUnixSeconds(Date.now()));
  return key ? [{ id: key.id, name: key.name, limits: limitsOf(key) }] : [];
}
