/** The Durable Object of one key: the package's limiter with the key's policy in D1 (ADR-4), its reports, and a bookmark (ADR-19). */
import {
  type Call,
  type Limit,
  type Policy,
  perDay,
  perMinute,
  RateLimiter,
  type Report,
  type Verdict,
} from "../limiter/index.ts";
import { banStarted, type DayUse, usageReached, usageThreshold } from "./admin/alerts/alert.ts";
import { deliverSoon } from "./admin/alerts/deliver.ts";
import { alertStatements } from "./admin/alerts/service.ts";
import { type Bindings, settingsOf } from "./context.ts";
import { openDatabase, transact } from "./db/database.ts";
import { type KeyPolicyRow, loadKeyPolicy, writeReport } from "./db/key-policy-repository.ts";
import { logError, logEvent } from "./log.ts";
import { nowSeconds } from "./time.ts";
import { withTimeout } from "./with-timeout.ts";

/** A row of its own beside the package's. */
const BOOKMARK = "bookmark";

const LOAD_TIMEOUT_MS = 5_000;

export class KeyLimiter extends RateLimiter<Bindings> {
  #bookmark: string | undefined;
  /** The day and the threshold of the last alert of the key's usage. */
  #usageAlert = "";

  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env, { policyMaxAgeMs: settingsOf(env).policyMaxAgeSeconds * 1000, keep: true });
    this.#bookmark = ctx.storage.kv.get<string>(BOOKMARK);
  }

  override async loadPolicy(id: string): Promise<Policy | null> {
    // A load that never ends would be joined by every later request.
    const load = loadKeyPolicy(openDatabase(this.env.DB), id, nowSeconds());
    const row = await withTimeout(load, LOAD_TIMEOUT_MS);
    return row ? policyOf(row) : null;
  }

  override async report({ key, hours, bans }: Report): Promise<void> {
    try {
      const alerts = bans.flatMap((ban) => alertStatements(this.env, key, banStarted(ban)));
      await writeReport(openDatabase(this.env.DB), key, hours, bans, alerts);
      if (alerts.length > 0) deliverSoon(this.env);
      for (const { id, strikes } of bans) logEvent("ban_started", { keyId: key, ban: id, strikes });
    } catch (thrown) {
      logError("usage_report_failed", thrown, { keyId: key });
      throw thrown;
    }
  }

  /** The verdict's facts have the bookmark of the key's last cancel. */
  override async admit(call: Call): Promise<Verdict> {
    const verdict = await super.admit(call);
    this.#alertOfUsage(verdict);
    if (this.#bookmark === undefined || verdict.kind !== "admitted") return verdict;
    return { ...verdict, facts: { ...verdict.facts, bookmark: this.#bookmark } };
  }

  /** Once for each day and threshold. One that could not be stored is repeated with the next request. */
  #alertOfUsage(verdict: Verdict): void {
    const day = verdict.kind === "unknown" ? undefined : verdict.quota.find(({ name }) => name === "day");
    const percent = day && usageThreshold(day);
    if (day === undefined || percent === undefined) return;
    const name = `${day.startMs} ${percent}`;
    if (name === this.#usageAlert || settingsOf(this.env).webhook === undefined) return;
    this.#usageAlert = name;
    this.ctx.waitUntil(
      this.#storeUsageAlert(percent, day).catch((thrown) => {
        this.#usageAlert = "";
        logError("usage_alert_not_stored", thrown, { keyId: this.ctx.id.name ?? "" });
      }),
    );
  }

  async #storeUsageAlert(percent: 80 | 100, day: DayUse): Promise<void> {
    const { name: id = "" } = this.ctx.id;
    const alert = usageReached(id, percent, day, nowSeconds());
    // An object that has started again stores it again: the alert's id is that of the day.
    await transact(openDatabase(this.env.DB), alertStatements(this.env, id, alert));
    deliverSoon(this.env);
  }

  /** The key's next list, wherever it arrives, reads this state of D1 or a later one. Bookmarks of one database sort as text. */
  async remember(bookmark: string): Promise<void> {
    if (this.#bookmark !== undefined && bookmark <= this.#bookmark) return;
    this.ctx.storage.kv.put(BOOKMARK, bookmark);
    this.#bookmark = bookmark;
  }
}

function policyOf(row: KeyPolicyRow): Policy {
  // `loadKeyPolicy` made this text.
  const secrets = JSON.parse(row.secrets) as [hash: string, expiresAt: number | null][];
  return {
    limits: limitsOf(row.perMinute, row.perDay),
    later:
      row.temporaryUntil === null
        ? undefined
        : {
            fromMs: row.temporaryUntil * 1000,
            limits: limitsOf(row.permanentPerMinute, row.permanentPerDay),
          },
    bans: {},
    credentials: secrets.map(([hash, expiresAt]) => ({
      hash,
      expiresAtMs: expiresAt === null ? null : expiresAt * 1000,
    })),
    refused: row.status === "active" ? undefined : row.status,
    blocked:
      row.bannedUntil === null ? undefined : { endsAtMs: row.bannedUntil * 1000, reason: row.banReason },
    pardonedBan: row.pardonedBanId ?? undefined,
    facts: { plan: row.plan },
  };
}

/** A revoked key may have lost its limits, and a policy must have some. */
function limitsOf(requestsPerMinute: number, requestsPerDay: number): readonly Limit[] {
  return [perMinute(Math.max(1, requestsPerMinute)), perDay(Math.max(1, requestsPerDay))];
}
