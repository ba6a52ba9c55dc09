/** What alerts say: each is about one key. Pure. */
import type { Ban } from "../../../limiter/index.ts";
import { counted, formatNumber, formatTime } from "../../console/format.ts";
import type { STORED_ALERT_TYPES } from "../../db/values.ts";
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
    says: `is banned until ${formatTime(endsAt)}: ${counted(strikes, "refused request")} went on.`,
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

export function banLifted({
  requestId,
  actor,
  at,
}: {
  requestId: string;
  actor: string;
  at: number;
}): NewAlert {
  return {
    id: `lift_${requestId}`,
    type: "ban.lifted",
    at,
    says: `is no longer banned: ${actor} lifted the ban.`,
    data: { actor },
  };
}

export type DayUse = { readonly startMs: number; readonly used: number; readonly limit: number };

/** The threshold that the day's use has reached; undefined: none. */
export function usageThreshold({ used, limit }: DayUse): 80 | 100 | undefined {
  return used >= limit ? 100 : 100 * used >= 80 * limit ? 80 : undefined;
}

export function usageReached(keyId: string, percent: 80 | 100, use: DayUse, at: number): NewAlert {
  const day = dayName(use.startMs / 1000);
  return {
    id: `${keyId}:${day}:${percent}`,
    type: percent === 100 ? "key.usage_100" : "key.usage_80",
    at,
    says: `has used ${percent} % of its requests of ${day} (UTC): ${formatNumber(use.used)} of ${formatNumber(use.limit)}.`,
    data: { day, percent, used: use.used, limit: use.limit },
  };
}
