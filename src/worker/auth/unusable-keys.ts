/**
 * The keys that one isolate has found to be revoked, disabled or expired. They are not guesses, so they do not count
 * against the per-IP limit. Each has a token bucket of its own that bounds its D1 queries (ADR-12).
 *
 * Pure: `nowMs` is a parameter.
 */

/** A key that polls faster than one query a second for longer is answered 401 without a query in between. */
export const BUCKET_SIZE = 300;
export const MS_PER_QUERY = 1_000;

/** Some 200 bytes each. */
export const MAX_UNUSABLE_KEYS = 1_000;

type Bucket = { readonly keyId: string; readonly queries: number; readonly atMs: number };

export class UnusableKeys {
  readonly #buckets = new Map<string, Bucket>();

  has(hash: string): boolean {
    return this.#buckets.has(hash);
  }

  /** Of the key that the secret belongs to. */
  idOf(hash: string): string | undefined {
    return this.#buckets.get(hash)?.keyId;
  }

  /** Adds the secret of the key. Drops the oldest one at MAX_UNUSABLE_KEYS. */
  add(hash: string, keyId: string, nowMs: number): void {
    if (this.#buckets.has(hash)) return;
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined && this.#buckets.size >= MAX_UNUSABLE_KEYS) this.#buckets.delete(oldest);
    this.#buckets.set(hash, { keyId, queries: BUCKET_SIZE, atMs: nowMs });
  }

  delete(hash: string): void {
    this.#buckets.delete(hash);
  }

  /** Takes a query from the key's bucket. False when it is empty, true for a key that is not remembered. */
  takeQuery(hash: string, nowMs: number): boolean {
    const bucket = this.#buckets.get(hash);
    if (!bucket) return true;
    const refilled = bucket.queries + Math.max(0, nowMs - bucket.atMs) / MS_PER_QUERY;
    const queries = Math.min(BUCKET_SIZE, refilled);
    const isEmpty = queries < 1;
    // By a clock that was set back, too: otherwise a key that is enabled again would be refused until the old time is reached.
    this.#buckets.set(hash, { ...bucket, queries: isEmpty ? queries : queries - 1, atMs: nowMs });
    return !isEmpty;
  }
}
