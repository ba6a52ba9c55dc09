/**
 * When refusals become a ban. Every number of the rule is in this file.
 *
 * Pure: `nowMs` comes in, new values go out.
 */

/** Refusals this soon after a window's first are not repeated ones: their 429 may still be on its way. */
export const STRIKE_GRACE_MS = 1_000;
/** This many strikes … */
export const STRIKES_PER_BAN = 20;
/** … within this time make a ban. */
export const STRIKE_TTL_MS = 10 * 60_000;
export const FIRST_BAN_MS = 5 * 60_000;
export const MAX_BAN_MS = 24 * 3_600_000;
/** A ban that begins this soon after the end of the last one is twice as long as that one. */
export const ESCALATION_WINDOW_MS = 24 * 3_600_000;

/** No ban by hand is longer. */
export const MAX_OPERATOR_BAN_SECONDS = 366 * 86_400;

export type Ban = {
  /** Unique across keys: names the ban in the history. */
  readonly id: string;
  readonly cause: "strikes" | "operator";
  readonly reason: string | null;
  readonly strikes: number;
  readonly startedAtMs: number;
  /** A whole second, so that the headers can name it exactly. */
  readonly endsAtMs: number;
};

/** How a key has behaved: what is held against it. */
export type PenaltyState = {
  /** The exhausted window that was refused last, and when its first refusal was. */
  readonly firstRefusal: { readonly windowEndsAtMs: number; readonly atMs: number } | null;
  readonly strikesAtMs: readonly number[];
  /** The last ban, live or over. */
  readonly ban: Ban | null;
  /** What the next ban would double: the length of the last one that strikes caused, and its end. */
  readonly lastStrikeBan: { readonly lengthMs: number; readonly endedAtMs: number } | null;
};

export const NO_PENALTY: PenaltyState = {
  firstRefusal: null,
  strikesAtMs: [],
  ban: null,
  lastStrikeBan: null,
};

export function liveBan(penalty: PenaltyState, nowMs: number): Ban | null {
  return penalty.ban !== null && nowMs < penalty.ban.endsAtMs ? penalty.ban : null;
}

/** The strikes that still count. */
export function recentStrikes(penalty: PenaltyState, nowMs: number): readonly number[] {
  return penalty.strikesAtMs.filter((atMs) => nowMs - atMs < STRIKE_TTL_MS);
}

/** One more request refused by a window that ends at `windowEndsAtMs`: maybe a strike, and maybe that makes a ban. */
export function refuse(
  penalty: PenaltyState,
  keyId: string,
  windowEndsAtMs: number,
  nowMs: number,
): PenaltyState {
  if (penalty.firstRefusal?.windowEndsAtMs !== windowEndsAtMs) {
    return { ...penalty, firstRefusal: { windowEndsAtMs, atMs: nowMs } };
  }
  if (nowMs - penalty.firstRefusal.atMs < STRIKE_GRACE_MS) return penalty;
  const strikesAtMs = [...recentStrikes(penalty, nowMs), nowMs];
  return strikesAtMs.length < STRIKES_PER_BAN
    ? { ...penalty, strikesAtMs }
    : banForStrikes({ ...penalty, strikesAtMs }, keyId, nowMs);
}

function banForStrikes(penalty: PenaltyState, keyId: string, nowMs: number): PenaltyState {
  const last = penalty.lastStrikeBan;
  const doubles = last !== null && nowMs - last.endedAtMs < ESCALATION_WINDOW_MS;
  const lengthMs = doubles ? Math.min(2 * last.lengthMs, MAX_BAN_MS) : FIRST_BAN_MS;
  const ban: Ban = {
    id: banId(keyId, nowMs),
    cause: "strikes",
    reason: null,
    strikes: penalty.strikesAtMs.length,
    startedAtMs: nowMs,
    endsAtMs: wholeSecond(nowMs + lengthMs),
  };
  return {
    firstRefusal: penalty.firstRefusal,
    strikesAtMs: [],
    ban,
    lastStrikeBan: { lengthMs, endedAtMs: ban.endsAtMs },
  };
}

/** A ban by hand takes the place of a live one, and is no part of the escalation. */
export function banByHand(keyId: string, lengthMs: number, reason: string, nowMs: number): Ban {
  return {
    id: banId(keyId, nowMs),
    cause: "operator",
    reason,
    strikes: 0,
    startedAtMs: nowMs,
    endsAtMs: wholeSecond(nowMs + lengthMs),
  };
}

/** Ends the live ban now. The next one still doubles, unless the escalation is forgiven. */
export function lift(penalty: PenaltyState, forgive: boolean, nowMs: number): PenaltyState {
  const live = liveBan(penalty, nowMs);
  const lastStrikeBan = forgive
    ? null
    : live?.cause === "strikes" && penalty.lastStrikeBan
      ? { ...penalty.lastStrikeBan, endedAtMs: nowMs }
      : penalty.lastStrikeBan;
  return {
    firstRefusal: null,
    strikesAtMs: [],
    ban: live ? { ...live, endsAtMs: nowMs } : penalty.ban,
    lastStrikeBan,
  };
}

function banId(keyId: string, startedAtMs: number): string {
  return `ban_${keyId}_${startedAtMs}`;
}

function wholeSecond(atMs: number): number {
  return Math.ceil(atMs / 1000) * 1000;
}
