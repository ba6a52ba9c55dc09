/** What a request can reach: the bindings and vars of wrangler.toml, and its variables. */
import type { Location } from "./auth/key.ts";
import type { Refusal } from "./errors.ts";
import type { KeyLimiter } from "./key-limiter.ts";

export type Bindings = {
  readonly DB: D1Database;
  readonly KEY_LIMITER: DurableObjectNamespace<KeyLimiter>;
  readonly ADMIN_SIGN_IN_IP_RATE_LIMIT: RateLimit;
  readonly ACCESS_AUD?: string;
  readonly ACCESS_TEAM_DOMAIN?: string;
  readonly ACCESS_WRITERS?: string;
  readonly ADMIN_READ_TOKEN?: string;
  readonly ADMIN_TOKEN?: string;
  readonly ALERT_WEBHOOK_SECRET?: string;
  readonly ALERT_WEBHOOK_URL?: string;
  readonly CONSOLE_URL?: string;
  readonly CORS_ORIGINS?: string;
  readonly D1_READ_REPLICATION?: string;
  readonly PETS_SUNSET_DATE?: string;
  readonly POLICY_REFRESH_SECONDS?: string;
  readonly PRODUCTION_BASE_URL?: string;
  readonly STAGING_BASE_URL?: string;
  readonly SUPPORT_CONTACT?: string;
  readonly AUDIT_RETENTION_DAYS?: string;
  readonly BANS_RETENTION_DAYS?: string;
  readonly CANCELLED_ORDERS_RETENTION_DAYS?: string;
  readonly USAGE_RETENTION_DAYS?: string;
};

export type Variables = {
  requestId: string;
  /** Set by `authenticate` and `requireAdmin`: when the credential was accepted. */
  authenticatedAtMs?: number;
  /** When the limiter's answer arrived, if the request was admitted. */
  admittedAtMs?: number;
  /** Set by `authenticate`: only routes under /v1 have it. */
  key: Key;
  /** Set when a credential was refused. */
  refusal?: Refusal;
  /** Set by `requireAdmin`: only routes under /admin have it. */
  author: Author;
  /** Set with `author`: whether the operator may change nothing. */
  mayOnlyRead?: boolean;
};

/** Who makes a change, in which request, and when (Unix seconds). */
export type Author = {
  readonly requestId: string;
  readonly actor: string;
  readonly at: number;
};

/** What a request says of its key. Only the key's limiter knows more. */
export type Key = {
  readonly id: string;
  readonly location: Location | null;
  /** SHA-256 of the whole key. */
  readonly hash: string;
};

export type AppEnv = { Bindings: Bindings; Variables: Variables };
