/**
 * A override is the operator's word on a key's bans: ban it, or lift what there is. The limiter is told at once; where
 * that fails, the override reaches it with the key's record, once the isolates' copies have run out (ADR-13).
 *
 * Pure: `nowMs` comes in.
 */
import { type Ban, lift, liveBan, type PenaltyState } from "./ban.ts";

export type BanOverride = {
  /** When it was issued: a limiter obeys each override once, and none older than the last it obeyed. */
  readonly atMs: number;
  /** The ban to begin; null lifts. */
  readonly ban: Ban | null;
  /** With a lift: the next ban is a first one again. */
  readonly forgive: boolean;
};

/** The override as a key's record carries it: text that only `JSON.stringify` of a override has made. */
export function parseBanOverride(text: string): BanOverride {
  return JSON.parse(text) as BanOverride;
}

/** A ban that strikes began after a lift was issued is not what was to be lifted. */
export function applyBanOverride(penalty: PenaltyState, override: BanOverride, nowMs: number): PenaltyState {
  if (override.ban) return nowMs < override.ban.endsAtMs ? { ...penalty, ban: override.ban } : penalty;
  const live = liveBan(penalty, nowMs);
  if (live && live.startedAtMs > override.atMs) return penalty;
  return live || override.forgive ? lift(penalty, override.forgive, nowMs) : penalty;
}
