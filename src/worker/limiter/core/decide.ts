/**
 * One request's decision: both windows, the ban and the record's version, in one step (ADR-7).
 *
 * Pure: `nowMs` comes in, the state it decided on goes out.
 */
import { type Ban, liveBan, refuse } from "./ban.ts";
import { applyBanOverride, type BanOverride, parseBanOverride } from "./ban-override.ts";
import { type LimiterState, usageOfDay } from "./limiter-state.ts";
import {
  countOne,
  exhaustedWindow,
  type Limits,
  type QuotaView,
  roll,
  viewOf,
  type WindowView,
} from "./quota.ts";

/** What the caller knows of the key. */
export type Call = {
  readonly version: number;
  readonly limits: Limits;
  /** The last ban set or lifted by hand, as the key's record carries it. */
  readonly banOverride?: string | null;
};

export type Verdict =
  | { readonly kind: "admitted"; readonly quota: QuotaView; readonly nowMs: number }
  | {
      readonly kind: "limited";
      /** The window that keeps the request out: of two, the one that ends last. */
      readonly exhausted: WindowView;
      readonly quota: QuotaView;
      readonly nowMs: number;
    }
  | { readonly kind: "banned"; readonly ban: Ban; readonly quota: QuotaView; readonly nowMs: number }
  /** The caller's copy of the key's record is too old to decide on: nothing was counted. */
  | { readonly kind: "stale" };

export type Decision = { readonly verdict: Verdict; readonly state: LimiterState };

export function decide(before: LimiterState, keyId: string, call: Call, nowMs: number): Decision {
  if (call.version < before.minVersion) return { verdict: { kind: "stale" }, state: before };
  const heard =
    call.banOverride == null
      ? before
      : applyBanOverrideOnce(before, parseBanOverride(call.banOverride), nowMs);
  const state = { ...enterDay(heard, nowMs), minVersion: call.version, seenAtMs: nowMs };
  const quota = viewOf(state.counts, call.limits);

  const ban = liveBan(state.penalty, nowMs);
  if (ban) {
    return {
      verdict: { kind: "banned", ban, quota, nowMs },
      state: { ...state, refusedWhileBanned: state.refusedWhileBanned + 1 },
    };
  }
  const exhausted = exhaustedWindow(quota);
  if (!exhausted) {
    const counts = countOne(state.counts);
    return {
      verdict: { kind: "admitted", quota: viewOf(counts, call.limits), nowMs },
      state: { ...state, counts },
    };
  }
  const penalty = refuse(state.penalty, keyId, exhausted.endsAtMs, nowMs);
  const begun = liveBan(penalty, nowMs);
  return {
    verdict: begun
      ? { kind: "banned", ban: begun, quota, nowMs }
      : { kind: "limited", exhausted, quota, nowMs },
    state: {
      ...state,
      refused: state.refused + 1,
      penalty,
      unreportedBans: begun ? [...state.unreportedBans, begun] : state.unreportedBans,
    },
  };
}

/** The state after a override, unless it was obeyed before. */
export function applyBanOverrideOnce(
  state: LimiterState,
  override: BanOverride,
  nowMs: number,
): LimiterState {
  if (override.atMs <= state.banOverrideAtMs) return state;
  return {
    ...state,
    penalty: applyBanOverride(state.penalty, override, nowMs),
    banOverrideAtMs: override.atMs,
  };
}

/** Rolls the windows; a day that ends thereby moves to the days the history is to hear of. */
export function enterDay(state: LimiterState, nowMs: number): LimiterState {
  const counts = roll(state.counts, nowMs);
  if (counts.day.startMs === state.counts.day.startMs) return { ...state, counts };
  const ended = usageOfDay(state);
  return {
    ...state,
    counts,
    refused: 0,
    refusedWhileBanned: 0,
    finishedDays: ended ? [...state.finishedDays, ended] : state.finishedDays,
  };
}
