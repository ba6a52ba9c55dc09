/** What a request can reach: the bindings and vars of wrangler.toml, the settings parsed from them, and its variables. */
import { isDate, PETS_DEPRECATED_DATE } from "../openapi/lifecycle.ts";
import type { AccessSettings } from "./admin/access-identity.ts";
import type { LookupRequest } from "./auth/key-lookup.ts";
import type { KeyRecord } from "./auth/key-record.ts";
import type { Author } from "./db/audit-repository.ts";
import type { Refusal } from "./errors.ts";
import type { Bookmark } from "./limiter/core/bookmark.ts";
import type { RateLimitHeaders } from "./limiter/core/rate-limit-headers.ts";
import type { KeyLimiter } from "./limiter/key-limiter.ts";
import type { Decision } from "./log.ts";

export type Bindings = {
  readonly DB: D1Database;
  readonly KEY_LIMITER: DurableObjectNamespace<KeyLimiter>;
  readonly UNKNOWN_KEY_IP_RATE_LIMIT: RateLimit;
  readonly ADMIN_SIGN_IN_IP_RATE_LIMIT: RateLimit;
  readonly ACCESS_AUD?: string;
  readonly ACCESS_TEAM_DOMAIN?: string;
  readonly ADMIN_TOKEN?: string;
  readonly CORS_ORIGINS?: string;
  readonly D1_READ_REPLICATION?: string;
  readonly PETS_SUNSET_DATE?: string;
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
  /** When the request reached the Worker. */
  receivedAtMs: number;
  /** Set by `authenticate` and `requireAdmin`: when the credential was accepted. */
  authenticatedAtMs?: number;
  /** Set by `enforceLimit`, for the log: the decision on the request, and when it was made. */
  decision?: Decision;
  /** Set by `authenticate`: only routes under /v1 have them. */
  key: KeyRecord;
  keyLookup: LookupRequest;
  /** Set by `enforceLimit` once the limiter has answered. */
  rateLimitHeaders?: RateLimitHeaders;
  /** Set by `enforceLimit` if the limiter has answered: the bookmark that it has for the key (ADR-19). */
  limiterBookmark?: { readonly bookmark: Bookmark | undefined };
  /** Set when a credential was refused. */
  refusal?: Refusal;
  /** Set by `requireAdmin`: only routes under /admin have it. */
  author: Author;
};

export type AppEnv = { Bindings: Bindings; Variables: Variables };

export type Settings = {
  /** Cloudflare Access in front of the admin API; undefined if not configured. */
  readonly access: AccessSettings | undefined;
  /** Origins that may call from a browser; none by default. */
  readonly corsOrigins: readonly string[];
  /** Whether the database has read replication, so that keys and lists are read from the nearest copy (ADR-19). */
  readonly readsFromReplicas: boolean;
  /** The UTC day from whose beginning `GET /pets/{petId}` is gone. */
  readonly petsSunsetDate: string;
  /** The base URLs that the OpenAPI document lists as servers; undefined if not configured. */
  readonly productionBaseUrl: string | undefined;
  readonly stagingBaseUrl: string | undefined;
  /** Whom clients ask for a key: an e-mail address or an https address; undefined if not configured. */
  readonly supportContact: string | undefined;
  /** How long rows are kept: audit entries and cancelled orders since they were written, bans since their planned end. */
  readonly retentionDays: {
    readonly audit: number;
    readonly bans: number;
    readonly cancelledOrders: number;
    readonly usage: number;
  };
};

/** The admin API shows this many days of usage. */
const MIN_USAGE_RETENTION_DAYS = 90;
const MAX_RETENTION_DAYS = 3_650;

const parsed = new WeakMap<Bindings, Settings>();

/** Throws if a var has a value that is not documented, so that a typo is noticed. */
export function settingsOf(env: Bindings): Settings {
  const known = parsed.get(env);
  if (known) return known;
  const settings = {
    access: access(env),
    corsOrigins: corsOrigins(env),
    readsFromReplicas: readsFromReplicas(env),
    petsSunsetDate: petsSunsetDate(env),
    productionBaseUrl: baseUrl("PRODUCTION_BASE_URL", env.PRODUCTION_BASE_URL),
    stagingBaseUrl: baseUrl("STAGING_BASE_URL", env.STAGING_BASE_URL),
    supportContact: supportContact(env),
    retentionDays: {
      audit: days("AUDIT_RETENTION_DAYS", env.AUDIT_RETENTION_DAYS, 730, 1),
      bans: days("BANS_RETENTION_DAYS", env.BANS_RETENTION_DAYS, 730, 1),
      cancelledOrders: days("CANCELLED_ORDERS_RETENTION_DAYS", env.CANCELLED_ORDERS_RETENTION_DAYS, 730, 1),
      usage: days("USAGE_RETENTION_DAYS", env.USAGE_RETENTION_DAYS, 400, MIN_USAGE_RETENTION_DAYS),
    },
  };
  parsed.set(env, settings);
  return settings;
}

/** Both vars or none. Several applications can protect parts of the service, each with its own audience tag. */
function access({ ACCESS_TEAM_DOMAIN = "", ACCESS_AUD = "" }: Bindings): AccessSettings | undefined {
  const audiences = ACCESS_AUD.split(/[\s,]+/).filter((audience) => audience !== "");
  if (ACCESS_TEAM_DOMAIN === "" && audiences.length === 0) return undefined;
  if (!/^[a-z0-9-]+\.cloudflareaccess\.com$/.test(ACCESS_TEAM_DOMAIN)) {
    const given = JSON.stringify(ACCESS_TEAM_DOMAIN);
    throw new Error(`ACCESS_TEAM_DOMAIN must be a host such as acme.cloudflareaccess.com, not ${given}`);
  }
  const wrong = audiences.find((audience) => !/^[0-9a-f]{64}$/.test(audience));
  if (wrong === undefined && audiences.length > 0) return { teamDomain: ACCESS_TEAM_DOMAIN, audiences };
  throw new Error(`ACCESS_AUD must list audience tags of 64 hex digits, not ${JSON.stringify(wrong ?? "")}`);
}

/** As browsers send it: scheme, host and maybe a port, in lower case and without a slash at the end. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/(?:[a-z0-9._-]+|\[[0-9a-f:]+\])(?::[0-9]+)?$/;

/** Browsers write a web origin in one way only: without the scheme's own port, for example. `URL` knows no origin of other schemes. */
function isOrigin(text: string): boolean {
  if (!ORIGIN.test(text)) return false;
  return !/^https?:/.test(text) || (URL.canParse(text) && new URL(text).origin === text);
}

function corsOrigins(env: Bindings): string[] {
  const origins = (env.CORS_ORIGINS ?? "").split(/[\s,]+/).filter((origin) => origin !== "");
  const wrong = origins.find((origin) => !isOrigin(origin));
  if (wrong === undefined) return origins;
  throw new Error(`CORS_ORIGINS must list origins such as https://app.example, not ${JSON.stringify(wrong)}`);
}

/** The values of the database's own setting `read_replication.mode`. */
function readsFromReplicas(env: Bindings): boolean {
  const mode = env.D1_READ_REPLICATION ?? "disabled";
  if (mode !== "auto" && mode !== "disabled") {
    throw new Error(`D1_READ_REPLICATION must be "auto" or "disabled", not ${JSON.stringify(mode)}`);
  }
  return mode === "auto";
}

/** RFC 9745: a sunset never comes before the deprecation. */
function petsSunsetDate(env: Bindings): string {
  const date = env.PETS_SUNSET_DATE ?? "2030-12-05";
  if (!isDate(date) || date < PETS_DEPRECATED_DATE) {
    throw new Error(
      `PETS_SUNSET_DATE must be a date from ${PETS_DEPRECATED_DATE} on, not ${JSON.stringify(date)}`,
    );
  }
  return date;
}

/** RFC 3986, of the path, the query and the fragment. `URL` leaves more as it is, such as `|` and `%zz`. */
const AFTER_HOST = /^\/(?!.*#.*#)(?:[\w.~:/?#@!$&'()*+,;=-]|%[\da-f]{2})*$/i;

/** An https address without a user, if it is as browsers send it. They add the slash of an empty path. */
function httpsUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:" || !isOrigin(url.origin) || url.username !== "" || url.password !== "")
    return undefined;
  if (!AFTER_HOST.test(url.href.slice(url.origin.length))) return undefined;
  return url.href === text || url.href === `${text}/` ? url : undefined;
}

/** The version is part of the path, so each base URL ends in it. */
function baseUrl(name: string, text = ""): string | undefined {
  if (text === "") return undefined;
  const url = httpsUrl(text);
  // Also an empty query or fragment would be between the address and the paths.
  if (url?.pathname.endsWith("/v1") && text === url.origin + url.pathname) return text;
  throw new Error(
    `${name} must be an https address whose path ends in /v1, in ASCII as browsers send it, not ${JSON.stringify(text)}`,
  );
}

/** What JSON Schema's format `email` allows, as tools check the OpenAPI document, less what a `mailto:` link takes for something else. */
const EMAIL =
  /^[\w!$&'*+=~-]+(?:\.[\w!$&'*+=~-]+)*@(?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)+[a-z\d](?:[a-z\d-]*[a-z\d])?$/i;

function supportContact({ SUPPORT_CONTACT: contact = "" }: Bindings): string | undefined {
  if (contact === "") return undefined;
  if (httpsUrl(contact) || EMAIL.test(contact)) return contact;
  throw new Error(
    `SUPPORT_CONTACT must be an e-mail address or an https address, in ASCII as browsers send it, not ${JSON.stringify(contact)}`,
  );
}

function days(name: string, text: string | undefined, byDefault: number, min: number): number {
  if (text === undefined) return byDefault;
  const count = Number(text);
  if (!/^\d{1,4}$/.test(text) || count < min || count > MAX_RETENTION_DAYS) {
    throw new Error(
      `${name} must be a number of days from ${min} to ${MAX_RETENTION_DAYS}, not ${JSON.stringify(text)}`,
    );
  }
  return count;
}
