/** `/admin/usage` and `/admin/keys/{id}/usage`: what keys did, day by day; today from their limiters. */
import { Hono } from "hono";
import type { AppEnv, Bindings } from "../../context.ts";
import { type Database, openDatabase } from "../../db/database.ts";
import { type KeyUsage, keysToInspect, listUsageOfDay, listUsageOfKey } from "../../db/usage-repository.ts";
import { type DailyUsage, dayName } from "../../limiter/core/limiter-state.ts";
import { DAY_MS } from "../../limiter/core/quota.ts";
import { inspectLimiter, inspectLimiters } from "../../limiter/limiter-admin-client.ts";
import { limitsOf } from "../live-usage.ts";
import { existingKey } from "./key-routes.ts";
import { dayUsageQuery, keyUsageQuery } from "./request-schemas.ts";
import { queryOf } from "./request-validation.ts";

/** Limiters asked for figures that the history does not have yet; each is one call, of 1,000 that an invocation may make. */
const MAX_LIMITERS_INSPECTED = 500;

export const dayUsageRoutes = new Hono<AppEnv>().get("/", queryOf(dayUsageQuery), async (c) => {
  const db = openDatabase(c.env.DB);
  const query = c.req.valid("query");
  const day = query.day ?? dayName(Date.now());
  const uses = await listUsageOfDay(db, day, Math.max(query.limit, MAX_LIMITERS_INSPECTED));
  const fresh = isSettled(day) ? [] : await freshUseOfDay(c.env, db, day);
  const byKey = new Map([...uses, ...fresh].map((keyUse) => [keyUse.key.id, keyUse]));
  const keys = [...byKey.values()]
    .map(({ key, use }) => ({ keyId: key.id, keyName: key.name, ...figures(use) }))
    .sort((a, b) => b.admitted - a.admitted || b.refused - a.refused || a.keyId.localeCompare(b.keyId))
    .slice(0, query.limit);
  return c.json({ day, keys });
});

async function freshUseOfDay(env: Bindings, db: Database, day: string): Promise<KeyUsage[]> {
  const candidates = await keysToInspect(db, dayName(Date.now() - DAY_MS), MAX_LIMITERS_INSPECTED);
  const looks = await inspectLimiters(env, candidates);
  return looks.flatMap(({ key, look }) => {
    const use = look.days.find((candidate) => candidate.day === day);
    return use ? [{ key, use }] : [];
  });
}

export const keyUsageRoutes = new Hono<AppEnv>().get("/:id/usage", queryOf(keyUsageQuery), async (c) => {
  const db = openDatabase(c.env.DB);
  const key = await existingKey(db, c.req.param("id"));
  const days = lastDays(c.req.valid("query").days);
  const [first = ""] = days;
  const uses = new Map((await listUsageOfKey(db, key.id, first)).map((use) => [use.day, use]));
  const look = await inspectLimiter(c.env, key.id, limitsOf(key));
  for (const use of look?.days ?? []) uses.set(use.day, use);
  return c.json({ keyId: key.id, days: days.map((day) => ({ day, ...figures(uses.get(day)) })) });
});

/** Oldest first, today last. */
function lastDays(count: number): string[] {
  const todayMs = Date.now();
  return Array.from({ length: count }, (_, i) => dayName(todayMs - (count - 1 - i) * DAY_MS));
}

/** Whether every limiter has long told the history of the day. */
function isSettled(day: string): boolean {
  return day < dayName(Date.now() - DAY_MS);
}

function figures(use: DailyUsage | undefined): Omit<DailyUsage, "day"> {
  const { admitted, refused, refusedWhileBanned } = use ?? { admitted: 0, refused: 0, refusedWhileBanned: 0 };
  return { admitted, refused, refusedWhileBanned };
}
