/** Reads a key's windows, strikes and ban of this moment from its limiter. */
import type { Inspection } from "hono-durable-limiter";
import type { Bindings } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { hasLimiter } from "../../key/outdated-keys-sql.ts";
import { reachLimiter } from "../../key/reach-limiter.ts";
import { DAY_SECONDS, nowSeconds, rfc3339 } from "../../text/time.ts";
import { findSetBan, type SetBan } from "../bans/sql.ts";
import type { KeyView, LiveUsage } from "./schema.ts";

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
    const { limit, used, remaining, endsAtMs } = window;
    return { limit, used, remaining, resetsAt: rfc3339(endsAtMs / 1000) };
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
  const unused = (limit: number, seconds: number): LiveUsage["minute"] => {
    const resetsAt = rfc3339((Math.floor(nowSeconds() / seconds) + 1) * seconds);
    return { limit, used: 0, remaining: limit, resetsAt };
  };
  return {
    lastUsedAt: null,
    minute: unused(limits.requestsPerMinute, 60),
    day: unused(limits.requestsPerDay, DAY_SECONDS),
    strikes: 0,
    ban: ban ? { cause: "operator", reason: ban.reason, endsAt: rfc3339(ban.endsAt) } : null,
  };
}
