/** Usage by day: reported usage from D1, and what the limiters have not reported yet from the limiters. */
import type { Bindings } from "../context.ts";
import { type Database, openDatabase } from "../db/database.ts";
import { type KeyUsage, listUsageOfDay, listUsageOfKey } from "../db/usage-repository.ts";
import { type DailyUsage, dayName } from "../limiter/core/limiter-state.ts";
import { DAY_MS } from "../limiter/core/quota.ts";
import { inspectLimiter, inspectLimiters } from "../limiter/limiter-admin-client.ts";
import { requireKeyRecord } from "./key-service.ts";
import { listKeysToInspect, MAX_LIMITERS_INSPECTED } from "./live-usage.ts";

type Figures = Omit<DailyUsage, "day">;

export type UsageOfDay = {
  readonly day: string;
  readonly keys: readonly ({ keyId: string; keyName: string } & Figures)[];
};

/** The keys used on a day, today by default, most used first. */
export async function findUsageOfDay(
  env: Bindings,
  { day = dayName(Date.now()), limit }: { readonly day?: string | undefined; readonly limit: number },
): Promise<UsageOfDay> {
  const db = openDatabase(env.DB);
  if (isFullyReported(day)) return toUsageOfDay(day, await listUsageOfDay(db, day, limit), limit);
  const reported = await listUsageOfDay(db, day, Math.max(limit, MAX_LIMITERS_INSPECTED));
  const live = await liveUsageOfDay(env, db, day);
  return toUsageOfDay(day, [...reported, ...live], limit);
}

/** Of two figures of one key the later ones count. */
function toUsageOfDay(day: string, usages: readonly KeyUsage[], limit: number): UsageOfDay {
  const byKey = new Map(usages.map((each) => [each.key.id, each]));
  const keys = [...byKey.values()]
    .map(({ key, usage }) => ({ keyId: key.id, keyName: key.name, ...figuresOf(usage) }))
    .sort((a, b) => b.admitted - a.admitted || b.refused - a.refused || a.keyId.localeCompare(b.keyId))
    .slice(0, limit);
  return { day, keys };
}

async function liveUsageOfDay(env: Bindings, db: Database, day: string): Promise<KeyUsage[]> {
  const inspected = await inspectLimiters(env, await listKeysToInspect(db, Date.now()));
  return inspected.flatMap(({ key, snapshot }) => {
    const usage = snapshot.days.find((candidate) => candidate.day === day);
    return usage ? [{ key, usage }] : [];
  });
}

/** Whether every limiter has reported its final figures of the day. */
function isFullyReported(day: string): boolean {
  return day < dayName(Date.now() - DAY_MS);
}

export type UsageOfKey = { readonly keyId: string; readonly days: readonly DailyUsage[] };

/** The key's last days, oldest first and today last. */
export async function findUsageOfKey(env: Bindings, id: string, dayCount: number): Promise<UsageOfKey> {
  const db = openDatabase(env.DB);
  const key = await requireKeyRecord(db, id);
  const days = lastDays(dayCount);
  const [first = ""] = days;
  const reported = await listUsageOfKey(db, key.id, first);
  const snapshot = await inspectLimiter(env, key);
  const byDay = new Map([...reported, ...(snapshot?.days ?? [])].map((usage) => [usage.day, usage]));
  return { keyId: key.id, days: days.map((day) => ({ day, ...figuresOf(byDay.get(day)) })) };
}

function lastDays(count: number): string[] {
  const todayMs = Date.now();
  return Array.from({ length: count }, (_, i) => dayName(todayMs - (count - 1 - i) * DAY_MS));
}

function figuresOf(usage: DailyUsage | undefined): Figures {
  const { admitted = 0, refused = 0, refusedWhileBanned = 0 } = usage ?? {};
  return { admitted, refused, refusedWhileBanned };
}
