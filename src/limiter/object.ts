/**
 * The Durable Object that limits one key: load, decide, save. It has the only count of the key's requests.
 *
 * Once the policy is in memory, reading the clock, deciding and saving are one synchronous step, so no other request comes
 * between. The output gate holds the answer back until the write is durable.
 */
import { DurableObject } from "cloudflare:workers";
import { type BanRule, countStrikes, pardon } from "./core/bans.ts";
import {
  type Banned,
  banOf,
  checkPolicy,
  decide,
  type Facts,
  limitsAt,
  type Policy,
  type Request,
  type Verdict,
} from "./core/decide.ts";
import { PolicyCache } from "./core/policy-cache.ts";
import { reserveOf } from "./core/reservation.ts";
import { alarmDueAtMs, isOver, type State } from "./core/state.ts";
import { acknowledge, pendingReport, type Report, record } from "./core/usage.ts";
import { countsOf, type Limit, type Quota, quotaAt, spend } from "./core/windows.ts";
import { Store } from "./store.ts";

/** A call that has waited for so many loads, each forgotten, gives up. */
const MAX_LOADS = 5;
const DEFAULT_POLICY_MAX_AGE_MS = 60_000;

export type RateLimiterOptions = {
  /** No decision is made by a policy that was loaded longer ago. From half of that on it is loaded in the background. */
  readonly policyMaxAgeMs?: number;
  /** Never delete the storage of an idle object. */
  readonly keep?: boolean;
  /** "memory" stores and reports nothing: an eviction, which comes after ten idle seconds, forgets counts and bans. */
  readonly durability?: "durable" | "memory";
};

/** The limits of a call count only if the class has no `loadPolicy`. */
export type Call = Request & {
  readonly limits?: readonly Limit[] | undefined;
  readonly bans?: BanRule | undefined;
};

/** The present state of a key. Looking at it counts nothing. */
export type Inspection = {
  readonly quota: Quota;
  readonly facts: Facts;
  /** What a request would be refused by. */
  readonly ban: Banned["ban"] | null;
  readonly strikes: number;
};

export class RateLimiter<Env = unknown> extends DurableObject<Env> {
  /** Limits and more that the key has now; null for a key that does not exist. Without it, limits come with each call. */
  protected loadPolicy?(key: string): Promise<Policy | null>;
  /**
   * Gets each hour's usage after its end, in a minute of the next hour that differs from key to key, and each ban at once. Figures are
   * absolute. At least once: if it rejects, the report is repeated a minute later. Without it, no usage is kept.
   */
  protected report?(report: Report): Promise<void>;

  readonly #policies: PolicyCache;
  readonly #store: Store;
  readonly #keeps: boolean;
  readonly #isReporting: boolean;

  constructor(ctx: DurableObjectState, env: Env, options: RateLimiterOptions = {}) {
    super(ctx, env);
    const { policyMaxAgeMs = DEFAULT_POLICY_MAX_AGE_MS, keep = false, durability = "durable" } = options;
    const isDurable = durability === "durable";
    this.#policies = new PolicyCache(() => this.#loadPolicy(), policyMaxAgeMs);
    this.#keeps = keep;
    this.#isReporting = this.report !== undefined && isDurable;
    const dueAtMs = (state: State, nowMs: number) => alarmDueAtMs(state, this.#key, keep, nowMs);
    this.#store = new Store(ctx, { isDurable, alarmDueAtMs: dueAtMs });
  }

  /** Decides one request, and counts it if admitted. Throws if the policy cannot be loaded, or the count not be stored. */
  async admit(call: Call): Promise<Verdict> {
    return this.#withPolicy(call, (policy) => this.#decide(policy, call, Date.now()));
  }

  /** Drops the policy in memory. Once this has returned, no decision is made by a policy that was loaded before. */
  async forget(): Promise<void> {
    this.#policies.forget();
  }

  /** Counts nothing and stores nothing. Null if there is no policy. */
  async inspect(call: Pick<Call, "limits"> = {}): Promise<Inspection | null> {
    return this.#withPolicy(call, (policy) => {
      if (policy === null) return null;
      const nowMs = Date.now();
      const { counts } = this.#store.state;
      const penalty = pardon(this.#store.state.penalty, policy.pardonedBan);
      return {
        quota: quotaAt(counts, limitsAt(policy, nowMs), nowMs),
        facts: policy.facts ?? {},
        ban: banOf(policy, penalty, nowMs) ?? null,
        strikes: countStrikes(penalty, nowMs),
      };
    });
  }

  /** Reports what is not reported, the current hour included. Rejects if the report does. */
  async flush(): Promise<void> {
    await this.#send(true);
  }

  override async alarm(): Promise<void> {
    // A report that failed is repeated by the next alarm, which the save below sets.
    await this.#send(false).catch(() => undefined);
    const nowMs = Date.now();
    const { state } = this.#store;
    if (!this.#keeps && isOver(state, nowMs)) await this.#store.clear();
    else this.#store.save({ ...state, alarmAtMs: null }, nowMs);
  }

  /** Waits until a policy is in memory, and then calls `use` in the same synchronous step. */
  async #withPolicy<T>(call: Pick<Call, "limits" | "bans">, use: (policy: Policy | null) => T): Promise<T> {
    for (let loads = 0; ; loads++) {
      const policy = this.#policyOf(call);
      if (policy !== undefined) return use(policy);
      if (loads === MAX_LOADS) throw new Error("the policy changes faster than it can be loaded");
      await this.#policies.load(Date.now());
    }
  }

  #policyOf({ limits, bans }: Pick<Call, "limits" | "bans">): Policy | null | undefined {
    if (this.loadPolicy === undefined) {
      const policy = { limits: limits ?? [], bans };
      checkPolicy(policy);
      return policy;
    }
    const nowMs = Date.now();
    const policy = this.#policies.get(nowMs);
    if (policy !== undefined && this.#policies.isDue(nowMs)) {
      // If it fails, the policy in memory is used until it is too old.
      this.ctx.waitUntil(this.#policies.load(nowMs).catch(() => undefined));
    }
    return policy;
  }

  async #loadPolicy(): Promise<Policy | null> {
    const policy = (await this.loadPolicy?.(this.#key)) ?? null;
    if (policy !== null) checkPolicy(policy);
    return policy;
  }

  get #key(): string {
    const { name } = this.ctx.id;
    if (name === undefined) throw new Error("address the limiter by a name of at most 1,024 bytes");
    return name;
  }

  #decide(policy: Policy | null, call: Call, nowMs: number): Verdict {
    const before = this.#store.state;
    const { verdict, counters } = decide(before, policy, this.#key, call, nowMs);
    const hasNewBan = counters.penalty.lastBan !== before.penalty.lastBan;
    const begun = hasNewBan ? counters.penalty.lastBan : null;
    const outbox = this.#isReporting ? record(before.outbox, verdict, begun, nowMs) : before.outbox;
    const isChanged = counters !== before || outbox !== before.outbox;
    const state = { ...before, ...counters, outbox };
    if (hasNewBan) this.#store.save(state, nowMs);
    else if (verdict.kind === "admitted") this.#saveAdmitted(state, verdict.quota, nowMs);
    else if (isChanged) this.#store.adopt(state);
    // If it fails, the alarm repeats it.
    if (begun) this.ctx.waitUntil(this.#send(false).catch(() => undefined));
    return verdict;
  }

  /** Stores the counts with a reserve, unless what is stored covers them. */
  #saveAdmitted(state: State, quota: Quota, nowMs: number): void {
    const reserve = reserveOf(quota);
    if (this.#store.covers(state.counts)) this.#store.adopt(state);
    else if (reserve === 0) this.#store.save(state, nowMs);
    else this.#store.save(state, nowMs, countsOf(spend(quota, reserve), state.counts, nowMs));
  }

  /** Stores what it reports first: after a crash the figures of an hour are never lower than those reported. */
  async #send(isAll: boolean): Promise<void> {
    const nowMs = Date.now();
    const report = pendingReport(this.#store.state.outbox, this.#key, nowMs, isAll);
    if (report === undefined) return;
    this.#store.saveIfInexact(nowMs);
    await this.report?.(report);
    const { state } = this.#store;
    this.#store.adopt({ ...state, outbox: acknowledge(state.outbox, report) });
  }
}
