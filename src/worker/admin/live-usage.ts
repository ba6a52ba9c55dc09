/** What a key's limiter says of it at this moment. */
import type { Bindings } from "../context.ts";
import type { KeyView } from "../db/key-repository.ts";
import type { Ban } from "../limiter/core/ban.ts";
import type { WindowView } from "../limiter/core/quota.ts";
import { inspectLimiter } from "../limiter/limiter-admin-client.ts";
import { rfc3339 } from "../time.ts";

export type LiveWindow = { limit: number; used: number; remaining: number; resetsAt: string };

export type LiveUse = {
  readonly minute: LiveWindow;
  readonly day: LiveWindow;
  readonly strikes: number;
  readonly ban: { cause: Ban["cause"]; reason: string | null; startedAt: string; endsAt: string } | null;
};

/** Null when the limiter cannot be reached. */
export async function describeLive(env: Bindings, key: KeyView): Promise<LiveUse | null> {
  const look = await inspectLimiter(env, key.id, limitsOf(key));
  if (!look) return null;
  return {
    minute: describeWindow(look.quota.minute),
    day: describeWindow(look.quota.day),
    strikes: look.strikes,
    ban: look.ban && {
      cause: look.ban.cause,
      reason: look.ban.reason,
      startedAt: rfc3339(Math.floor(look.ban.startedAtMs / 1000)),
      endsAt: rfc3339(look.ban.endsAtMs / 1000),
    },
  };
}

export function limitsOf(key: KeyView): { perMinute: number; perDay: number } {
  return { perMinute: key.limits.requestsPerMinute, perDay: key.limits.requestsPerDay };
}

function describeWindow(window: WindowView): LiveWindow {
  return {
    limit: window.limit,
    used: window.used,
    remaining: window.remaining,
    resetsAt: rfc3339(window.endsAtMs / 1000),
  };
}
