/**
 * Until when limiters have reported. A question about few keys asks their limiters to report first, so that its
 * figures are of this moment.
 */
import { waitUntil } from "cloudflare:workers";
import type { Bindings } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { type LimiterAddress, reachLimiter } from "../../key/reach-limiter.ts";
import { hourBeforeMs, keeperOf, noteUnreachable } from "../../key/unreported-keys.ts";
import { logError } from "../../platform/log.ts";
import { withDeadline } from "../../platform/with-timeout.ts";
import { listLimiters, type UsageFilter } from "./sql.ts";

const MAX_KEYS = 50;
/** The most limiters that report again in a run of the cron. */
const MAX_KEYS_A_RUN = 500;
const DEADLINE_MS = 3_000;

/** All keys have reported until `atMs`, except those that could not. */
export type Reported = { readonly atMs: number; readonly unreachable: readonly string[] };

/** Returns undefined for a question about more than 50 keys, which asks no limiter. */
export async function askLimiters(env: Bindings, filter: UsageFilter): Promise<Reported | undefined> {
  const limiters = await listLimiters(openDatabase(env.DB), filter, MAX_KEYS + 1);
  if (limiters.length > MAX_KEYS) return undefined;
  const atMs = Date.now();
  const isReported = await Promise.all(
    limiters.map((key) => withDeadline(reportOf(env, key), DEADLINE_MS).catch(() => false)),
  );
  return { atMs, unreachable: limiters.filter((_, i) => !isReported[i]).map(({ id }) => id) };
}

/** Until when all limiters have reported, also those that could not report since. */
export async function lastReports(env: Bindings): Promise<Reported> {
  try {
    const { sinceMs, keys } = await withDeadline(keeperOf(env).listUnreported(MAX_KEYS), DEADLINE_MS);
    const atMs = hourBeforeMs(Date.now());
    return { atMs: Math.min(atMs, sinceMs ?? atMs), unreachable: keys.map(({ id }) => id) };
  } catch (thrown) {
    logError("unreported_keys_unknown", thrown);
    return { atMs: 0, unreachable: [] };
  }
}

/** Makes the limiter of the key report all its usage now. Returns false if it cannot. */
export async function reportOf(env: Bindings, key: LimiterAddress): Promise<boolean> {
  const isReported = await reachLimiter(env, key, (limiter) => limiter.flush().then(() => true));
  // A client that hung up ends neither the call nor its note.
  if (!isReported) waitUntil(noteUnreachable(env, key));
  return isReported ?? false;
}

/** Lets limiters report that could not. If a whole batch fails, D1 is away, and the next minute is early enough. */
export async function reportAgain(env: Bindings): Promise<void> {
  try {
    const { keys } = await keeperOf(env).listUnreported(MAX_KEYS_A_RUN);
    for (let start = 0; start < keys.length; start += MAX_KEYS) {
      const batch = keys.slice(start, start + MAX_KEYS);
      const isReported = await Promise.all(batch.map((key) => reportOf(env, key)));
      const reported = batch.filter((_, i) => isReported[i]);
      if (reported.length === 0) return;
      await keeperOf(env).dropUnreported(reported);
    }
  } catch (thrown) {
    logError("unreported_keys_unknown", thrown);
  }
}
