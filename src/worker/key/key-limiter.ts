/** The Durable Object of one key, or of a customer with a limit: the package's limiter, with D1 (ADR-4, ADR-42). */
import {
  type Inspection,
  type Limit,
  type Policy,
  perDay,
  perMinute,
  RateLimiter,
  type Report,
  type SharedNamespace,
} from "hono-durable-limiter";
import { type DatabaseEnv, openDatabase } from "../db/database.ts";
import { schemaProblemBehind } from "../db/schema-problem.ts";
import { logError, logEvent } from "../platform/log.ts";
import { settingsOf } from "../platform/settings.ts";
import { withDeadline } from "../platform/with-timeout.ts";
import { nowSeconds } from "../text/time.ts";
import { alertStatements, banStarted, usageReached } from "./alerts.ts";
import { isCustomerId } from "./key.ts";
import {
  type CustomerPolicyRow,
  type KeyPolicyRow,
  loadCustomerPolicy,
  loadKeyPolicy,
  writeReport,
} from "./key-policy-sql.ts";
import {
  type KeeperEnv,
  noteUnreported,
  type Unreported,
  type UnreportedKey,
  type UnreportedKeys,
} from "./unreported-keys.ts";
import { CUSTOMER_WINDOWS } from "./windows.ts";

/** The beginning of the names of rows beside the package's own row. */
const UNREPORTED = "unreported:";

const ALERTS_OF_CUSTOMERS = { window: CUSTOMER_WINDOWS.day, percents: [80, 100] };

/** A report that hangs is noted before the package gives it up, after 30 seconds. */
const REPORT_DEADLINE_MS = 20_000;

type Env = DatabaseEnv & KeeperEnv & { readonly KEY_LIMITER: SharedNamespace };

export abstract class KeyLimiterBase extends RateLimiter<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, {
      policyMaxAgeMs: 86_400_000, // limiters are told of changes, so only an outage of D1 makes a policy old
      policyRefreshMs: settingsOf(env).policyRefreshSeconds * 1000,
      keep: true,
      shared: env.KEY_LIMITER,
    });
  }

  /** Called once alerts are stored. The entry point sends them: a limiter imports no code of the operator. */
  protected abstract alertsStored(): void;

  override async loadPolicy(id: string): Promise<Policy | null> {
    const db = openDatabase(this.env.DB);
    try {
      if (isCustomerId(id)) return policyOfCustomer(await loadCustomerPolicy(db, id));
      const row = await loadKeyPolicy(db, id, nowSeconds());
      return row ? policyOf(row) : null;
    } catch (thrown) {
      // A load in the background fails unseen, and the stored policy decides for up to a day.
      logError("policy_not_loaded", thrown, { keyId: id });
      await schemaProblemBehind(this.env, thrown);
      throw thrown;
    }
  }

  override async report(report: Report): Promise<void> {
    const { key, hours, bans, thresholds } = report;
    const isOfKey = !isCustomerId(key);
    // The use of a customer is that of its keys.
    const stored = isOfKey ? report : { ...report, hours: [] };
    try {
      const events = [...bans.map(banStarted), ...thresholds.map((reached) => usageReached(key, reached))];
      const alerts = events.flatMap((event) => alertStatements(this.env, key, event));
      await withDeadline(writeReport(openDatabase(this.env.DB), stored, alerts), REPORT_DEADLINE_MS);
      if (alerts.length > 0) this.alertsStored();
      for (const { id, strikes } of bans) logEvent("ban_started", { keyId: key, ban: id, strikes });
      for (const { percent, window } of thresholds)
        logEvent("usage_reached", { keyId: key, percent, used: window.used, limit: window.limit });
    } catch (thrown) {
      logError("usage_report_failed", thrown, { keyId: key, hours: hours.length });
      const sinceMs = hours[0]?.startMs ?? Date.now();
      if (isOfKey) this.ctx.waitUntil(noteUnreported(this.env, { id: key, sinceMs }));
      throw thrown;
    }
  }

  /** Both in one call, for a page. A report that fails is logged, and the page shows the rest. */
  async flushAndInspect(): Promise<Inspection | null> {
    await this.flush().catch(() => undefined);
    return this.inspect();
  }

  /** The object that no key has keeps the keys of `unreported-keys.ts`. */
  async noteUnreported(key: Unreported): Promise<void> {
    const { kv } = this.ctx.storage;
    const before = kv.get<UnreportedKey>(UNREPORTED + key.id);
    const sinceMs = Math.min(key.sinceMs, before?.sinceMs ?? key.sinceMs);
    const notedAtMs = Math.max(Date.now(), (before?.notedAtMs ?? 0) + 1);
    kv.put(UNREPORTED + key.id, { location: null, ...before, ...key, sinceMs, notedAtMs });
  }

  async listUnreported(max: number): Promise<UnreportedKeys> {
    const rows = this.ctx.storage.kv.list<UnreportedKey>({ prefix: UNREPORTED });
    const keys = Array.from(rows, ([, key]) => key).sort((a, b) => a.notedAtMs - b.notedAtMs);
    const sinceMs = keys.length === 0 ? null : Math.min(...keys.map((key) => key.sinceMs));
    return { count: keys.length, sinceMs, keys: keys.slice(0, max) };
  }

  /** A key that was noted again meanwhile stays. */
  async dropUnreported(keys: readonly UnreportedKey[]): Promise<void> {
    const { kv } = this.ctx.storage;
    for (const { id, notedAtMs } of keys)
      if (kv.get<UnreportedKey>(UNREPORTED + id)?.notedAtMs === notedAtMs) kv.delete(UNREPORTED + id);
  }
}

function policyOf(row: KeyPolicyRow): Policy {
  // `loadKeyPolicy` wrote this text, so the type is known.
  const secrets = JSON.parse(row.secrets) as [hash: string, expiresAt: number | null][];
  return {
    limits: limitsOf(row.perMinute, row.perDay),
    later:
      row.laterFrom === null
        ? undefined
        : { fromMs: row.laterFrom * 1000, limits: limitsOf(row.laterPerMinute, row.laterPerDay) },
    bans: {},
    credentials: secrets.map(([hash, expiresAt]) => ({
      hash,
      expiresAtMs: expiresAt === null ? null : expiresAt * 1000,
    })),
    refused: row.status === "active" ? undefined : row.status,
    blocked:
      row.bannedUntil === null ? undefined : { endsAtMs: row.bannedUntil * 1000, reason: row.banReason },
    pardonedBan: row.pardonedBanId ?? undefined,
    // The table of plans takes a list only.
    thresholds: { window: "day", percents: JSON.parse(row.alertPercents ?? "[]") as number[] },
    facts: { plan: row.plan, mayCancel: row.mayCancel === 1 },
    shared: row.shared ?? undefined,
  };
}

/** No bans: one key would end the requests of all. */
function policyOfCustomer(row: CustomerPolicyRow | undefined): Policy | null {
  const { perMinute: minute = null, perDay: day = null } = row ?? {};
  const limits = [
    ...(minute === null ? [] : [{ ...perMinute(minute), name: CUSTOMER_WINDOWS.minute }]),
    ...(day === null ? [] : [{ ...perDay(day), name: CUSTOMER_WINDOWS.day }]),
  ];
  return limits.length === 0 ? null : { limits, thresholds: ALERTS_OF_CUSTOMERS };
}

/** A revoked key may have no limits left, and a policy must have limits. */
function limitsOf(requestsPerMinute: number, requestsPerDay: number): readonly Limit[] {
  return [perMinute(Math.max(1, requestsPerMinute)), perDay(Math.max(1, requestsPerDay))];
}
