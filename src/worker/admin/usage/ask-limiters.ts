/** A question about few keys asks their limiters to report first, so that its figures are of this moment. */
import { waitUntil } from "cloudflare:workers";
import type { Bindings } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { type LimiterAddress, reachLimiter } from "../../key/reach-limiter.ts";
import { poll } from "../../platform/single-flight.ts";
import { withDeadline } from "../../platform/with-timeout.ts";
import { listLimiters, type UsageFilter } from "./sql.ts";

const MAX_KEYS = 50;
/** A limiter is asked again after this time: whoever reloads a page causes no report each time. */
const ASKED_FOR_MS = 10_000;
const DEADLINE_MS = 3_000;
/** Further entries are of limiters that were asked long ago. */
const MAX_ENTRIES = 1_000;

/** `isReported` is undefined while the limiter is asked. */
type Asked = { readonly atMs: number; isReported: boolean | undefined };

/** The last call of each limiter by this isolate. Requests share this data, and no promise. */
const lastAsked = new Map<string, Asked>();

/** All keys have reported until `atMs`, except those that cannot be reached. */
export type Reported = { readonly atMs: number; readonly unreachable: readonly string[] };

/** Returns undefined for a question about more than 50 keys, which asks no limiter. */
export async function askLimiters(env: Bindings, filter: UsageFilter): Promise<Reported | undefined> {
  const limiters = await listLimiters(openDatabase(env.DB), filter, MAX_KEYS + 1);
  if (limiters.length > MAX_KEYS) return undefined;
  const asked = await Promise.all(limiters.map((key) => askOnce(env, key)));
  return {
    atMs: Math.min(Date.now(), ...asked.map(({ atMs }) => atMs)),
    unreachable: limiters.filter((_, i) => asked[i]?.isReported !== true).map(({ id }) => id),
  };
}

async function askOnce(env: Bindings, key: LimiterAddress): Promise<Asked> {
  const last = lastAsked.get(key.id);
  if (last !== undefined && Math.abs(Date.now() - last.atMs) < ASKED_FOR_MS) {
    await poll(() => last.isReported !== undefined, DEADLINE_MS);
    return last;
  }
  const asked: Asked = { atMs: Date.now(), isReported: undefined };
  if (lastAsked.size >= MAX_ENTRIES) lastAsked.clear();
  lastAsked.set(key.id, asked);
  const call = withDeadline(
    reachLimiter(env, key, (limiter) => limiter.flush().then(() => true)),
    DEADLINE_MS,
  ).then(
    (isReported) => {
      asked.isReported = isReported ?? false;
    },
    () => {
      asked.isReported = false;
    },
  );
  // Another request may wait for the outcome after this request's client hung up.
  waitUntil(call);
  await call;
  return asked;
}
