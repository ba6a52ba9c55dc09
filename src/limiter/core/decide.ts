/**
 * Decides one request by the credential, the ban and all windows, in one step: refused by one window, counted by none.
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
  type Count,
  checkLimits,
  countsOf,
  exhaustedWindow,
  type Limit,
  type Quota,
  quotaAt,
  spend,
  type WindowView,
} from "./windows.ts";

/** What the host wants to know with each verdict, such as the name of a plan. */
export type Facts = Readonly<Record<string, string | number | boolean | null>>;

/** A key may have several credentials, as while one replaces another. */
export type Credential = {
  /** Never the secret itself: its SHA-256, for example. Compared as text. */
  readonly hash: string;
  readonly expiresAtMs: number | null;
};

/** Until then every request is answered as banned. */
export type Block = { readonly endsAtMs: number; readonly reason: string | null };

/** What the object decides a key's requests by. Only `limits` is required. */
export type Policy = {
  readonly limits: readonly Limit[];
  /** No bans without a rule. */
  readonly bans?: BanRule | undefined;
  /** If present, each call must have the hash of one that has not expired. */
  readonly credentials?: readonly Credential[] | undefined;
  /** Why the key is not accepted at all, such as "revoked". */
  readonly refused?: string | undefined;
  readonly blocked?: Block | undefined;
  /** The id of a ban that is lifted. */
  readonly pardonedBan?: string | undefined;
  readonly facts?: Facts | undefined;
  /** Limits that replace `limits` at a UTC midnight, so that no window has two limits. */
  readonly later?: { readonly fromMs: number; readonly limits: readonly Limit[] } | undefined;
};

/** What the caller says of one request. */
export type Request = {
  readonly credential?: string | undefined;
  /** How much the request counts: a whole number from 1 on. */
  readonly cost?: number | undefined;
};

type Decided = { readonly quota: Quota; readonly nowMs: number; readonly facts: Facts };

export type Admitted = Decided & { readonly kind: "admitted" };
/** `window` refuses the request: of several, the one that ends last. */
export type Limited = Decided & {
  readonly kind: "limited";
  readonly window: WindowView;
  /** In how many seconds the key has gone on, and how many of them ban it. Null without bans. */
  readonly strikes: { readonly count: number; readonly toBan: number } | null;
};
/** `id` and `strikes` are of a ban by strikes; the reason is of a block by the policy. */
export type Banned = Decided & {
  readonly kind: "banned";
  readonly ban: { readonly id: string | null; readonly reason: string | null; readonly endsAtMs: number };
};
/** There is no policy, the credential is wrong or has expired, or the policy refuses the key. Nothing was counted. */
export type Unknown = { readonly kind: "unknown"; readonly reason: string };

export type Verdict = Admitted | Limited | Banned | Unknown;

/** What decisions change. */
export type Counters = { readonly counts: readonly Count[]; readonly penalty: Penalty };

export const NOTHING_COUNTED: Counters = { counts: [], penalty: NO_PENALTY };

export type Decision = { readonly verdict: Verdict; readonly counters: Counters };

export function decide(
  before: Counters,
  policy: Policy | null,
  key: string,
  request: Request,
  nowMs: number,
): Decision {
  const { credential, cost = 1 } = request;
  checkCost(cost);
  if (policy === null) return { verdict: { kind: "unknown", reason: "no_such_key" }, counters: before };
  const reason = refusalReason(policy, credential, nowMs);
  if (reason !== undefined) return { verdict: { kind: "unknown", reason }, counters: before };

  const quota = quotaAt(before.counts, limitsAt(policy, nowMs), nowMs);
  const decided = { quota, nowMs, facts: policy.facts ?? {} };
  const penalty = pardon(before.penalty, policy.pardonedBan);
  const counters = penalty === before.penalty ? before : { ...before, penalty };
  const ban = banOf(policy, penalty, nowMs);
  if (ban) return { verdict: { kind: "banned", ban, ...decided }, counters };

  const window = exhaustedWindow(quota, cost);
  if (window === undefined) {
    const spent = spend(quota, cost);
    return {
      verdict: { kind: "admitted", ...decided, quota: spent },
      counters: { counts: countsOf(spent, before.counts, nowMs), penalty },
    };
  }
  const { bans } = policy;
  const after = bans === undefined ? penalty : recordRefusal(penalty, bans, { key, window, nowMs });
  const begun = banOf(policy, after, nowMs);
  const strikes =
    bans === undefined ? null : { count: countStrikes(after, nowMs), toBan: strikesToBan(bans) };
  return {
    verdict: begun
      ? { kind: "banned", ban: begun, ...decided }
      : { kind: "limited", window, strikes, ...decided },
    counters: after === penalty ? counters : { ...before, penalty: after },
  };
}

export function limitsAt({ limits, later }: Policy, nowMs: number): readonly Limit[] {
  return later !== undefined && nowMs >= later.fromMs ? later.limits : limits;
}

/** Throws a RangeError that says what is wrong with the policy. */
export function checkPolicy({ limits, later, bans }: Policy): void {
  checkLimits(limits);
  if (bans !== undefined) checkBans(bans);
  if (later !== undefined) checkLimits(later.limits);
}

/** Throws a RangeError. */
export function checkCost(cost: number): void {
  if (!Number.isInteger(cost) || cost < 1) throw new RangeError("cost must be a whole number from 1 on");
}

/** The credential is checked first: who does not have it learns nothing of the key. */
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

/** Of a block by the policy and a ban by strikes, the one that ends last. */
export function banOf({ blocked }: Policy, penalty: Penalty, nowMs: number): Banned["ban"] | undefined {
  const strikeBan = liveBan(penalty, nowMs);
  if (blocked !== undefined && nowMs < blocked.endsAtMs && blocked.endsAtMs >= (strikeBan?.endsAtMs ?? 0))
    return { id: null, reason: blocked.reason, endsAtMs: blocked.endsAtMs };
  return strikeBan ? { id: strikeBan.id, reason: null, endsAtMs: strikeBan.endsAtMs } : undefined;
}
