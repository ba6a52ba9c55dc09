/** What alerts say: each is about one key. Pure. */
import type { Ban, ReachedThreshold } from "../../../limiter/index.ts";
import type { Author } from "../../context.ts";
import type { STORED_ALERT_TYPES } from "../../db/values.ts";
import { formatNumber, formatTime } from "../../format.ts";
import { dayName, rfc3339, toUnixSeconds } from "../../time.ts";

export type NewAlert = {
  /** The same for the same event, which may be found twice. */
  readonly id: string;
  readonly type: (typeof STORED_ALERT_TYPES)[number];
  /** Unix seconds. */
  readonly at: number;
  /** The sentence after the key's name. */
  readonly says: string;
  /** Beside the key's id, name and owner. */
  readonly data: Readonly<Record<string, string | number | null>>;
};

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

type SetBan = { readonly id: string; readonly startedAt: number; readonly endsAt: number };

export function banSet(
  { id, startedAt, ...ban }: SetBan & { readonly reason: string },
  actor: string,
): NewAlert {
  const endsAt = rfc3339(ban.endsAt);
  return {
    id,
    type: "ban.set",
    at: startedAt,
    says: `is banned until ${formatTime(endsAt)} by ${actor}: ${ban.reason}`,
    data: { ban: id, actor, reason: ban.reason, endsAt },
  };
}

export function banLifted({ requestId, actor, at }: Author): NewAlert {
  return {
    id: `lift_${requestId}`,
    type: "ban.lifted",
    at,
    says: `is no longer banned: ${actor} lifted the ban.`,
    data: { actor },
  };
}

/** Once for each day, share and limit: after a raised limit, the next 80 % are news. */
export function usageReached(
  keyId: string,
  { percent, window: { startMs, used, limit }, reachedAtMs }: ReachedThreshold,
): NewAlert {
  const day = dayName(startMs / 1000);
  return {
    id: `${keyId}:${day}:${percent}:${limit}`,
    type: percent === 100 ? "key.usage_100" : "key.usage_80",
    at: toUnixSeconds(reachedAtMs),
    says: `has used ${percent} % of its requests of ${day} (UTC): ${formatNumber(used)} of ${formatNumber(limit)}.`,
    data: { day, percent, used, limit },
  };
}
