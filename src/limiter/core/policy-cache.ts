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
  /** Loads are numbered. An answer up to the outdated one is not used: `forget`, or a newer answer, came first. */
  #loads = 0;
  #outdated = 0;

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
