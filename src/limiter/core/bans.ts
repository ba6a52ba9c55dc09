/**
 * When refusals become a ban. Every number of the rule is in this file.
 *
 * Pure: `nowMs` is a parameter, and new values are returned.
 */
import type { WindowView } from "./windows.ts";

/** This long after a window's first refusal, answers to earlier requests are still on their way. */
const GRACE_MS = 2_000;
/** The clock of an object that has restarted may be this far behind the client's clock. */
const LAST_MS = 1_000;
const STRIKES = 20;
/** Older strikes do not count. This matters only in a window that is longer. */
const STRIKE_SECONDS = 600;
const FIRST_BAN_SECONDS = 300;
const MAX_BAN_SECONDS = 86_400;
/** A ban that begins this soon after the end of the last ban is twice as long as the last ban. */
const MEMORY_MS = 86_400_000;

/**
 * Bans a key that goes on after its refusals. `{}` takes the defaults.
 *
 * @example
 * const bans: BanRule = { strikes: 30, firstSeconds: 60 };
 */
export type BanRule = {
  /** In how many seconds a key must go on until the ban, 1 to 600. The default is 20. */
  readonly strikes?: number | undefined;
  /** The first ban's length, 1 to 86,400, by default 300. A ban within 24 hours doubles, up to 24 hours. */
  readonly firstSeconds?: number | undefined;
};

export type Ban = {
  /** Unique across keys. */
  readonly id: string;
  readonly strikes: number;
  readonly startedAtMs: number;
  /** A whole second, so that the headers can name it exactly. */
  readonly endsAtMs: number;
};

/** The window that refused last, known by its end. The next window starts without strikes. */
type RefusedWindow = {
  readonly endsAtMs: number;
  readonly firstRefusalAtMs: number;
  /** The seconds since 1970 in which the key went on, oldest first. */
  readonly strikes: readonly number[];
};

/** What is remembered of a key's refusals. */
export type Penalty = {
  readonly refusedWindow: RefusedWindow | null;
  /** The last ban, live or over. */
  readonly lastBan: Ban | null;
};

export const NO_PENALTY: Penalty = { refusedWindow: null, lastBan: null };

/** Throws a RangeError that says what is wrong with the rule. */
export function checkBans({ strikes = STRIKES, firstSeconds = FIRST_BAN_SECONDS }: BanRule): void {
  if (!Number.isInteger(strikes) || strikes < 1 || strikes > STRIKE_SECONDS)
    throw new RangeError(`bans: strikes must be a whole number from 1 to ${STRIKE_SECONDS}`);
  if (!Number.isInteger(firstSeconds) || firstSeconds < 1 || firstSeconds > MAX_BAN_SECONDS)
    throw new RangeError(`bans: firstSeconds must be a whole number from 1 to ${MAX_BAN_SECONDS}`);
}

export function liveBan({ lastBan }: Penalty, nowMs: number): Ban | null {
  return lastBan !== null && nowMs < lastBan.endsAtMs ? lastBan : null;
}

/** Returns when the last ban is forgotten and the next ban has the first length again, or 0 without a ban. */
export function rememberedUntilMs({ lastBan }: Penalty): number {
  return lastBan === null ? 0 : lastBan.endsAtMs + MEMORY_MS;
}

/** Ends the ban with this id and forgets it, so that the next ban has the first length again. */
export function pardon(penalty: Penalty, banId: string | undefined): Penalty {
  return banId !== undefined && penalty.lastBan?.id === banId ? NO_PENALTY : penalty;
}

export function strikesToBan({ strikes = STRIKES }: BanRule): number {
  return strikes;
}

/** Returns 0 once the window is over. */
export function countStrikes({ refusedWindow: refused }: Penalty, nowMs: number): number {
  return refused !== null && nowMs < refused.endsAtMs ? recentStrikes(refused.strikes, nowMs).length : 0;
}

/** Records a refusal by a window. The refusal may be a strike, and the strike may begin a ban. */
export function recordRefusal(
  penalty: Penalty,
  rule: BanRule,
  key: string,
  { endsAtMs }: WindowView,
  nowMs: number,
): Penalty {
  const refused = penalty.refusedWindow;
  if (refused?.endsAtMs !== endsAtMs)
    return { ...penalty, refusedWindow: { endsAtMs, firstRefusalAtMs: nowMs, strikes: [] } };
  if (nowMs - refused.firstRefusalAtMs < GRACE_MS || endsAtMs - nowMs < LAST_MS) return penalty;
  const second = Math.floor(nowMs / 1000);
  if (second <= (refused.strikes.at(-1) ?? -1)) return penalty;
  const strikes = [...recentStrikes(refused.strikes, nowMs), second];
  if (strikes.length < strikesToBan(rule)) return { ...penalty, refusedWindow: { ...refused, strikes } };
  return { refusedWindow: null, lastBan: nextBan(penalty.lastBan, rule, key, nowMs) };
}

function recentStrikes(strikes: readonly number[], nowMs: number): readonly number[] {
  return strikes.filter((second) => second > Math.floor(nowMs / 1000) - STRIKE_SECONDS);
}

function nextBan(last: Ban | null, rule: BanRule, key: string, nowMs: number): Ban {
  const first = rule.firstSeconds ?? FIRST_BAN_SECONDS;
  const doubles = last !== null && nowMs - last.endsAtMs < MEMORY_MS;
  const seconds = doubles ? Math.max(first, Math.min(2 * secondsOf(last), MAX_BAN_SECONDS)) : first;
  const endsAtMs = (Math.ceil(nowMs / 1000) + seconds) * 1000;
  return { id: `ban_${key}_${nowMs}`, strikes: strikesToBan(rule), startedAtMs: nowMs, endsAtMs };
}

/** The end was rounded up, by less than a second. */
function secondsOf({ startedAtMs, endsAtMs }: Ban): number {
  return Math.floor((endsAtMs - startedAtMs) / 1000);
}
