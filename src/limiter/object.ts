/**
 * The Durable Object that limits one key: load, decide, save. The object has the only count of the key's
 * requests.
 *
 * Once the policy is in memory, the object reads the clock, decides and saves in one synchronous step, so no
 * other request comes between. The output gate holds the answer back until the write is durable.
 */
import { DurableObject } from "cloudflare:workers";
import { countStrikes, NO_PENALTY, pardon } from "./core/bans.ts";
import {
  type Block,
  banOf,
  checkBlock,
  checkPolicy,
  decide,
  limitsAt,
  NOTHING_COUNTED,
  type Policy,
  settleCount,
  type Thresholds,
  type Verdict,
} from "./core/decide.ts";
import { PolicyCache } from "./core/policy-cache.ts";
import { reserveOf } from "./core/reservation.ts";
import { alarmDueAtMs, isOver, lastRequestMs, reportDueAtMs, type State } from "./core/state.ts";
import { NOBODY_WAITS, takeTurn } from "./core/turns.ts";
import {
  acknowledge,
  fail,
  newsDueAtMs,
  PAUSE_MS,
  pendingReport,
  type Report,
  record,
  withReserve,
} from "./core/usage.ts";
import {
  type Cost,
  checkCost,
  checkUnits,
  costIn,
  costsOf,
  countsOf,
  quotaAt,
  spend,
} from "./core/windows.ts";
import type { Inspection, LimiterCall, RateLimiterOptions } from "./object-types.ts";
import { Rounds } from "./rounds.ts";
import { askShared, type Shared, type SharedNamespace, withQuota } from "./shared.ts";
import { Store } from "./store.ts";
import { withTimeout } from "./timeout.ts";

export type { Inspection, LimiterCall, RateLimiterOptions } from "./object-types.ts";

/** A call gives up after this many loads if each load was followed by `forget`. */
const MAX_LOADS = 5;
const LOAD_TIMEOUT_MS = 5_000;
/** A report without an answer for this long has failed, and must not hold up the next report. */
const REPORT_TIMEOUT_MS = 30_000;
const DEFAULT_POLICY_MAX_AGE_MS = 60_000;

type Rules = Pick<LimiterCall, "limits" | "bans" | "cost">;
type PolicyOf = (rules: Rules) => Policy | null;

type Decided = {
  readonly verdict: Verdict;
  readonly call: LimiterCall;
  readonly state: State;
  /** For how many more such requests the stored counts may be ahead: 0 if the state is to be stored at once. */
  readonly reserve: number;
};

export class RateLimiter<Env = unknown> extends DurableObject<Env> {
  /** Returns the key's policy; null if there is no key. Without this method, limits come with each call. */
  protected loadPolicy?(key: string): Promise<Policy | null>;
  /**
   * Gets bans, thresholds and the first request of a UTC day at once. Gets usage again when a figure of the
   * day has doubled, or has grown by a quarter and by 5, at most every five seconds; and in the key's own
   * minute of the next hour. Each report has all that is not reported. Figures are absolute. After a
   * rejection, bans and thresholds come again after 1, 2, 4 and 8 minutes and then every two minutes, and hours
   * in the key's own minute. Hours are kept for two days. Without this method, no usage is kept.
   */
  protected report?(report: Report): Promise<void>;

  readonly #policies: PolicyCache;
  readonly #store: Store;
  readonly #keeps: boolean;
  readonly #isReporting: boolean;
  readonly #thresholds: Thresholds | undefined;
  readonly #shared: SharedNamespace | undefined;
  readonly #rounds: Rounds<LimiterCall, Verdict>;
  #isReportOnItsWay = false;
  /** Set while growth waits for its pause to end. The timer keeps the object in memory. */
  #pause: ReturnType<typeof setTimeout> | undefined;
  #queue = NOBODY_WAITS;

  constructor(ctx: DurableObjectState, env: Env, options: RateLimiterOptions = {}) {
    super(ctx, env);
    const { policyMaxAgeMs = DEFAULT_POLICY_MAX_AGE_MS, keep = false } = options;
    this.#keeps = keep;
    this.#isReporting = this.report !== undefined;
    this.#thresholds = options.thresholds;
    this.#shared = options.shared;
    this.#rounds = new Rounds(
      (calls) => this.#admitShared(calls),
      (run) => ctx.waitUntil(run),
    );
    this.#store = new Store(ctx, (state, nowMs) => alarmDueAtMs(state, this.#key, keep, nowMs));
    this.#policies = new PolicyCache({
      load: () => this.#loadPolicy(),
      withTimeout: (load) => withTimeout(load, LOAD_TIMEOUT_MS, "loadPolicy"),
      maxAgeMs: policyMaxAgeMs,
      refreshMs: options.policyRefreshMs ?? policyMaxAgeMs / 2,
      stored: this.#store.state.loaded,
    });
  }

  /** Decides a request and counts an admitted request. Throws if the load or the write fails. */
  async admit(call: LimiterCall): Promise<Verdict> {
    const verdicts = await this.admitAll([call]);
    return verdicts[0] as Verdict; // one for each call
  }

  /**
   * Decides requests in their order, as so many calls of `admit` would, in one step and with one write. If the
   * write fails, none is admitted. If a call is wrong, throws a RangeError and decides none.
   */
  async admitAll(calls: readonly LimiterCall[]): Promise<readonly Verdict[]> {
    for (const { cost = 1 } of calls) checkCost(cost, 1);
    return this.#withPolicy((policyOf) => {
      if (!this.#rounds.isRunning && this.#sharedBy(policyOf) === undefined)
        return this.#admitAt(Date.now(), calls, policyOf);
      return this.#rounds.join(calls);
    });
  }

  /** Replaces the cost that a request reserved by `cost`, from 0 on. A second call changes nothing. */
  async settle(settleId: string, cost: Cost<string>): Promise<void> {
    checkCost(cost, 0);
    const { state } = this.#store;
    this.#store.adopt({ ...state, ...settleCount(state, settleId, cost) });
  }

  /** Drops the policy. After the call no decision is made by a policy that was loaded before. */
  async forget(): Promise<void> {
    this.#policies.forget();
    this.#store.dropPolicy();
  }

  /** Forgets the counts, the strikes, the ban and the block. Usage that is not reported stays. */
  async reset(): Promise<void> {
    this.#store.save({ ...this.#store.state, ...NOTHING_COUNTED }, Date.now());
  }

  /** Answers each request as banned until the block ends. Replaces an earlier block. */
  async block(block: Block): Promise<void> {
    checkBlock(block);
    this.#store.save({ ...this.#store.state, block }, Date.now());
  }

  /** Ends a block, and a ban for strikes: the next ban has the first length again. */
  async unblock(): Promise<void> {
    this.#store.save({ ...this.#store.state, block: null, penalty: NO_PENALTY }, Date.now());
  }

  /** Returns the present state, or null if there is no policy. Counts nothing and stores nothing. */
  async inspect(call: Pick<LimiterCall, "limits"> = {}): Promise<Inspection | null> {
    return this.#withPolicy((policyOf) => {
      const policy = policyOf({ ...call, cost: {} });
      if (policy === null) return null;
      const nowMs = Date.now();
      const { state } = this.#store;
      const penalty = pardon(state.penalty, policy.pardonedBan);
      return {
        quota: quotaAt(state.counts, limitsAt(policy, nowMs), nowMs),
        facts: policy.facts ?? {},
        ban: banOf(policy, { ...state, penalty }, nowMs) ?? null,
        strikes: countStrikes(penalty, nowMs),
        lastRequestMs: lastRequestMs(state),
      };
    });
  }

  /** Reports everything that is not reported, also of the current hour. Rejects if the report fails. */
  async flush(): Promise<void> {
    await this.#send(Date.now());
  }

  override async alarm(): Promise<void> {
    const dueAtMs = reportDueAtMs(this.#store.state.outbox, this.#key);
    if (dueAtMs !== null && dueAtMs <= Date.now()) await this.#report();
    const nowMs = Date.now();
    const { state } = this.#store;
    if (!this.#keeps && isOver(state, nowMs)) return this.#store.clear();
    this.#store.save({ ...state, alarmAtMs: null }, nowMs);
  }

  /** Waits until a policy is in memory, and then calls `use` in the same synchronous step. */
  async #withPolicy<T>(use: (policyOf: PolicyOf) => T): Promise<T> {
    if (this.loadPolicy === undefined) return use(policyOf);
    for (let loads = 0; ; loads++) {
      const policy = this.#policyAt(Date.now());
      if (policy !== undefined) return use(() => policy);
      if (loads === MAX_LOADS) throw new Error("the policy changes faster than it can be loaded");
      await this.#policies.load(Date.now());
    }
  }

  #policyAt(nowMs: number): Policy | null | undefined {
    const policy = this.#policies.get(nowMs);
    if (policy !== undefined && this.#policies.isDue(nowMs)) {
      // If the load fails, the present policy decides until it is too old.
      this.ctx.waitUntil(this.#refresh(nowMs).catch(() => undefined));
    }
    return policy;
  }

  /** Stores the new policy although no request has come, so that after an eviction no request has to load. */
  async #refresh(nowMs: number): Promise<void> {
    await this.#policies.load(nowMs);
    const { state } = this.#store;
    if (state.loaded !== undefined) this.#store.adopt({ ...state, loaded: this.#policies.loaded });
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

  /** Decides and counts. `shared` has what the shared limiter says about each call. */
  #admitAt(
    nowMs: number,
    calls: readonly LimiterCall[],
    policyOf: PolicyOf,
    shared: readonly Shared[] = [],
  ): readonly Verdict[] {
    const decided = this.#decideAll(nowMs, calls, policyOf, shared);
    this.#save(decided.at(-1)?.state ?? this.#store.state, decided, nowMs);
    this.#reportIfDue(nowMs);
    return decided.map(({ verdict, call }, i) =>
      this.#withTurn(withQuota(verdict, call, shared[i]), call, nowMs),
    );
  }

  #decideAll(
    nowMs: number,
    calls: readonly LimiterCall[],
    policyOf: PolicyOf,
    shared: readonly Shared[] = [],
  ): readonly Decided[] {
    let { state } = this.#store;
    return calls.map((call, i) => {
      const next = this.#decide(state, policyOf(call), call, nowMs, shared[i]?.verdict);
      state = next.state;
      return next;
    });
  }

  /** Only a policy that was loaded names one. */
  #sharedBy(policyOf: PolicyOf): string | undefined {
    return this.#shared && this.loadPolicy && policyOf({})?.shared;
  }

  /**
   * Decides by itself, asks the shared limiter, and counts what both admit, by the policy and the clock of the first
   * decision. Nothing else is decided meanwhile, so nobody has to give a request back. If this object ends before it
   * has counted, the shared limiter has counted requests that were not answered.
   */
  async #admitShared(calls: readonly LimiterCall[]): Promise<readonly Verdict[]> {
    const { nowMs, policyOf, own } = await this.#withPolicy((policyOf) => {
      const nowMs = Date.now();
      return { nowMs, policyOf, own: this.#decideAll(nowMs, calls, policyOf) };
    });
    const name = this.#sharedBy(policyOf);
    const shared = this.#shared && name !== undefined ? await askShared(this.#shared, name, own) : [];
    return this.#admitAt(nowMs, calls, policyOf, shared);
  }

  #decide(before: State, policy: Policy | null, call: LimiterCall, nowMs: number, shared?: Verdict): Decided {
    const { verdict, counters } = decide(before, policy, this.#key, call, nowMs, shared);
    const { lastBan } = counters.penalty;
    // A ban that began, or one that an operator has pardoned.
    const banChanged = lastBan !== before.penalty.lastBan;
    const event = {
      begun: banChanged ? lastBan : null,
      thresholds: policy?.thresholds ?? this.#thresholds,
      credential: policy?.credentials && call.credential,
    };
    const { outbox, hasNews } = this.#isReporting
      ? record(before.outbox, verdict, event, nowMs)
      : { outbox: before.outbox, hasNews: false };
    const isSame = counters === before && outbox === before.outbox;
    const state = isSame ? before : { ...before, ...counters, outbox, loaded: this.#policies.loaded };
    const mustBeExact = banChanged || hasNews;
    return { verdict, call, state, reserve: mustBeExact ? 0 : reserveFor(verdict, call) };
  }

  /** One write at most. Stores counts and usage with a reserve, unless the stored counts cover them. */
  #save(state: State, decided: readonly Decided[], nowMs: number): void {
    const last = decided.findLast(({ verdict }) => verdict.kind === "admitted");
    if (decided.some(({ reserve }) => reserve === 0)) this.#store.save(state, nowMs);
    else if (state === this.#store.state) return;
    else if (last?.verdict.kind !== "admitted" || this.#store.covers(state, last.verdict.quota))
      this.#store.adopt(state);
    else {
      const { verdict, call, reserve } = last;
      const counts = countsOf(spend(verdict.quota, costsOf(call.cost), reserve), state.counts, nowMs);
      this.#store.save(state, nowMs, { counts, outbox: withReserve(state.outbox, reserve) });
    }
  }

  #withTurn(verdict: Verdict, call: LimiterCall, nowMs: number): Verdict {
    const { waitMs } = call;
    if (verdict.kind !== "limited" || waitMs === undefined || verdict.retryAfterMs === null) return verdict;
    const cost = costIn(costsOf(call.cost), verdict.window);
    const { queue, retryAfterMs } = takeTurn(this.#queue, verdict.window, cost, waitMs, nowMs);
    this.#queue = queue;
    return { ...verdict, retryAfterMs };
  }

  /** Reports news now, or sets a timer for growth that waits for its pause. A failed report gets no timer. */
  #reportIfDue(nowMs: number): void {
    if (this.#isReportOnItsWay) return;
    const dueAtMs = newsDueAtMs(this.#store.state.outbox);
    if (dueAtMs === null) return;
    if (dueAtMs <= nowMs) this.ctx.waitUntil(this.#report());
    else if (dueAtMs <= nowMs + PAUSE_MS) {
      this.#pause ??= setTimeout(() => {
        this.#pause = undefined;
        this.#reportIfDue(Date.now());
      }, dueAtMs - nowMs);
    }
  }

  /** Never rejects: the outbox notes a failure, and a request or the alarm repeats the report. */
  async #report(): Promise<void> {
    const startedAtMs = Date.now();
    this.#isReportOnItsWay = true;
    try {
      await withTimeout(this.#send(startedAtMs), REPORT_TIMEOUT_MS, "report");
    } catch {
      const { state } = this.#store;
      this.#store.adopt({ ...state, outbox: fail(state.outbox, startedAtMs) });
    }
    this.#isReportOnItsWay = false;
    this.#reportIfDue(Date.now());
  }

  async #send(nowMs: number): Promise<void> {
    const { outbox } = this.#store.state;
    const report = pendingReport(outbox, this.#key);
    if (report === undefined) return;
    this.#store.saveBeforeReport(nowMs);
    await this.report?.(report);
    const { state } = this.#store;
    const acknowledged = { ...state, outbox: acknowledge(state.outbox, outbox, nowMs) };
    this.#store.saveUnlessFlushed(acknowledged, Date.now());
  }
}

function policyOf({ limits = [], bans, cost }: Rules): Policy {
  const policy = { limits, bans };
  checkPolicy(policy);
  checkUnits(limits, cost);
  return policy;
}

/** A refusal needs no write. Neither a cost that is to be settled nor one above the block saves a later write. */
function reserveFor(verdict: Verdict, { cost, settleId }: LimiterCall): number {
  if (verdict.kind !== "admitted") return Number.POSITIVE_INFINITY;
  return settleId === undefined ? reserveOf(verdict.quota, costsOf(cost)) : 0;
}
