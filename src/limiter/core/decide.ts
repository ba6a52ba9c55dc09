/**
 * Decides one request by the credential, the ban and all windows, in one step. A request that one window
 * refuses is counted by no window.
 *
 * Pure: `nowMs` is a parameter, and the state after the decision is returned.
 */
import {
  type BanRule,
  checkBans,
  countStrikes,
  liveBan,
  NO_PENALTY,
  type Penalty,
  pardon,
  recordRefusal,
  strikesToBan,
} from "./bans.ts";
import {
  type Cost,
  type Count,
  checkCost,
  checkLimits,
  costIn,
  costsOf,
  countsOf,
  endOf,
  exhaustedWindow,
  isSameWindow,
  type Limit,
  type Quota,
  quotaAt,
  spend,
  startOf,
  type WindowView,
} from "./windows.ts";

/** Facts about the key that come back with each verdict, such as the name of its plan. */
export type Facts = Readonly<Record<string, string | number | boolean | null>>;

/** A key may have several credentials, as while a new secret replaces an old secret. */
export type Credential = {
  /** For example the SHA-256 of the secret, never the secret itself. Compared as text. */
  readonly hash: string;
  readonly expiresAtMs: number | null;
};

/** Every request is answered as banned until the end of the block. */
export type Block = { readonly endsAtMs: number; readonly reason: string | null };

/** The window, and the shares of its limit in percent, at which a key is reported at once. */
export type Thresholds = { readonly window: string; readonly percents: readonly number[] };

/**
 * The rules for the requests of a key. Only `limits` is required.
 *
 * @example
 * const policy: Policy = {
 *   limits: [perMinute(60), perDay(1_000)],
 *   bans: {},
 *   credentials: [{ hash: "9f86d081", expiresAtMs: null }],
 *   facts: { plan: "free" },
 *   later: { fromMs: Date.UTC(2027, 0, 1), limits: [perMinute(120), perDay(1_000)] },
 * };
 */
export type Policy = {
  readonly limits: readonly Limit<string>[];
  /** Without a rule, the key is never banned for strikes. */
  readonly bans?: BanRule | undefined;
  /** If present, each call must have the hash of a credential that has not expired. */
  readonly credentials?: readonly Credential[] | undefined;
  /** Why the key is not accepted at all, such as "revoked". */
  readonly refused?: string | undefined;
  readonly blocked?: Block | undefined;
  /** The id of a ban for strikes that has been lifted. */
  readonly pardonedBan?: string | undefined;
  readonly facts?: Facts | undefined;
  /** In place of the `thresholds` of the options. */
  readonly thresholds?: Thresholds | undefined;
  /** The name of a limiter that counts each request, too, as one of a customer with several keys. */
  readonly shared?: string | undefined;
  /** Limits that replace `limits` when each of their windows begins, so that no window has two limits. */
  readonly later?: { readonly fromMs: number; readonly limits: readonly Limit<string>[] } | undefined;
};

/** One request, as the caller describes it. */
export type Request = {
  readonly credential?: string | undefined;
  /** How much the request counts: a whole number from 1 on, or such numbers by unit. The default is 1. */
  readonly cost?: Cost<string> | undefined;
  /** A unique id. The request reserves `cost` until `settle` gives the real cost under this id. */
  readonly settleId?: string | undefined;
};

type Decided = { readonly quota: Quota; readonly nowMs: number; readonly facts: Facts };

/** When the same request can be admitted, as far as is known now; null for never, as with a limit of 0. */
type Refused<Wait extends number | null> = { readonly retryAfterMs: Wait };

export type Admitted = Decided & { readonly kind: "admitted" };
/** `window` refuses the request. If several do, it is one that always does, or else the one that ends last. */
export type Limited = Decided &
  Refused<number | null> & {
    readonly kind: "limited";
    readonly window: WindowView;
    /** The number of seconds in which the key has gone on, and the number that bans. Null without bans. */
    readonly strikes: { readonly count: number; readonly toBan: number } | null;
  };
/** A ban for strikes has an `id`. A block can have a `reason`. */
export type Banned = Decided &
  Refused<number | null> & {
    readonly kind: "banned";
    readonly ban: { readonly id: string | null; readonly reason: string | null; readonly endsAtMs: number };
    /** The cost of the request, because a window may refuse the request for longer than the ban does. */
    readonly cost: Cost<string>;
  };
/** The request costs more than the limit of `window`, so it can never be admitted. Nothing is counted. */
export type TooCostly = Decided &
  Refused<null> & { readonly kind: "too_costly"; readonly window: WindowView };
/** The key has no policy, a wrong or expired credential, or a policy that refuses it. Nothing is counted. */
export type Unknown = Refused<null> & { readonly kind: "unknown"; readonly reason: string };

/** The verdicts with a quota. */
export type Counted = Admitted | Limited | Banned | TooCostly;
export type Verdict = Counted | Unknown;

/** An admitted request whose cost is not settled, and how much of each window it has used. */
export type Reserve = { readonly settleId: string; readonly windows: readonly Count[] };

/** The part of an object's state that a decision can change. */
export type Counters = {
  readonly counts: readonly Count[];
  readonly penalty: Penalty;
  /** A block that the host's code set. The policy can have another block. */
  readonly block: Block | null;
  /** Oldest first. */
  readonly reserves: readonly Reserve[];
};

export const NOTHING_COUNTED: Counters = { counts: [], penalty: NO_PENALTY, block: null, reserves: [] };

/** The end of a block is shown as a date with a year of four digits. */
const MAX_TIME_MS = Date.UTC(9999, 11, 31);

/** Each write stores all reserves. Beyond this number the oldest are dropped, and their cost stays. */
const MAX_RESERVES = 1_000;

export type Decision = { readonly verdict: Verdict; readonly counters: Counters };

/** `shared` is what the shared limiter has decided about the request. What that one refuses counts nowhere. */
export function decide(
  before: Counters,
  policy: Policy | null,
  key: string,
  request: Request,
  nowMs: number,
  shared?: Verdict,
): Decision {
  const { credential, cost = 1, settleId } = request;
  checkCost(cost, 1);
  const costs = costsOf(cost);
  const unknown = (reason: string): Decision => ({
    verdict: { kind: "unknown", reason, retryAfterMs: null },
    counters: before,
  });
  if (policy === null) return unknown("no_such_key");
  const reason = refusalReason(policy, credential, nowMs);
  if (reason !== undefined) return unknown(reason);

  const quota = quotaAt(before.counts, limitsAt(policy, nowMs), nowMs);
  const decided = { quota, nowMs, facts: policy.facts ?? {} };
  const penalty = pardon(before.penalty, policy.pardonedBan);
  const counters = penalty === before.penalty ? before : { ...before, penalty };
  const window = exhaustedWindow(quota, costs);
  const isNever = window !== undefined && costIn(costs, window) > window.limit;
  const waitUntil = (atMs: number) => (isNever ? null : atMs - nowMs);
  const bannedBy = (ban: Banned["ban"]): Banned => {
    const retryAfterMs = waitUntil(Math.max(ban.endsAtMs, window?.endsAtMs ?? 0));
    return { kind: "banned", ban, cost, retryAfterMs, ...decided };
  };
  const ban = banOf(policy, counters, nowMs);
  if (ban) return { verdict: bannedBy(ban), counters };
  if (window === undefined) {
    if (shared !== undefined && isRefusal(shared))
      return { verdict: { ...shared, quota, facts: decided.facts }, counters };
    const spent = spend(quota, costs);
    const counts = countsOf(spent, before.counts, nowMs);
    const windows = spent.map((each) => {
      const { unit, seconds, startMs } = each;
      return { unit, seconds, startMs, used: costIn(costs, each) };
    });
    const open = before.reserves.filter((each) => each.windows.some((window) => nowMs < endOf(window)));
    const added = settleId === undefined ? [] : [{ settleId, windows }];
    const reserves = [...open, ...added].slice(-MAX_RESERVES);
    return {
      verdict: { kind: "admitted", ...decided, quota: spent },
      counters: { ...counters, counts, reserves },
    };
  }
  // A limit of 0 refuses every request: then nothing is wrong with the cost of this request.
  const tooSmall = quota.find((each) => each.limit > 0 && costIn(costs, each) > each.limit);
  if (tooSmall)
    return { verdict: { kind: "too_costly", window: tooSmall, retryAfterMs: null, ...decided }, counters };
  const { bans } = policy;
  const after = bans === undefined ? penalty : recordRefusal(penalty, bans, key, window, nowMs);
  const refused = after === penalty ? counters : { ...counters, penalty: after };
  const begun = banOf(policy, refused, nowMs);
  const strikes =
    bans === undefined ? null : { count: countStrikes(after, nowMs), toBan: strikesToBan(bans) };
  const retryAfterMs = waitUntil(window.endsAtMs);
  return {
    verdict: begun ? bannedBy(begun) : { kind: "limited", window, strikes, retryAfterMs, ...decided },
    counters: refused,
  };
}

/** A shared limiter without a policy limits nothing. */
export function isRefusal(shared: Verdict): shared is Exclude<Counted, Admitted> {
  return shared.kind !== "admitted" && shared.kind !== "unknown";
}

/**
 * Replaces a request's reserve by its real cost, in the units that the cost names and in windows that are not
 * over. A second call does nothing.
 */
export function settleCount(before: Counters, settleId: string, cost: Cost<string>): Counters {
  const costs = typeof cost === "number" ? { requests: cost } : cost;
  // A call that was repeated after a lost answer may have reserved twice.
  const mine = before.reserves.filter((each) => each.settleId === settleId);
  const counts = before.counts.map((count) => {
    const reserved = mine.flatMap(({ windows }) => windows.filter((window) => isSameWindow(window, count)));
    const [first] = reserved;
    if (first === undefined) return count;
    const cost = costs[count.unit] ?? first.used;
    return { ...count, used: reserved.reduce((used, each) => used - each.used, count.used + cost) };
  });
  return { ...before, counts, reserves: before.reserves.filter((each) => !mine.includes(each)) };
}

export function limitsAt({ limits, later }: Policy, nowMs: number): readonly Limit<string>[] {
  return later !== undefined && nowMs >= later.fromMs ? later.limits : limits;
}

/** Throws a RangeError that says what is wrong with the policy. */
export function checkPolicy({ limits, later, bans, blocked }: Policy): void {
  checkLimits(limits);
  if (bans !== undefined) checkBans(bans);
  if (blocked !== undefined) checkBlock(blocked);
  if (later === undefined) return;
  checkLimits(later.limits);
  for (const { name, seconds } of later.limits)
    if (startOf(later.fromMs, seconds) !== later.fromMs)
      throw new RangeError(`later: fromMs must be a time at which the window "${name}" begins`);
}

/** Throws a RangeError for a wrong end. */
export function checkBlock({ endsAtMs }: Block): void {
  if (!Number.isFinite(endsAtMs) || endsAtMs > MAX_TIME_MS)
    throw new RangeError("block: endsAtMs must be a time in milliseconds, before the year 10000");
}

/** The credential is checked first, so that nobody without a credential learns anything about the key. */
function refusalReason(
  { credentials, refused }: Policy,
  hash: string | undefined,
  nowMs: number,
): string | undefined {
  if (credentials !== undefined) {
    const credential = credentials.find((each) => each.hash === hash);
    if (credential === undefined) return "wrong_credential";
    if (credential.expiresAtMs !== null && nowMs >= credential.expiresAtMs) return "expired_credential";
  }
  return refused;
}

/** Returns the policy's block, the host's block or the ban for strikes, whichever ends last. */
export function banOf(
  { blocked }: Policy,
  { penalty, block }: Counters,
  nowMs: number,
): Banned["ban"] | undefined {
  const ban = liveBan(penalty, nowMs);
  if (blocked === undefined && block === null && ban === null) return undefined;
  const blocks = [blocked, block ?? undefined].flatMap((each) => (each ? [{ id: null, ...each }] : []));
  const bans = ban ? [{ id: ban.id, reason: null, endsAtMs: ban.endsAtMs }] : [];
  return [...blocks, ...bans]
    .filter(({ endsAtMs }) => nowMs < endsAtMs)
    .toSorted((a, b) => b.endsAtMs - a.endsAtMs)[0];
}
