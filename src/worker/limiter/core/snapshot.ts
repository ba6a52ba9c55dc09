/**
 * The limiter snapshot: what the admin API shows of a limiter.
 *
 * Pure: `nowMs` is a parameter.
 */
import { applyOverride, type Ban, countStrikes, liveBan, liveStrikeBan } from "./ban.ts";
import { enterDay, type KeyPolicy } from "./decide.ts";
import { type DailyUsage, type LimiterState, usageOfDay } from "./limiter-state.ts";
import { type QuotaView, viewOf } from "./quota.ts";

export type LimiterSnapshot = {
  readonly quota: QuotaView;
  /** The live ban that ends last, and the one for strikes, if they are two. */
  readonly ban: Ban | null;
  readonly strikeBan: Ban | null;
  /** Bans that are over, and that D1 may not have. */
  readonly endedBans: readonly Ban[];
  readonly strikes: number;
  /** The last ban for strikes, live or over: what the next one would double. */
  readonly lastStrikeBanId: string | null;
  /** Days whose final figures D1 may not have, today last. */
  readonly days: readonly DailyUsage[];
};

export function snapshotOf(before: LimiterState, policy: KeyPolicy, nowMs: number): LimiterSnapshot {
  const state = enterDay(before, nowMs);
  const penalty = applyOverride(state.penalty, policy, nowMs);
  const today = usageOfDay(state);
  return {
    quota: viewOf(state.counts, policy.limits),
    ban: liveBan(penalty, policy, nowMs),
    strikeBan: liveStrikeBan(penalty, nowMs),
    endedBans: state.unreportedBans.filter(({ endsAtMs }) => endsAtMs <= nowMs),
    strikes: countStrikes(penalty, nowMs),
    lastStrikeBanId: penalty.lastBan?.id ?? null,
    days: today ? [...state.finishedDays, today] : state.finishedDays,
  };
}
