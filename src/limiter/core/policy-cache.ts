/**
 * The policy that decides, as it was stored or loaded. A load that began before `forget` is never used: after
 * `forget` was answered, no decision is made by an older policy.
 *
 * Pure: `nowMs` is a parameter.
 */
import type { Policy } from "./decide.ts";

export type Loaded = { readonly policy: Policy | null; readonly startedAtMs: number };

export type PolicyCacheOptions = {
  readonly load: () => Promise<Policy | null>;
  /** Rejects if there is no result in time. The load goes on, and its late answer is used. */
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
  #generation = 0;
  #loads = 0;
  #usedLoad = 0;

  constructor(options: PolicyCacheOptions) {
    this.#options = options;
    this.#loaded = options.stored;
    this.#lastStartMs = options.stored?.startedAtMs ?? Number.NEGATIVE_INFINITY;
  }

  /** What to store, so that the policy outlives the memory. */
  get loaded(): Loaded | undefined {
    return this.#loaded;
  }

  /** Undefined if none is young enough: wait for `load`, and ask again. Null: the key does not exist. */
  get(nowMs: number): Policy | null | undefined {
    const loaded = this.#loaded;
    return loaded && ageOf(loaded, nowMs) <= this.#options.maxAgeMs ? loaded.policy : undefined;
  }

  /** Whether to load in the background. The last load's age counts: a failed one is not repeated at once. */
  isDue(nowMs: number): boolean {
    const last = { startedAtMs: this.#lastStartMs };
    return this.#loading === undefined && ageOf(last, nowMs) > this.#options.refreshMs;
  }

  /** Joins the load under way. Rejects if it fails or takes too long: the next call then starts another. */
  load(nowMs: number): Promise<void> {
    this.#loading ??= this.#start(nowMs);
    return this.#loading;
  }

  forget(): void {
    this.#generation++;
    this.#loaded = undefined;
    this.#loading = undefined;
  }

  async #start(startedAtMs: number): Promise<void> {
    const generation = this.#generation;
    this.#lastStartMs = startedAtMs;
    try {
      await this.#options.withTimeout(this.#load(startedAtMs, ++this.#loads));
    } finally {
      if (generation === this.#generation) this.#loading = undefined;
    }
  }

  /** An answer that is later than that of a newer load is not used. */
  async #load(startedAtMs: number, load: number): Promise<void> {
    const generation = this.#generation;
    const policy = await this.#options.load();
    if (generation !== this.#generation || load < this.#usedLoad) return;
    this.#loaded = { policy, startedAtMs };
    this.#usedLoad = load;
  }
}

/** A clock that was set back makes a policy old, not young. */
function ageOf({ startedAtMs }: Pick<Loaded, "startedAtMs">, nowMs: number): number {
  return Math.abs(nowMs - startedAtMs);
}
