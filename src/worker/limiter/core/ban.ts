/**
 * When refusals become a ban. Every number of the rule is in this file (ADR-16).
 *
 * Pure: `nowMs` is a parameter, and new values are returned.
 */
import { type Limits, MINUTE_MS, windowStartMs } from "./quota.ts";

/** A request sent this soon after its window's first refusal is no strike: the 429 may not have been read yet. */
export const STRIKE_GRACE_MS = 1_000;
/** A Worker waits this long for its limiter. After that its client has read a 503 and no refusal, so there is no strike. */
export const MAX_ANSWER_MS = 2_000;
/** The fewest strikes in one exhausted window that make a ban. Keys with higher limits need a third of the limit. */
export const MIN_STRIKES_PER_BAN = 20;
export const LIMIT_PER_REQUIRED_STRIKE = 3;
/** Strikes count within the current UTC minute and the nine before it. */
export const STRIKE_TTL_MINUTES = 10;
export const FIRST_BAN_MS = 5 * 60_000;
export const MAX_BAN_MS = 24 * 3_600_000;
/** A ban that begins this soon after the end of the last one is twice as long as that one. */
export const ESCALATION_WINDOW_MS = 24 * 3_600_000;

/** The longest ban that an operator can set. */
export const MAX_OPERATOR_BAN_SECONDS = 366 * 86_400;

export type Ban = {
  /** Unique across keys. */
  readonly id: string;
  readonly cause: "strikes" | "operator";
  readonly reason: string | null;
  readonly strikes: number;
  readonly startedAtMs: number;
  /** A whole second, so that the headers can name it exactly. */
  readonly endsAtMs: number;
};

/** How many strikes came in one UTC minute. */
export type StrikeCount = { readonly minuteStartMs: number; readonly count: number };

/** The exhausted window that refused last. Strikes belong to it: the next exhausted window starts without any. */
export type RefusedWindow = {
  readonly endsAtMs: number;
  readonly firstRefusalAtMs: number;
  /** Oldest first, at most STRIKE_TTL_MINUTES of them. */
  readonly strikes: readonly StrikeCount[];
};

/** What a limiter remembers of a key's refusals. */
export type PenaltyState = {
  readonly refusedWindow: RefusedWindow | null;
  /** The last ban that strikes caused, live or over. Its length is what the next one doubles. */
  readonly lastBan: (Ban & { readonly lengthMs: number }) | null;
};

export const NO_PENALTY: PenaltyState = { refusedWindow: null, lastBan: null };

/** The ban override: what operators set. It is part of the key's record, like its limits (ADR-13). */
export type BanOverride = {
  readonly operatorBan: Ban | null;
  /** The ban that an operator lifted last. It names the ban, so a ban that began later is not lifted with it. */
  readonly liftedBanId: string | null;
  /** The ban that is forgiven: the next ban does not double it. */
  readonly forgivenBanId: string | null;
};

export const NO_OVERRIDE: BanOverride = { operatorBan: null, liftedBanId: null, forgivenBanId: null };

/** The strikes in one exhausted window that make a ban. So many clients that obey Retry-After cause fewer. */
export function strikesPerBan(limits: Limits): number {
  return Math.max(MIN_STRIKES_PER_BAN, Math.floor(limits.perMinute / LIMIT_PER_REQUIRED_STRIKE));
}

/** The live ban that ends last, of the operator's and the one for strikes; null when the key is not banned. */
export function liveBan(penalty: PenaltyState, override: BanOverride, nowMs: number): Ban | null {
  const live = [liveStrikeBan(penalty, nowMs), override.operatorBan]
    .filter((ban) => ban !== null)
    .filter((ban) => nowMs < ban.endsAtMs);
  return live.toSorted((a, b) => b.endsAtMs - a.endsAtMs)[0] ?? null;
}

export function liveStrikeBan(penalty: PenaltyState, nowMs: number): Ban | null {
  if (penalty.lastBan === null || nowMs >= penalty.lastBan.endsAtMs) return null;
  const { lengthMs: _, ...ban } = penalty.lastBan;
  return ban;
}

/** The number of strikes that still count. */
export function countStrikes(penalty: PenaltyState, nowMs: number): number {
  return recentStrikes(penalty.refusedWindow, nowMs).reduce((sum, { count }) => sum + count, 0);
}

/** Lifts and forgives the bans that the override names. Returns `penalty` itself when it names none that matter. */
export function applyOverride(penalty: PenaltyState, override: BanOverride, nowMs: number): PenaltyState {
  const { lastBan } = penalty;
  if (lastBan === null) return penalty;
  if (lastBan.id === override.forgivenBanId && nowMs >= lastBan.endsAtMs)
    return { ...penalty, lastBan: null };
  if (lastBan.id !== override.liftedBanId || nowMs >= lastBan.endsAtMs) return penalty;
  const isForgiven = lastBan.id === override.forgivenBanId;
  return { refusedWindow: null, lastBan: isForgiven ? null : { ...lastBan, endsAtMs: nowMs } };
}

/** A refused request: the exhausted window, and the times at the Worker and at the object. */
export type Refusal = {
  readonly windowEndsAtMs: number;
  /** When the request reached the Worker. It may have waited for the object since (ADR-16). */
  readonly sentAtMs: number;
  /** An earlier call for the same request may have recorded it. */
  readonly isRepeat: boolean;
  readonly nowMs: number;
};

/** Records a refusal: it may be a strike, and that strike may begin a ban. */
export function recordRefusal(
  penalty: PenaltyState,
  keyId: string,
  limits: Limits,
  { windowEndsAtMs, sentAtMs, isRepeat, nowMs }: Refusal,
): PenaltyState {
  const window = penalty.refusedWindow;
  if (window?.endsAtMs !== windowEndsAtMs) {
    return {
      ...penalty,
      refusedWindow: { endsAtMs: windowEndsAtMs, firstRefusalAtMs: nowMs, strikes: [] },
    };
  }
  if (isRepeat || nowMs - sentAtMs > MAX_ANSWER_MS) return penalty;
  // No request is sent after it arrives: a Worker's clock that is ahead must not make strikes.
  if (Math.min(sentAtMs, nowMs) - window.firstRefusalAtMs < STRIKE_GRACE_MS) return penalty;
  const struck = { ...penalty, refusedWindow: { ...window, strikes: addStrike(window, nowMs) } };
  const strikes = countStrikes(struck, nowMs);
  return strikes < strikesPerBan(limits) ? struck : beginBan(struck, keyId, strikes, nowMs);
}

function addStrike(window: RefusedWindow, nowMs: number): readonly StrikeCount[] {
  const minuteStartMs = windowStartMs(nowMs, MINUTE_MS);
  const recent = recentStrikes(window, nowMs);
  const last = recent.at(-1);
  if (last?.minuteStartMs !== minuteStartMs) return [...recent, { minuteStartMs, count: 1 }];
  return [...recent.slice(0, -1), { minuteStartMs, count: last.count + 1 }];
}

function recentStrikes(window: RefusedWindow | null, nowMs: number): readonly StrikeCount[] {
  const firstMinuteMs = windowStartMs(nowMs, MINUTE_MS) - (STRIKE_TTL_MINUTES - 1) * MINUTE_MS;
  return (window?.strikes ?? []).filter(({ minuteStartMs }) => minuteStartMs >= firstMinuteMs);
}

function beginBan(penalty: PenaltyState, keyId: string, strikes: number, nowMs: number): PenaltyState {
  const last = penalty.lastBan;
  const doubles = last !== null && nowMs - last.endsAtMs < ESCALATION_WINDOW_MS;
  const lengthMs = doubles ? Math.min(2 * last.lengthMs, MAX_BAN_MS) : FIRST_BAN_MS;
  return {
    refusedWindow: null,
    lastBan: {
      id: `ban_${keyId}_${nowMs}`,
      cause: "strikes",
      reason: null,
      strikes,
      startedAtMs: nowMs,
      endsAtMs: Math.ceil((nowMs + lengthMs) / 1000) * 1000,
      lengthMs,
    },
  };
}
