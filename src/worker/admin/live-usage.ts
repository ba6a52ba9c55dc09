/** A key's usage, strikes and ban at this moment, as its limiter has them. */
import type { Bindings } from "../context.ts";
import type { Database } from "../db/database.ts";
import { listUsedKeys, type NamedKeyRecord } from "../db/key-record-repository.ts";
import type { UsageSort } from "../db/values.ts";
import type { Ban } from "../limiter/core/ban.ts";
import { dayName } from "../limiter/core/limiter-state.ts";
import { DAY_MS, type WindowView } from "../limiter/core/quota.ts";
import { type InspectedLimiter, inspectLimiter, inspectLimiters } from "../limiter/limiter-admin-client.ts";
import { rfc3339, toUnixSeconds } from "../time.ts";

/** Each inspected limiter is one call, of 1,000 that an invocation may make. */
export const MAX_LIMITERS_INSPECTED = 500;

/** The keys most likely to have usage or bans that their limiters have not reported, which they do within a day. */
export function listKeysToInspect(
  db: Database,
  nowMs: number,
  sort: UsageSort = "admitted",
): Promise<NamedKeyRecord[]> {
  return listUsedKeys(db, [dayName(nowMs - DAY_MS), dayName(nowMs)], sort, MAX_LIMITERS_INSPECTED);
}

export type InspectedCandidates = {
  /** Those that were reached. */
  readonly inspected: readonly InspectedLimiter[];
  /** Whether no other limiter can have usage or bans that it has not reported. */
  readonly areAll: boolean;
};

/** As many candidates as limiters are inspected can be a part of them only. */
export async function inspectCandidates(
  env: Bindings,
  candidates: readonly NamedKeyRecord[],
): Promise<InspectedCandidates> {
  const inspected = await inspectLimiters(env, candidates);
  const areAll = candidates.length < MAX_LIMITERS_INSPECTED && inspected.length === candidates.length;
  return { inspected, areAll };
}

/** Whether every limiter has reported its last figures of the day: within a day, unless reports fail for as long. */
export function isFinal(day: string): boolean {
  return day < dayName(Date.now() - DAY_MS);
}

export type LiveWindow = { limit: number; used: number; remaining: number; resetsAt: string };

export type LiveUsage = {
  readonly minute: LiveWindow;
  readonly day: LiveWindow;
  readonly strikes: number;
  readonly ban: (Pick<Ban, "id" | "cause" | "reason"> & { startedAt: string; endsAt: string }) | null;
};

/** Null when the limiter cannot be reached. */
export async function liveUsageOf(env: Bindings, key: NamedKeyRecord): Promise<LiveUsage | null> {
  const snapshot = await inspectLimiter(env, key);
  if (!snapshot) return null;
  const { quota, strikes, ban } = snapshot;
  return {
    minute: describeWindow(quota.minute),
    day: describeWindow(quota.day),
    strikes,
    ban: ban && {
      id: ban.id,
      cause: ban.cause,
      reason: ban.reason,
      startedAt: rfc3339(toUnixSeconds(ban.startedAtMs)),
      endsAt: rfc3339(toUnixSeconds(ban.endsAtMs)),
    },
  };
}

function describeWindow({ limit, used, remaining, endsAtMs }: WindowView): LiveWindow {
  return { limit, used, remaining, resetsAt: rfc3339(toUnixSeconds(endsAtMs)) };
}
