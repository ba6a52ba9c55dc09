/** What a request can reach: the bindings and vars of wrangler.toml, the settings parsed from them, and its variables. */
import * as v from "valibot";
import { PETS_DEPRECATED_DATE } from "../openapi/lifecycle.ts";
import type { Location } from "./auth/key.ts";
import type { Refusal } from "./errors.ts";
import type { KeyLimiter } from "./key-limiter.ts";
import { isDate } from "./time.ts";

export type Bindings = {
  readonly DB: D1Database;
  readonly KEY_LIMITER: DurableObjectNamespace<KeyLimiter>;
  readonly ADMIN_SIGN_IN_IP_RATE_LIMIT: RateLimit;
  readonly ACCESS_AUD?: string;
  readonly ACCESS_READ_ONLY_EMAILS?: string;
  readonly ACCESS_TEAM_DOMAIN?: string;
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

/** Separated by blanks or commas. */
function listOf(isItem: (text: string) => boolean) {
  return v.pipe(
    v.optional(v.string(), ""),
    v.transform((text) => text.split(/[\s,]+/).filter((each) => each !== "")),
    v.array(v.pipe(v.string(), v.check(isItem))),
  );
}

/** As a browser sends it. It sends no wildcards. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text && !text.includes("*");
}

/** A query or a user would be between the address and the paths. */
function isAddress(text: string, end: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, origin, pathname } = new URL(text);
  return protocol === "https:" && pathname.endsWith(end) && text === origin + pathname;
}

function address(end: "/v1" | "/console") {
  return v.message(
    v.optional(
      v.pipe(
        v.string(),
        v.check((text) => isAddress(text, end)),
      ),
    ),
    `must be an https address whose path ends in ${end}`,
  );
}

/** `npm start` can send alerts to a receiver on the same machine. */
function isWebhookUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (protocol === "http:" && /^(localhost|127\.0\.0\.1)$/.test(hostname));
}

/** As the Standard Webhooks specification writes a secret: 24 to 64 bytes. */
function isWebhookSecret(text: string): boolean {
  const [, base64 = ""] = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(text) ?? [];
  try {
    const { length } = atob(base64);
    return length >= 24 && length <= 64;
  } catch {
    return false;
  }
}

const MAX_RETENTION_DAYS = 3_650;

function days(byDefault: number, min = 1) {
  return v.message(
    v.optional(
      v.pipe(v.string(), v.digits(), v.transform(Number), v.minValue(min), v.maxValue(MAX_RETENTION_DAYS)),
      String(byDefault),
    ),
    `must be a number of days from ${min} to ${MAX_RETENTION_DAYS}`,
  );
}

const VARS = v.object({
  /** Several applications can protect parts of the service, each with its own audience tag. */
  ACCESS_AUD: v.message(
    listOf((text) => /^[0-9a-f]{64}$/.test(text)),
    "must list audience tags of 64 hex digits",
  ),
  ACCESS_READ_ONLY_EMAILS: v.message(
    listOf((text) => v.RFC_EMAIL_REGEX.test(text)),
    "must list e-mail addresses",
  ),
  ACCESS_TEAM_DOMAIN: v.message(
    v.optional(v.pipe(v.string(), v.regex(/^[a-z0-9-]+\.cloudflareaccess\.com$/))),
    "must be a host such as acme.cloudflareaccess.com",
  ),
  /** Where alerts are sent. The address itself may be a secret, as Slack's is: an error must not repeat it. */
  ALERT_WEBHOOK_URL: v.optional(v.pipe(v.string(), v.check(isWebhookUrl, "must be an https address"))),
  ALERT_WEBHOOK_SECRET: v.optional(
    v.pipe(v.string(), v.check(isWebhookSecret, "must be whsec_ and 24 to 64 bytes in base64")),
  ),
  CONSOLE_URL: address("/console"),
  CORS_ORIGINS: v.message(listOf(isOrigin), "must list origins such as https://app.example"),
  /** The values of the database's own setting `read_replication.mode`. */
  D1_READ_REPLICATION: v.message(
    v.optional(v.picklist(["auto", "disabled"]), "disabled"),
    'must be "auto" or "disabled"',
  ),
  /** RFC 9745: a sunset never comes before the deprecation. */
  PETS_SUNSET_DATE: v.message(
    v.optional(v.pipe(v.string(), v.check(isDate), v.minValue(PETS_DEPRECATED_DATE)), "2030-12-05"),
    `must be a date from ${PETS_DEPRECATED_DATE} on`,
  ),
  /** A limiter loads a policy again, behind its answer, once the policy is older. */
  POLICY_REFRESH_SECONDS: v.message(
    v.optional(v.pipe(v.string(), v.digits(), v.transform(Number), v.minValue(2), v.maxValue(3_600)), "600"),
    "must be a number of seconds from 2 to 3600",
  ),
  /** The version is part of the path. */
  PRODUCTION_BASE_URL: address("/v1"),
  STAGING_BASE_URL: address("/v1"),
  SUPPORT_CONTACT: v.message(
    v.optional(
      v.union([v.pipe(v.string(), v.rfcEmail()), v.pipe(v.string(), v.url(), v.regex(/^https:\/\/\S+$/))]),
    ),
    "must be an e-mail address or an https address",
  ),
  AUDIT_RETENTION_DAYS: days(730),
  BANS_RETENTION_DAYS: days(730),
  CANCELLED_ORDERS_RETENTION_DAYS: days(730),
  /** Customers are shown over 30 days, today included. */
  USAGE_RETENTION_DAYS: days(400, 30),
});

/** Where alerts are sent. The secret is as the Standard Webhooks specification writes it. */
export type Webhook = { readonly url: string; readonly secret: string };

export type Settings = ReturnType<typeof parseSettings>;

const parsed = new WeakMap<Bindings, Settings>();

/** Throws if a var has a value that is not documented, so that a typo is noticed. */
export function settingsOf(env: Bindings): Settings {
  const settings = parsed.get(env) ?? parseSettings(env);
  parsed.set(env, settings);
  return settings;
}

/** Without the value of what can be a secret. */
function describe(name: string, { message, received }: { message: string; received: string }): string {
  return name.startsWith("ALERT_WEBHOOK_") ? `${name} ${message}` : `${name} ${message}, not ${received}`;
}

/** An empty var is not set. */
function parseSettings(env: Bindings) {
  const { success, output, issues } = v.safeParse(
    VARS,
    Object.fromEntries(Object.entries(env).filter(([, value]) => value !== "")),
  );
  if (!success) {
    throw new Error(issues.map(({ path, ...issue }) => describe(String(path?.[0]?.key), issue)).join("; "));
  }
  const { ACCESS_AUD: audiences, ACCESS_TEAM_DOMAIN: teamDomain } = output;
  const readOnlyEmails = output.ACCESS_READ_ONLY_EMAILS;
  if ((teamDomain === undefined) !== (audiences.length === 0)) {
    throw new Error("ACCESS_TEAM_DOMAIN and ACCESS_AUD must both be set, or neither");
  }
  const { ALERT_WEBHOOK_URL: webhookUrl, ALERT_WEBHOOK_SECRET: webhookSecret } = output;
  if ((webhookUrl === undefined) !== (webhookSecret === undefined)) {
    throw new Error("ALERT_WEBHOOK_URL and ALERT_WEBHOOK_SECRET must both be set, or neither");
  }
  return {
    /** Undefined if not configured: then no alert is stored. */
    webhook: webhookUrl && webhookSecret ? { url: webhookUrl, secret: webhookSecret } : undefined,
    /** Alerts link to it; undefined if not configured. */
    consoleUrl: output.CONSOLE_URL,
    /** Cloudflare Access in front of the admin API; undefined if not configured. */
    access: teamDomain === undefined ? undefined : { teamDomain, audiences, readOnlyEmails },
    /** Origins that may call from a browser; none by default. */
    corsOrigins: output.CORS_ORIGINS,
    policyRefreshSeconds: output.POLICY_REFRESH_SECONDS,
    /** Whether the database has read replication, so that lists are read from the nearest copy (ADR-19). */
    readsFromReplicas: output.D1_READ_REPLICATION === "auto",
    /** The UTC day from whose beginning `GET /pets/{petId}` is gone. */
    petsSunsetDate: output.PETS_SUNSET_DATE,
    /** The base URLs that the OpenAPI document lists as servers; undefined if not configured. */
    productionBaseUrl: output.PRODUCTION_BASE_URL,
    stagingBaseUrl: output.STAGING_BASE_URL,
    /** Whom clients ask for a key; undefined if not configured. */
    supportContact: output.SUPPORT_CONTACT,
    /** How long rows are kept: audit entries and cancelled orders since they were written, bans since their planned end. */
    retentionDays: {
      audit: output.AUDIT_RETENTION_DAYS,
      bans: output.BANS_RETENTION_DAYS,
      cancelledOrders: output.CANCELLED_ORDERS_RETENTION_DAYS,
      usage: output.USAGE_RETENTION_DAYS,
    },
  };
}
