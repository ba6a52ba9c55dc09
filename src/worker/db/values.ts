/** The allowed values of columns such as `status`. Not in schema.ts, because the CLI loads no drizzle. */
import { DAY_SECONDS } from "../text/time.ts";

export const PLAN_IDS = ["free", "pro", "business", "enterprise"] as const;

export const KEY_STATUSES = ["active", "disabled", "revoked"] as const;
/** The stored statuses, and those that time and bans make of `active`. */
export const KEY_STATES = [...KEY_STATUSES, "expired", "banned"] as const;

export const KEY_SORTS = ["created", "name", "customer", "expiry", "used"] as const;

export const ORDER_STATUSES = ["pending", "processing", "shipped", "delivered"] as const;

/** The statuses of orders that can be shipped. */
export const UNSHIPPED: readonly string[] = ["pending", "processing"];

/** The least quantity of an order. */
export const MIN_QUANTITY = 0;

/** One batch of D1 ships this many orders, each with its audit row. */
export const MAX_ORDERS_PER_SHIPMENT = 500;

export const BAN_CAUSES = ["strikes", "operator"] as const;

/** The types of stored alerts. A test alert is sent at once and not stored. */
export const STORED_ALERT_TYPES = [
  "ban.started",
  "ban.set",
  "ban.lifted",
  "key.usage",
  "key.expiring",
  "owner.link",
  "customer.usage",
] as const;

export const ALERT_STATES = ["pending", "failing", "delivered", "failed"] as const;

export const RECEIVER_STATES = ["ok", "failing", "off"] as const;

/** Cloudflare's location hints for Durable Objects. */
export const LOCATIONS = ["wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"] as const;

/** How usage is divided into rows, if not by key. */
export const USAGE_PERIODS = ["hour", "day"] as const;
export const USAGE_SORTS = ["admitted", "refused", "percent", "near", "peak", "name"] as const;

export type UsagePeriod = (typeof USAGE_PERIODS)[number];
export type UsageSort = (typeof USAGE_SORTS)[number];

/** How customers are sorted. */
export const CUSTOMER_SORTS = ["admitted", "refused", "near", "peak", "name"] as const;

/** The highest limits that the admin API accepts. An object can serve 500 requests a second all day. */
export const MAX_REQUESTS_PER_MINUTE = 30_000;
export const MAX_REQUESTS_PER_DAY = MAX_REQUESTS_PER_MINUTE * 1_440;

/** The longest time that an operator can give to temporary limits. */
export const MAX_TEMPORARY_LIMIT_DAYS = 366;

/** The longest ban that an operator can set. */
export const MAX_OPERATOR_BAN_SECONDS = 366 * DAY_SECONDS;

/** From this share of its limit of the day on, a key is near the limit. */
export const NEAR_LIMIT_PERCENT = 80;
