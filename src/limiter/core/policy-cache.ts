/**
 * The policy in memory. One load at a time. A load that began before `forget` is never used: after `forget` was answered,
 * no decision is made by an older policy.
 *
 * Pure: `nowMs` is a parameter.
 */
import type { Policy } from "./decide.ts";

type Loaded = { readonly policy: Policy | null; readonly startedAtMs: number };

export class PolicyCache {
  readonly #load: () => Promise<Policy | null>;
  readonly #maxAgeMs: number;
  #loaded: Loaded | undefined;
  #loading: Promise<void> | undefined;
  #lastStartMs = Number.NEGATIVE_INFINITY;
  #generation = 0;

  constructor(load: () => Promise<Policy | null>, maxAgeMs: number) {
    this.#load = load;
    this.#maxAgeMs = maxAgeMs;
  }

  /** Undefined if there is none that is young enough: wait for `load`, and ask again. Null: the key does not exist. */
  get(nowMs: number): Policy | null | undefined {
    const loaded = this.#loaded;
    return loaded && ageOf(loaded.startedAtMs, nowMs) <= this.#maxAgeMs ? loaded.policy : undefined;
  }

  /** Whether to load in the background. The age of the last load counts, so a load that failed is not repeated at once. */
  isDue(nowMs: number): boolean {
    return this.#loading === undefined && ageOf(this.#lastStartMs, nowMs) > this.#maxAgeMs / 2;
  }

  /** Joins the load under way. Rejects if the policy cannot be loaded. */
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
      const policy = await this.#load();
      if (generation === this.#generation) this.#loaded = { policy, startedAtMs };
    } finally {
      if (generation === this.#generation) this.#loading = undefined;
    }
  }
}

/** A clock that was set back makes a policy old, not young. */
function ageOf(startedAtMs: number, nowMs: number): number {
  return Math.abs(nowMs - startedAtMs);
}
