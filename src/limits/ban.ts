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
export const STRIKE_MEMORY_MS = 10 * 60_000;
export const FIRST_BAN_MS = 5 * 60_000;
export const LONGEST_BAN_MS = 24 * 3_600_000;
/** A ban that begins this soon after the end of the last one is twice as long as that one. */
export const ESCALATION_MEMORY_MS = 24 * 3_600_000;

/** No ban by hand is longer. */
export const LONGEST_BAN_BY_HAND_SECONDS = 366 * 86_400;

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
export type Conduct = {
  /** The exhausted window that was refused last, and when its first refusal was. */
  readonly firstRefusal: { readonly windowEndsAtMs: number; readonly atMs: number } | null;
  readonly strikesAtMs: readonly number[];
  /** The last ban, live or over. */
  readonly ban: Ban | null;
  /** What the next ban would double: the length of the last one that strikes caused, and its end. */
  readonly lastStrikeBan: { readonly lengthMs: number; readonly endedAtMs: number } | null;
};

export const CLEAN_CONDUCT: Conduct = {
  firstRefusal: null,
  strikesAtMs: [],
  ban: null,
  lastStrikeBan: null,
};

export function liveBan(conduct: Conduct, nowMs: number): Ban | null {
  return conduct.ban !== null && nowMs < conduct.ban.endsAtMs ? conduct.ban : null;
}

/** The strikes that still count. */
export function recentStrikes(conduct: Conduct, nowMs: number): readonly number[] {
  return conduct.strikesAtMs.filter((atMs) => nowMs - atMs < STRIKE_MEMORY_MS);
}

/** One more request refused by a window that ends at `windowEndsAtMs`: maybe a strike, and maybe that makes a ban. */
export function refuse(conduct: Conduct, keyId: string, windowEndsAtMs: number, nowMs: number): Conduct {
  if (conduct.firstRefusal?.windowEndsAtMs !== windowEndsAtMs) {
    return { ...conduct, firstRefusal: { windowEndsAtMs, atMs: nowMs } };
  }
  if (nowMs - conduct.firstRefusal.atMs < STRIKE_GRACE_MS) return conduct;
  const strikesAtMs = [...recentStrikes(conduct, nowMs), nowMs];
  return strikesAtMs.length < STRIKES_PER_BAN
    ? { ...conduct, strikesAtMs }
    : banForStrikes({ ...conduct, strikesAtMs }, keyId, nowMs);
}

function banForStrikes(conduct: Conduct, keyId: string, nowMs: number): Conduct {
  const last = conduct.lastStrikeBan;
  const doubles = last !== null && nowMs - last.endedAtMs < ESCALATION_MEMORY_MS;
  const lengthMs = doubles ? Math.min(2 * last.lengthMs, LONGEST_BAN_MS) : FIRST_BAN_MS;
  const ban: Ban = {
    id: banId(keyId, nowMs),
    cause: "strikes",
    reason: null,
    strikes: conduct.strikesAtMs.length,
    startedAtMs: nowMs,
    endsAtMs: wholeSecond(nowMs + lengthMs),
  };
  return {
    firstRefusal: conduct.firstRefusal,
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
export function lift(conduct: Conduct, forgive: boolean, nowMs: number): Conduct {
  const live = liveBan(conduct, nowMs);
  const lastStrikeBan = forgive
    ? null
    : live?.cause === "strikes" && conduct.lastStrikeBan
      ? { ...conduct.lastStrikeBan, endedAtMs: nowMs }
      : conduct.lastStrikeBan;
  return {
    firstRefusal: null,
    strikesAtMs: [],
    ban: live ? { ...live, endsAtMs: nowMs } : conduct.ban,
    lastStrikeBan,
  };
}

function banId(keyId: string, startedAtMs: number): string {
  return `ban_${keyId}_${startedAtMs}`;
}

function wholeSecond(atMs: number): number {
  return Math.ceil(atMs / 1000) * 1000;
}
