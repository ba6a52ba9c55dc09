/** The key record: the part of a key that each request needs. Pure. */
import type { KEY_STATUSES, LOCATIONS } from "../db/values.ts";
import type { BanOverride } from "../limiter/core/ban.ts";

export type KeyStatus = (typeof KEY_STATUSES)[number];

/** Where a key's limiter is created: one of Cloudflare's location hints. */
export type Location = (typeof LOCATIONS)[number];

export type KeyRecord = BanOverride & {
  /** `key_…`: names the key's limiter, and the caller in logs and in `cancelled_orders`. */
  readonly id: string;
  /** The higher of the key's and its plan's: every change of the key, its secrets, its bans set by operators or its plan raises it. */
  readonly version: number;
  readonly status: KeyStatus;
  /** For the log. */
  readonly plan: string;
  /** Requests per UTC minute and per UTC day: the key's own, or its plan's. */
  readonly limits: { readonly perMinute: number; readonly perDay: number };
  /** Unix seconds: the earlier of the key's expiry and that of the secret it was found by; null for neither. */
  readonly expiresAt: number | null;
  /** Null: near the first request. */
  readonly location: Location | null;
  /** Whether D1 knows that the key has been used, and so its limiter may exist. */
  readonly isUsed: boolean;
};

export function isUsable(record: KeyRecord, nowMs: number): boolean {
  return record.status === "active" && (record.expiresAt === null || nowMs < record.expiresAt * 1000);
}
