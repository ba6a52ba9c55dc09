/** The vars and secrets of a deployment. A wrong setting is off, logged and shown. Other settings stay. */
import * as v from "valibot";
import { PETS_DEPRECATED_DATE } from "../text/lifecycle.ts";
import { isMailAddress } from "../text/text.ts";
import { isDate } from "../text/time.ts";
import { logEvent } from "./log.ts";

/** A list of items, separated by blanks or commas. A list without an item is wrong. */
function listOf(isItem: (text: string) => boolean) {
  return v.pipe(
    v.string(),
    v.regex(/[^\s,]/),
    v.transform((text) => text.split(/[\s,]+/).filter((each) => each !== "")),
    v.array(v.pipe(v.string(), v.check(isItem))),
  );
}

/** An origin as a browser sends it, without a path or a wildcard. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text && !text.includes("*");
}

/** Paths are appended to the address, so it has no query and no user. */
function isAddress(text: string, end: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, origin, pathname } = new URL(text);
  return protocol === "https:" && pathname.endsWith(end) && text === origin + pathname;
}

function address(end: "/v1" | "/console") {
  return v.message(
    v.pipe(
      v.string(),
      v.check((text) => isAddress(text, end)),
    ),
    `must be an https address whose path ends in ${end}`,
  );
}

/** Plain HTTP is for a receiver on the same machine, under `npm start`. */
function isWebhookUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (protocol === "http:" && /^(localhost|127\.0\.0\.1)$/.test(hostname));
}

/** The form of the Standard Webhooks specification: 24 to 64 bytes. */
function isWebhookSecret(text: string): boolean {
  const [, base64 = ""] = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(text) ?? [];
  try {
    const { length } = atob(base64);
    return length >= 24 && length <= 64;
  } catch {
    return false;
  }
}

/** A token has only characters that `Authorization: Bearer` can carry, so no blanks. */
const TOKEN = v.pipe(
  v.string(),
  v.regex(/^[\x21-\x7e]{32,}$/, "must have 32 characters or more, and no blanks"),
);

function wholeNumber(min: number, max: number, unit: "days" | "seconds") {
  return v.message(
    v.pipe(v.string(), v.digits(), v.transform(Number), v.minValue(min), v.maxValue(max)),
    `must be a number of ${unit} from ${min} to ${max}`,
  );
}

/** Returns N of "1/N": one in N requests. */
const ONE_IN = v.pipe(
  v.string(),
  v.regex(/^1\/[1-9]\d{0,4}$/),
  v.transform((text) => Number(text.slice(2))),
);

const MAX_RETENTION_DAYS = 3_650;
export const USAGE_RETENTION_DAYS = 400;
const RETENTION_DAYS = wholeNumber(1, MAX_RETENTION_DAYS, "days");
/** A load of 100,000 orders keeps up to 12 MB, and can be undone for this long (ADR-20). */
export const LOADS_RETENTION_DAYS = 7;

const SCHEMAS = {
  /** Several Access applications can protect parts of the service, each with its own audience tag. */
  ACCESS_AUD: v.message(
    listOf((text) => /^[0-9a-f]{64}$/.test(text)),
    "must list audience tags of 64 hex digits",
  ),
  ACCESS_TEAM_DOMAIN: v.message(
    v.pipe(v.string(), v.regex(/^[a-z0-9-]+\.cloudflareaccess\.com$/)),
    "must be a host such as acme.cloudflareaccess.com",
  ),
  ACCESS_WRITERS: v.message(
    listOf(() => true),
    "must list e-mails, or client ids of service tokens; until then nobody from Access may write",
  ),
  ADMIN_READ_TOKEN: TOKEN,
  ADMIN_TOKEN: TOKEN,
  ALERT_FORMAT: v.picklist(["full", "text"], 'must be "full" or "text"'),
  /** The second secret is the one before, while it is replaced. */
  ALERT_WEBHOOK_SECRET: v.message(
    v.pipe(
      v.string(),
      v.transform((text) => text.split(/\s+/)),
      v.tupleWithRest([v.string()], v.string()),
      v.maxLength(2),
      v.everyItem(isWebhookSecret),
    ),
    "must be whsec_ and 24 to 64 bytes in base64, or two of them with a blank between them",
  ),
  ALERT_WEBHOOK_URL: v.pipe(v.string(), v.check(isWebhookUrl, "must be an https address")),
  CONSOLE_URL: address("/console"),
  CORS_ORIGINS: v.message(listOf(isOrigin), "must list origins such as https://app.example"),
  ENVIRONMENT_NAME: v.message(
    v.pipe(v.string(), v.regex(/^[\w.-]{1,24}$/)),
    "must have 1 to 24 letters, digits, dots, hyphens or underscores",
  ),
  LOG_REQUESTS: v.message(
    v.union([v.picklist(["all", "refused"]), ONE_IN]),
    'must be "all", "refused" or a share from 1/1 to 1/99999, such as 1/100',
  ),
  /** RFC 9745: a sunset never comes before the deprecation. */
  PETS_SUNSET_DATE: v.message(
    v.pipe(v.string(), v.check(isDate), v.minValue(PETS_DEPRECATED_DATE)),
    `must be a date from ${PETS_DEPRECATED_DATE} on`,
  ),
  POLICY_REFRESH_SECONDS: wholeNumber(2, 3_600, "seconds"),
  /** The version is part of the address. */
  PRODUCTION_BASE_URL: address("/v1"),
  STAGING_BASE_URL: address("/v1"),
  SUPPORT_CONTACT: v.message(
    v.union([
      v.pipe(v.string(), v.check(isMailAddress)),
      v.pipe(v.string(), v.url(), v.regex(/^https:\/\/\S+$/)),
    ]),
    "must be an e-mail address or an https address",
  ),
  AUDIT_RETENTION_DAYS: RETENTION_DAYS,
  BANS_RETENTION_DAYS: RETENTION_DAYS,
  /** The undo of a load leaves an order that was cancelled since, and then loaded again. */
  CANCELLED_ORDERS_RETENTION_DAYS: wholeNumber(LOADS_RETENTION_DAYS, MAX_RETENTION_DAYS, "days"),
  /** The list of customers shows the last 30 days. */
  USAGE_RETENTION_DAYS: wholeNumber(30, MAX_RETENTION_DAYS, "days"),
};

function oneIn(logged: "all" | "refused" | number): number {
  if (typeof logged === "number") return logged;
  return logged === "all" ? 1 : 0;
}

type Name = keyof typeof SCHEMAS;

/** The vars and secrets as the runtime has them. */
export type Vars = { readonly [name in Name]?: string };

/** Makes small letters of A to Z. `toLowerCase` would also make a k of the Kelvin sign, which is another mailbox. */
export function foldLetters(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Settings that are secret, as the address of a Slack webhook is. No problem repeats their values. */
const SECRET = /^(ALERT_WEBHOOK|ADMIN)_/;

/** The two halves of a sentence. Anyone may read the names. The rule may repeat the value. */
export type SettingProblem = { readonly names: string; readonly rule: string };

export type AdminToken = { readonly secret: string; readonly mayOnlyRead: boolean };

export type AccessSettings = {
  readonly teamDomain: string;
  /** The audience tags of the Access applications that may call. */
  readonly audiences: readonly string[];
  /** E-mails and client ids that may write, in lower case. Undefined: everyone whom Access admits. */
  readonly writers: readonly string[] | undefined;
};

/** The secrets have the form of the Standard Webhooks specification. Each signs. */
export type Webhook = {
  readonly url: string;
  readonly secrets: readonly [string, ...string[]];
  /** `text`: an alert is its text alone, as chats want it. */
  readonly format: "full" | "text";
};

export type Settings = ReturnType<typeof readSettings>;

const settingsRead = new WeakMap<Vars, Settings>();

/** Everything in an isolate has the same bindings, so each isolate logs a problem once. */
export function settingsOf(env: Vars): Settings {
  const known = settingsRead.get(env);
  if (known !== undefined) return known;
  const settings = readSettings(env);
  settingsRead.set(env, settings);
  for (const { names, rule } of settings.problems) logEvent("setting_wrong", { names, rule });
  return settings;
}

export function isSetting(name: string): boolean {
  return Object.hasOwn(SCHEMAS, name);
}

export function isSecret(name: string): boolean {
  return isSetting(name) && SECRET.test(name);
}

/**
 * Settings that take rights away. Without such a setting more people may do more, so an empty text is wrong,
 * and a wrong text leaves nobody the right.
 */
const TAKES_RIGHTS: ReadonlySet<Name> = new Set(["ACCESS_WRITERS"]);

/** Reads the settings, also before a deploy. An empty var counts as not set, unless it takes rights away. */
export function readSettings(env: { readonly [name in Name]?: unknown }) {
  const problems: SettingProblem[] = [];
  // wrangler passes a number in wrangler.toml as a number. A secret from a file can begin with a BOM, which
  // `trim` takes away, too.
  const textOf = (name: Name) => String(env[name] ?? "").trim();
  const isSet = (name: Name) => textOf(name) !== "" || (TAKES_RIGHTS.has(name) && env[name] !== undefined);

  /** Returns undefined if the setting is not set, or wrong. */
  function read<N extends Name>(name: N): v.InferOutput<(typeof SCHEMAS)[N]> | undefined {
    if (!isSet(name)) return undefined;
    const { success, output, issues } = v.safeParse(SCHEMAS[name], textOf(name));
    if (success) return output;
    const [{ message, received }] = issues;
    problems.push({ names: name, rule: SECRET.test(name) ? message : `${message}, not ${received}` });
    return undefined;
  }

  /** Returns undefined if neither is set, and "wrong" if one of the two is not set, or wrong. */
  function readBoth<A extends Name, B extends Name, Made>(
    a: A,
    b: B,
    make: (first: v.InferOutput<(typeof SCHEMAS)[A]>, second: v.InferOutput<(typeof SCHEMAS)[B]>) => Made,
  ): Made | "wrong" | undefined {
    if (isSet(a) !== isSet(b)) {
      problems.push({ names: `${a} and ${b}`, rule: "must both be set, or neither" });
    }
    const [first, second] = [read(a), read(b)];
    if (first !== undefined && second !== undefined) return make(first, second);
    return isSet(a) || isSet(b) ? "wrong" : undefined;
  }

  const named = read("ACCESS_WRITERS") ?? (isSet("ACCESS_WRITERS") ? [] : undefined);
  const writers = named?.map(foldLetters);
  const format = read("ALERT_FORMAT") ?? "full";
  const webhook = readBoth(
    "ALERT_WEBHOOK_URL",
    "ALERT_WEBHOOK_SECRET",
    (url, secrets): Webhook => ({ url, secrets, format }),
  );
  // The read token comes first: if both tokens are the same by mistake, the token may only read.
  const tokens = [
    { secret: read("ADMIN_READ_TOKEN"), mayOnlyRead: true },
    { secret: read("ADMIN_TOKEN"), mayOnlyRead: false },
  ].filter((token): token is AdminToken => token.secret !== undefined);

  return {
    problems,
    tokens,
    /** Cloudflare Access in front of the admin API. Undefined if not configured. */
    access: readBoth(
      "ACCESS_TEAM_DOMAIN",
      "ACCESS_AUD",
      (teamDomain, audiences): AccessSettings => ({ teamDomain, audiences, writers }),
    ),
    /** The receiver of alerts. Undefined if not configured, or wrong: no alert is stored. */
    webhook: webhook === "wrong" ? undefined : webhook,
    /** The address of the console, for links in alerts. Undefined if not configured. */
    consoleUrl: read("CONSOLE_URL"),
    /** The console's pages show this name. Undefined if not configured. */
    environmentName: read("ENVIRONMENT_NAME"),
    /** Origins that may call from a browser. By default none may. */
    corsOrigins: read("CORS_ORIGINS") ?? [],
    /** Of the requests that are not always logged, one in so many has a line. 0: none has. */
    logsOneIn: oneIn(read("LOG_REQUESTS") ?? "all"),
    /** A limiter loads an older policy again, behind its answer. */
    policyRefreshSeconds: read("POLICY_REFRESH_SECONDS") ?? 600,
    /** The UTC day at whose start `GET /pets/{petId}` ends. */
    petsSunsetDate: read("PETS_SUNSET_DATE") ?? "2030-12-05",
    /** The base URLs that the OpenAPI document lists as servers. Undefined if not configured. */
    productionBaseUrl: read("PRODUCTION_BASE_URL"),
    stagingBaseUrl: read("STAGING_BASE_URL"),
    /** Clients ask for a key here. Undefined if not configured. */
    supportContact: read("SUPPORT_CONTACT"),
    /**
     * How long rows are kept: audit entries and cancelled orders from when they were written, bans from their
     * planned end. Null if the setting is wrong: no row is deleted, as the operator may mean a longer time.
     */
    retentionDays: {
      audit: retention("AUDIT_RETENTION_DAYS", 730),
      bans: retention("BANS_RETENTION_DAYS", 730),
      cancelledOrders: retention("CANCELLED_ORDERS_RETENTION_DAYS", 730),
      usage: retention("USAGE_RETENTION_DAYS", USAGE_RETENTION_DAYS),
    },
  };

  function retention(name: Name & `${string}_RETENTION_DAYS`, byDefault: number): number | null {
    return isSet(name) ? (read(name) ?? null) : byDefault;
  }
}
