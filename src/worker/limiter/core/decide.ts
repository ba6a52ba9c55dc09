/**
 * Decides one request by the record's version, the ban and both windows, in one step (ADR-7).
 *
 * Pure: `nowMs` is a parameter, and the state after the decision is returned.
 */
import { applyOverride, type Ban, type BanOverride, liveBan, recordRefusal } from "./ban.ts";
import { type Bookmark, laterBookmark } from "./bookmark.ts";
import { hourOf } from "./hours.ts";
import { endedHoursWithCurrent, type LimiterState, usageOfDay } from "./limiter-state.ts";
import {
  countOne,
  exhaustedWindow,
  type Limits,
  type QuotaView,
  roll,
  viewOf,
  type WindowView,
} from "./quota.ts";

/** The part of a key record that its limiter decides by. */
export type KeyPolicy = BanOverride & { readonly limits: Limits };

export function policyOf({ limits, operatorBan, liftedBanId, forgivenBanId }: KeyPolicy): KeyPolicy {
  return { limits, operatorBan, liftedBanId, forgivenBanId };
}

/** One request, with what the caller knows of its key. */
export type Call = KeyPolicy & {
  readonly keyId: string;
  /** The version of the record that the policy was read from. */
  readonly version: number;
  /**
   * The version that the limiter required before the caller read the record from D1's primary and found this lower one:
   * D1 was restored to an earlier time. Accepted as long as the limiter still requires that version.
   */
  readonly insteadOfVersion?: number;
  /** When the request reached the Worker, by the Worker's clock. */
  readonly sentAtMs: number;
  /** The answer to an earlier call for the same request was lost. */
  readonly isRepeat?: boolean;
  /** The state of D1 that the caller reads at least. */
  readonly bookmark?: Bookmark | undefined;
  /** The caller reads D1's primary only. A bookmark that is kept from before may be of another database. */
  readonly forgetsBookmark?: boolean;
};

export type Verdict =
  | {
      readonly kind: "admitted";
      readonly quota: QuotaView;
      readonly nowMs: number;
      /** The caller must read this state of D1 or a later one. */
      readonly bookmark?: Bookmark | undefined;
    }
  | {
      readonly kind: "limited";
      /** The window that refuses: of two, the one that ends last. */
      readonly exhausted: WindowView;
      readonly quota: QuotaView;
      readonly nowMs: number;
    }
  | { readonly kind: "banned"; readonly ban: Ban; readonly quota: QuotaView; readonly nowMs: number }
  /** The caller's record is older than the limiter accepts. Nothing was counted. */
  | { readonly kind: "stale"; readonly requiredVersion: number };

export type Decision = { readonly verdict: Verdict; readonly state: LimiterState };

export function decide(before: LimiterState, call: Call, nowMs: number): Decision {
  if (call.version < before.minVersion && call.insteadOfVersion !== before.minVersion) {
    return { verdict: { kind: "stale", requiredVersion: before.minVersion }, state: before };
  }
  const state = {
    ...enterDay(before, nowMs),
    keyId: call.keyId,
    minVersion: call.version,
    penalty: applyOverride(before.penalty, call, nowMs),
    bookmark: call.forgetsBookmark ? undefined : before.bookmark,
  };
  const quota = viewOf(state.counts, call.limits);

  const ban = liveBan(state.penalty, call, nowMs);
  if (ban) {
    return {
      verdict: { kind: "banned", ban, quota, nowMs },
      state: { ...state, refusedWhileBanned: state.refusedWhileBanned + 1 },
    };
  }
  const exhausted = exhaustedWindow(quota);
  if (exhausted) return refuse(state, call, quota, exhausted, nowMs);
  const counts = countOne(state.counts);
  const bookmark = laterBookmark(state.bookmark, call.bookmark);
  return {
    verdict: { kind: "admitted", quota: viewOf(counts, call.limits), nowMs, bookmark },
    state: { ...state, counts, bookmark },
  };
}

function refuse(
  state: LimiterState,
  call: Call,
  quota: QuotaView,
  exhausted: WindowView,
  nowMs: number,
): Decision {
  const { sentAtMs, isRepeat = false } = call;
  const refusal = { windowEndsAtMs: exhausted.endsAtMs, sentAtMs, isRepeat, nowMs };
  const penalty = recordRefusal(state.penalty, call.keyId, call.limits, refusal);
  const begun = liveBan(penalty, call, nowMs);
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

/** Rolls the windows and the hour. A day that has ended moves to the finished days, which are in the outbox. */
export function enterDay(state: LimiterState, nowMs: number): LimiterState {
  const counts = roll(state.counts, nowMs);
  if (counts.minute === state.counts.minute) return { ...state, counts };
  if (counts.day === state.counts.day) {
    const isSameHour = hourOf(counts) === hourOf(state.counts);
    return { ...state, counts, endedHours: isSameHour ? state.endedHours : endedHoursWithCurrent(state) };
  }
  const ended = usageOfDay(state);
  return {
    ...state,
    counts,
    refused: 0,
    refusedWhileBanned: 0,
    endedHours: [],
    finishedDays: ended ? [...state.finishedDays, ended] : state.finishedDays,
  };
}
