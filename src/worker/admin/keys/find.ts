/** Finds a key, with its state of this moment, and says why its requests were refused. */
import type { Inspection } from "hono-durable-limiter";
import type * as v from "valibot";
import type { Bindings } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { hasLimiter } from "../../key/outdated-keys-sql.ts";
import { reachLimiter } from "../../key/reach-limiter.ts";
import { liveWindowOf, unusedWindow } from "../../key/windows.ts";
import { DAY_SECONDS, nowSeconds, rfc3339 } from "../../text/time.ts";
import { findSetBan, type SetBan } from "../bans/sql.ts";
import { lastDays, listHours } from "../usage/service.ts";
import type { inspectedKey, KeyView, LiveUsage } from "./schema.ts";
import { requireKey } from "./sql.ts";
import { whyRefused } from "./why-refused.ts";

const DAYS = 7;

/** With a customer, the sentences are about the days on which the key was the customer's. */
export async function findKey(
  env: Bindings,
  id: string,
  customer?: string,
): Promise<v.InferOutput<typeof inspectedKey>> {
  const db = openDatabase(env.DB);
  const before = await requireKey(db, id);
  // The limiter reports first, so that what is read after it has the refusals and the ban of now.
  const live = await readLive(env, before, "flushAndInspect");
  const [key, hours] = await Promise.all([
    requireKey(db, id),
    listHours(db, { ...lastDays(DAYS), key: id, customer }),
  ]);
  const figures = live === null ? {} : figuresAt(live, before, key);
  return { whyRefused: [...whyRefused(hours, DAYS, key.limits)], ...key, ...figures, live };
}

/**
 * The figures of D1 at the moment of `live`. D1 has more than the limiter if both rows have more, as after a
 * restore: a row that was read after `live` can have later requests.
 */
function figuresAt({ day, lastUsedAt }: LiveUsage, ...rows: readonly KeyView[]) {
  const admitted = Math.min(...rows.map(({ admittedToday }) => admittedToday));
  const days = rows.flatMap(({ lastUsedDay }) => lastUsedDay ?? []);
  const lastUsedDay = [...days, ...(lastUsedAt === null ? [] : [lastUsedAt.slice(0, 10)])].sort().at(-1);
  return { admittedToday: Math.max(day.used, admitted), lastUsedDay: lastUsedDay ?? null };
}

/** Null: the limiter cannot be reached. */
export async function readLive(
  env: Bindings,
  key: KeyView,
  how: "inspect" | "flushAndInspect",
): Promise<LiveUsage | null> {
  const db = openDatabase(env.DB);
  // An object stays where it was first called, so only a request of a client may create it.
  if (!(await hasLimiter(db, key)))
    return unusedUsage(key.limits, await findSetBan(db, key.id, nowSeconds()));
  const inspection = await reachLimiter(env, key, (limiter) => limiter[how]());
  return inspection ? toLiveUsage(inspection) : null;
}

function toLiveUsage({ quota, strikes, ban, lastRequestMs }: Inspection): LiveUsage {
  const windowOf = (name: string): LiveUsage["minute"] => {
    const window = quota.find((each) => each.name === name);
    if (!window) throw new Error(`the policy has no window ${name}`);
    return liveWindowOf(window);
  };
  return {
    lastUsedAt: lastRequestMs === null ? null : rfc3339(lastRequestMs / 1000),
    minute: windowOf("minute"),
    day: windowOf("day"),
    strikes,
    ban: ban && {
      cause: ban.id === null ? "operator" : "strikes",
      reason: ban.reason,
      endsAt: rfc3339(Math.ceil(ban.endsAtMs / 1000)),
    },
  };
}

/** The state of a key without a limiter. An operator may have banned the key. */
function unusedUsage(
  limits: { readonly requestsPerMinute: number; readonly requestsPerDay: number },
  ban: SetBan | undefined,
): LiveUsage {
  return {
    lastUsedAt: null,
    minute: unusedWindow(limits.requestsPerMinute, 60),
    day: unusedWindow(limits.requestsPerDay, DAY_SECONDS),
    strikes: 0,
    ban: ban ? { cause: "operator", reason: ban.reason, endsAt: rfc3339(ban.endsAt) } : null,
  };
}
