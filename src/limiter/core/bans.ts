/**
 * When refusals become a ban. Every number of the rule is in this file.
 *
 * Pure: `nowMs` is a parameter, and new values are returned.
 */
import { type Quota, smallestWindow, type WindowView } from "./windows.ts";

const MINUTE_MS = 60_000;
/**
 * A request that was sent this soon after its window's first refusal is no strike: the client may not have read the refusal.
 * Nor is a refusal this soon before the window's end: an object that started again may have a clock that is behind.
 */
const GRACE_MS = 1_000;
/** The fewest strikes in one window that make a ban. Higher limits need a third of the smallest window's limit. */
const MIN_STRIKES = 20;
/** Strikes count within the current minute and the nine before it. */
const STRIKE_MINUTES = 10;
const FIRST_BAN_SECONDS = 300;
const MAX_BAN_MS = 24 * 3_600_000;
/** A ban that begins this soon after the end of the last one is twice as long as that one. */
const MEMORY_MS = 24 * 3_600_000;

/** Refused requests that go on lead to bans. `{}` takes the defaults. */
export type BanRule = {
  /** How many strikes in one window make a ban: by default 20, or a third of the smallest window's limit if that is more. */
  readonly strikes?: number | undefined;
  /** The length of the first ban: by default 300. Each further one within 24 hours doubles, up to 24 hours. */
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

/** The window that refused last, known by its end. Strikes belong to it: the next one starts without any. */
type RefusedWindow = {
  readonly endsAtMs: number;
  readonly firstRefusalAtMs: number;
  /** Oldest first, at most STRIKE_MINUTES of them. */
  readonly strikes: readonly { readonly minute: number; readonly count: number }[];
};

/** What is remembered of a key's refusals. */
export type Penalty = {
  readonly refusedWindow: RefusedWindow | null;
  /** The last ban, live or over. */
  readonly lastBan: Ban | null;
};

export const NO_PENALTY: Penalty = { refusedWindow: null, lastBan: null };

export function liveBan({ lastBan }: Penalty, nowMs: number): Ban | null {
  return lastBan !== null && nowMs < lastBan.endsAtMs ? lastBan : null;
}

/** From then on the next ban has the first length again; 0 without a ban. */
export function rememberedUntilMs({ lastBan }: Penalty): number {
  return lastBan === null ? 0 : lastBan.endsAtMs + MEMORY_MS;
}

/** Ends the ban of this id, and the next ban does not double it. */
export function pardon(penalty: Penalty, banId: string | undefined): Penalty {
  return banId !== undefined && penalty.lastBan?.id === banId ? NO_PENALTY : penalty;
}

export function strikesToBan(rule: BanRule, quota: Quota): number {
  return rule.strikes ?? Math.max(MIN_STRIKES, Math.floor(smallestWindow(quota).limit / 3));
}

export function countStrikes({ refusedWindow }: Penalty, nowMs: number): number {
  return recentStrikes(refusedWindow, nowMs).reduce((sum, { count }) => sum + count, 0);
}

export type Refusal = {
  readonly key: string;
  readonly window: WindowView;
  readonly quota: Quota;
  /** When the request reached the Worker, by the Worker's clock. */
  readonly sentAtMs: number;
  readonly nowMs: number;
};

/** Records a refusal: it may be a strike, and that strike may begin a ban. */
export function recordRefusal(penalty: Penalty, rule: BanRule, refusal: Refusal): Penalty {
  const { window, quota, sentAtMs, nowMs } = refusal;
  const refused = penalty.refusedWindow;
  if (refused?.endsAtMs !== window.endsAtMs) {
    const first = { endsAtMs: window.endsAtMs, firstRefusalAtMs: nowMs, strikes: [] };
    return { ...penalty, refusedWindow: first };
  }
  // No request is sent after it arrives: a Worker's clock that is ahead must not make strikes.
  const isUnread = Math.min(sentAtMs, nowMs) - refused.firstRefusalAtMs < GRACE_MS;
  if (isUnread || window.endsAtMs - nowMs < GRACE_MS) return penalty;
  const struck = { ...penalty, refusedWindow: { ...refused, strikes: addStrike(refused, nowMs) } };
  const strikes = countStrikes(struck, nowMs);
  if (strikes < strikesToBan(rule, quota)) return struck;
  return { refusedWindow: null, lastBan: nextBan(penalty.lastBan, rule, strikes, refusal) };
}

function addStrike(refused: RefusedWindow, nowMs: number): RefusedWindow["strikes"] {
  const minute = Math.floor(nowMs / MINUTE_MS);
  const recent = recentStrikes(refused, nowMs);
  const last = recent.at(-1);
  if (last?.minute !== minute) return [...recent, { minute, count: 1 }];
  return [...recent.slice(0, -1), { minute, count: last.count + 1 }];
}

function recentStrikes(refused: RefusedWindow | null, nowMs: number): RefusedWindow["strikes"] {
  const firstMinute = Math.floor(nowMs / MINUTE_MS) - (STRIKE_MINUTES - 1);
  return (refused?.strikes ?? []).filter(({ minute }) => minute >= firstMinute);
}

function nextBan(last: Ban | null, rule: BanRule, strikes: number, { key, nowMs }: Refusal): Ban {
  const firstMs = (rule.firstSeconds ?? FIRST_BAN_SECONDS) * 1000;
  const doubles = last !== null && nowMs - last.endsAtMs < MEMORY_MS;
  const lengthMs = doubles ? Math.min(2 * lengthOf(last), MAX_BAN_MS) : firstMs;
  const endsAtMs = Math.ceil((nowMs + lengthMs) / 1000) * 1000;
  return { id: `ban_${key}_${nowMs}`, strikes, startedAtMs: nowMs, endsAtMs };
}

/** Lengths are whole seconds. The end was rounded up, and may so be less than a second later. */
function lengthOf({ startedAtMs, endsAtMs }: Ban): number {
  return Math.floor((endsAtMs - startedAtMs) / 1000) * 1000;
}
