/**
 * A decree is the operator's word on a key's bans: ban it, or lift what there is. The limiter is told at once; where
 * that fails, the decree reaches it with the key's record, once the isolates' copies have run out (D13).
 *
 * Pure: `nowMs` comes in.
 */
import { type Ban, type Conduct, lift, liveBan } from "./ban.ts";

export type Decree = {
  /** When it was issued: a limiter obeys each decree once, and none older than the last it obeyed. */
  readonly atMs: number;
  /** The ban to begin; null lifts. */
  readonly ban: Ban | null;
  /** With a lift: the next ban is a first one again. */
  readonly forgive: boolean;
};

/** The decree as a key's record carries it: text that only `JSON.stringify` of a decree has made. */
export function parseDecree(text: string): Decree {
  return JSON.parse(text) as Decree;
}

/** A ban that strikes began after a lift was issued is not what was to be lifted. */
export function obey(conduct: Conduct, decree: Decree, nowMs: number): Conduct {
  if (decree.ban) return nowMs < decree.ban.endsAtMs ? { ...conduct, ban: decree.ban } : conduct;
  const live = liveBan(conduct, nowMs);
  if (live && live.startedAtMs > decree.atMs) return conduct;
  return live || decree.forgive ? lift(conduct, decree.forgive, nowMs) : conduct;
}
