/**
 * The policy in force, from storage or from a load. The result of a load that began before `forget` is never
 * used, so after `forget` has returned no decision is made by an older policy.
 *
 * Pure: `nowMs` is a parameter.
 */
import type { Policy } from "./decide.ts";

export type Loaded = { readonly policy: Policy | null; readonly startedAtMs: number };

export type PolicyCacheOptions = {
  readonly load: () => Promise<Policy | null>;
  /** Rejects if there is no result in time. The load goes on, and its late result is used. */
  readonly withTimeout: (load: Promise<void>) => Promise<void>;
  readonly maxAgeMs: number;
  readonly refreshMs: number;
  readonly stored: Loaded | undefined;
};

export class PolicyCache {
  readonly #options: PolicyCacheOptions;
  #loaded: Loaded | undefined;
  #loading: Promise<void> | undefined;
  #lastStartMs: number;
  /** Loads are numbered. After `forget` or a result, the results of loads up to `#outdated` are not used. */
  #loads = 0;
  #outdated = 0;

  constructor(options: PolicyCacheOptions) {
    this.#options = options;
    this.#loaded = options.stored;
    this.#lastStartMs = options.stored?.startedAtMs ?? Number.NEGATIVE_INFINITY;
  }

  /** The policy to store with the counts, so that an eviction does not forget the policy. */
  get loaded(): Loaded | undefined {
    return this.#loaded;
  }

  /** Returns undefined without a policy that is young enough: await `load`, then ask again. Null: no key. */
  get(nowMs: number): Policy | null | undefined {
    const loaded = this.#loaded;
    return loaded && ageOf(loaded, nowMs) <= this.#options.maxAgeMs ? loaded.policy : undefined;
  }

  /** Whether to load in the background. A load that failed counts too, so it is not repeated at once. */
  isDue(nowMs: number): boolean {
    const last = { startedAtMs: this.#lastStartMs };
    return this.#loading === undefined && ageOf(last, nowMs) > this.#options.refreshMs;
  }

  /** Joins the load under way, or starts a load. Rejects if the load fails or takes too long. */
  load(nowMs: number): Promise<void> {
    this.#loading ??= this.#start(nowMs);
    return this.#loading;
  }

  forget(): void {
    this.#outdated = this.#loads;
    this.#loaded = undefined;
    this.#loading = undefined;
  }

  async #start(startedAtMs: number): Promise<void> {
    const load = ++this.#loads;
    this.#lastStartMs = startedAtMs;
    try {
      await this.#options.withTimeout(this.#load(startedAtMs, load));
    } finally {
      // After a `forget` a newer load may be under way: the next call then begins one load too many.
      this.#loading = undefined;
    }
  }

  async #load(startedAtMs: number, load: number): Promise<void> {
    const policy = await this.#options.load();
    if (load <= this.#outdated) return;
    this.#loaded = { policy, startedAtMs };
    this.#outdated = load;
  }
}

/** A clock that was set back makes a policy old, not young. */
function ageOf({ startedAtMs }: Pick<Loaded, "startedAtMs">, nowMs: number): number {
  return Math.abs(nowMs - startedAtMs);
}
