/** The allowed values of columns such as `status`. Pure, and not part of the schema, so that the CLI does not load drizzle. */

export const PLAN_IDS = ["free", "pro", "business", "enterprise"] as const;

export const KEY_STATUSES = ["active", "disabled", "revoked"] as const;

export const KEY_SORTS = ["created", "name", "owner", "expiry"] as const;

export const ORDER_STATUSES = ["pending", "processing", "shipped", "delivered"] as const;

export const BAN_CAUSES = ["strikes", "operator"] as const;

/** Cloudflare's location hints for Durable Objects. */
export const LOCATIONS = ["wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"] as const;
