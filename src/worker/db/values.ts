/** The allowed values of columns such as `status`. Pure, and not part of the schema, so that the CLI does not load drizzle. */

export const PLAN_IDS = ["free", "pro", "business", "enterprise"] as const;

export const KEY_STATUSES = ["active", "disabled", "revoked"] as const;

export const KEY_SORTS = ["created", "name", "owner", "expiry"] as const;

export const ORDER_STATUSES = ["pending", "processing", "shipped", "delivered"] as const;

export const BAN_CAUSES = ["strikes", "operator"] as const;

/** What the audit log calls each change. */
export const AUDIT_CALLS = [
  "keys.create",
  "keys.update",
  "keys.rotate",
  "keys.retire",
  "keys.revoke",
  "bans.set",
  "bans.lift",
  "plans.update",
  "orders.update",
  "orders.delete",
  "orders.import",
] as const;

export type AuditCall = (typeof AUDIT_CALLS)[number];

/** Cloudflare's location hints for Durable Objects. */
export const LOCATIONS = ["wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"] as const;

/** The orders of a day's keys: by a column of their usage, the highest first. */
export const USAGE_SORTS = ["admitted", "refused", "percent"] as const;

export type UsageSort = (typeof USAGE_SORTS)[number];

/** Keys below this percent are in no index by percent. */
export const MIN_SORTED_PERCENT = 1;
