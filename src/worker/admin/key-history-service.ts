/** What happened to a key, and why a request was refused: reads its bans, its changes and its usage by hour. */
import { type Bindings, settingsOf } from "../context.ts";
import { type AuditPage, listAudit } from "../db/audit-repository.ts";
import { openDatabase } from "../db/database.ts";
import { findPlanLimits } from "../db/plan-repository.ts";
import { DAY_MS, HOUR_MS, windowStartMs } from "../limiter/core/quota.ts";
import { rfc3339, toUnixSeconds } from "../time.ts";
import { pageOfBans } from "./ban-list.ts";
import { eventsBetween, type KeyEvent } from "./key-history.ts";
import { requireKey, requireKeyRecord } from "./key-service.ts";
import { startsBetween, usageOfKey } from "./key-usage-service.ts";
import { inspectCandidates } from "./live-usage.ts";
import { planAt, reasonsAt } from "./refusal-reasons.ts";

/** The newest changes of a key, and of all plans. Few have more. */
export const MAX_CHANGES_READ = 200;
export const MAX_BANS_READ = 100;

export type KeyHistory = {
  readonly keyId: string;
  readonly keyName: string;
  readonly from: string;
  readonly to: string;
  /** The time that was asked for. */
  readonly at: string | null;
  /** Why a request of that time was refused, the certain reasons first; empty if no time was asked for. */
  readonly reasons: readonly KeyEvent[];
  /** Newest first. */
  readonly events: readonly KeyEvent[];
};

/** The hours before `at` and the one after it, or before now. `at` is in Unix seconds. */
export async function findKeyHistory(
  env: Bindings,
  id: string,
  { at, hours }: { readonly at?: number | undefined; readonly hours: number },
): Promise<KeyHistory> {
  const db = openDatabase(env.DB);
  const nowMs = Date.now();
  const atMs = at === undefined ? undefined : at * 1000;
  const toMs = atMs === undefined ? nowMs : Math.min(atMs + HOUR_MS, Math.max(nowMs, atMs));
  const fromMs = (atMs ?? nowMs) - hours * HOUR_MS;
  const key = await requireKey(db, id);
  const ofKey = await listAudit(db, { object: id, limit: MAX_CHANGES_READ });
  const planThen = planAt({ key, changes: ofKey.entries }, atMs ?? nowMs);
  const ofPlans = await listAudit(db, { call: "plans.update", limit: MAX_CHANGES_READ });
  // `~` follows each ban's id, so these are the bans that began before `toMs`.
  const after = { value: toUnixSeconds(toMs), id: "~" };
  const filter = { state: "all", key: id, after, limit: MAX_BANS_READ } as const;
  const record = await requireKeyRecord(db, id);
  // Once: `live` of the hours then says also whether a ban can be missing.
  const inspection = await inspectCandidates(env, [record]);
  const { bans, next } = await pageOfBans(db, filter, inspection, toUnixSeconds(nowMs));
  // Older rows may be deleted.
  const { retentionDays } = settingsOf(env);
  const auditSinceMs = nowMs - retentionDays.audit * DAY_MS;
  const usageSinceMs = windowStartMs(nowMs - retentionDays.usage * DAY_MS, DAY_MS);
  // From midnight on: what was used before says whether the day's limit was used up.
  const hoursFromMs = Math.max(windowStartMs(fromMs, DAY_MS), usageSinceMs);
  const hoursRead = startsBetween(hoursFromMs, Math.min(toMs, nowMs), HOUR_MS);
  const snapshot = inspection.inspected[0]?.snapshot;
  const usage = await usageOfKey(db, record, snapshot, { days: [], hours: hoursRead });
  const plan = await findPlanLimits(db, planThen);
  const facts = {
    key,
    bans,
    bansSinceMs: (next?.value ?? 0) * 1000,
    changes: ofKey.entries,
    knownSinceMs: Math.max(knownSinceMs(ofKey), knownSinceMs(ofPlans), auditSinceMs),
    plan,
    planChanges: ofPlans.entries,
    hours: usage.hours,
    usageSinceMs,
  };
  return {
    keyId: key.id,
    keyName: key.name,
    from: rfc3339(toUnixSeconds(fromMs)),
    to: rfc3339(toUnixSeconds(toMs)),
    at: atMs === undefined ? null : rfc3339(toUnixSeconds(atMs)),
    reasons: atMs === undefined ? [] : reasonsAt(facts, atMs, nowMs),
    events: eventsBetween(facts, fromMs, toMs),
  };
}

/** Since when all changes are on the page. */
function knownSinceMs({ entries, next }: AuditPage): number {
  const oldest = entries.at(-1);
  return next === null || oldest === undefined ? 0 : Date.parse(oldest.at);
}
