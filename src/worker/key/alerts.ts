/** The alerts of a limiter. An alert is stored only if a webhook is configured. */
import type { Ban, ReachedThreshold } from "hono-durable-limiter";
import type { Conditional } from "../db/database.ts";
import { settingsOf, type Vars } from "../platform/settings.ts";
import { formatNumber, formatTime } from "../text/format.ts";
import { dayName, rfc3339, toUnixSeconds } from "../text/time.ts";
import { insertAlert, type NewAlert } from "./alerts-sql.ts";
import { isCustomerId } from "./key.ts";

/** Statements for the batch of the change. Empty without a webhook. */
export function alertStatements(vars: Vars, keyOrCustomer: string, alert: NewAlert): Conditional[] {
  return settingsOf(vars).webhook === undefined ? [] : [insertAlert(keyOrCustomer, alert)];
}

export function banStarted({ id, strikes, startedAtMs, endsAtMs }: Ban): NewAlert {
  const endsAt = rfc3339(endsAtMs / 1000);
  return {
    id,
    type: "ban.started",
    at: toUnixSeconds(startedAtMs),
    says: `is banned until ${formatTime(endsAt)}: it went on in ${strikes} different seconds after a 429.`,
    data: { ban: id, strikes, endsAt },
  };
}

/** An alert for each day, share and limit: after the limit was raised, the same share is news. */
export function usageReached(
  keyOrCustomer: string,
  { percent, window: { startMs, used, limit }, reachedAtMs }: ReachedThreshold,
): NewAlert {
  const day = dayName(startMs / 1000);
  return {
    id: `${keyOrCustomer}:${day}:${percent}:${limit}`,
    type: isCustomerId(keyOrCustomer) ? "customer.usage" : "key.usage",
    at: toUnixSeconds(reachedAtMs),
    says: `has used ${percent} % of its requests of ${day} (UTC): ${formatNumber(used)} of ${formatNumber(limit)}.`,
    data: { day, percent, used, limit },
  };
}
