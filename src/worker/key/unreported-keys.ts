/**
 * The keys of which D1 may lack requests: their limiters could not report, or could not be reached. An object that
 * no key has keeps them, because D1 may be what fails. So nobody needs to ask each limiter (ADR-40).
 */
import { logError } from "../platform/log.ts";
import { HOUR_SECONDS } from "../text/time.ts";
import type { Location } from "./key.ts";

export const KEEPER = "unreported-keys";
const HOUR_MS = HOUR_SECONDS * 1000;

/** An isolate notes a failing limiter once in this time, however many requests it fails. */
const NOTED_FOR_MS = 10_000;
/** Further entries are of keys that were noted long ago. */
const MAX_ENTRIES = 1_000;
const lastNoted = new Map<string, number>();

/** D1 has all requests of the key before `sinceMs`. */
export type Unreported = {
  readonly id: string;
  readonly location?: Location | null;
  readonly sinceMs: number;
};
export type UnreportedKey = Unreported & { readonly location: Location | null; readonly notedAtMs: number };

export type UnreportedKeys = {
  readonly count: number;
  /** The earliest of all. Null: there is no such key. */
  readonly sinceMs: number | null;
  /** Those that were noted last are last. */
  readonly keys: readonly UnreportedKey[];
};

type Keeper = {
  noteUnreported(key: Unreported): Promise<void>;
  listUnreported(max: number): Promise<UnreportedKeys>;
  dropUnreported(keys: readonly UnreportedKey[]): Promise<void>;
};
export type KeeperEnv = { readonly KEY_LIMITER: { getByName(name: string): Keeper } };

export function keeperOf({ KEY_LIMITER }: KeeperEnv): Keeper {
  return KEY_LIMITER.getByName(KEEPER);
}

/** Until when limiters have reported: each in a minute of its own of the next hour, or earlier. */
export function hourBeforeMs(nowMs: number): number {
  return nowMs - (nowMs % HOUR_MS) - HOUR_MS;
}

/** Never rejects. */
export async function noteUnreported(env: KeeperEnv, key: Unreported): Promise<void> {
  try {
    await keeperOf(env).noteUnreported(key);
  } catch (thrown) {
    logError("unreported_key_not_noted", thrown, { keyId: key.id });
  }
}

/** Notes that the limiter of a key could not be reached. Never rejects. */
export async function noteUnreachable(env: KeeperEnv, key: Omit<Unreported, "sinceMs">): Promise<void> {
  const { id, location = null } = key;
  const nowMs = Date.now();
  if (Math.abs(nowMs - (lastNoted.get(id) ?? 0)) < NOTED_FOR_MS) return;
  if (lastNoted.size >= MAX_ENTRIES) lastNoted.clear();
  lastNoted.set(id, nowMs);
  await noteUnreported(env, { id, location, sinceMs: hourBeforeMs(nowMs) });
}
