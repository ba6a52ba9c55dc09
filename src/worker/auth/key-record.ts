/** What the service knows of a caller. Pure. */
import type { KEY_STATUSES } from "../db/values.ts";

export type KeyStatus = (typeof KEY_STATUSES)[number];

export type KeyRecord = {
  /** `key_…`: names the key's limiter, and the caller in logs and in `cancelled_orders`. */
  readonly id: string;
  /** Raised by every change of the key, its secrets or its plan. */
  readonly version: number;
  readonly status: KeyStatus;
  /** Requests per UTC minute and per UTC day: the key's own, or its plan's. */
  readonly limits: { readonly perMinute: number; readonly perDay: number };
  /** Unix seconds: the earlier of the key's expiry and that of the secret it was found by; null for neither. */
  readonly expiresAt: number | null;
  /** The last ban set or lifted by hand, as JSON: passed on to the key's limiter. */
  readonly banOverride: string | null;
};

export function isUsable(record: KeyRecord, nowMs: number): boolean {
  return record.status === "active" && (record.expiresAt === null || nowMs < record.expiresAt * 1000);
}
