/**
 * One isolate's memory of the keys it has met, by the hash of their secret. A hit may only let a request through:
 * the key's limiter refuses copies that are too old, and a refusal is always read afresh from the database (ADR-4).
 *
 * Pure: `nowMs` comes in.
 */
import type { KeyRecord } from "./key-record.ts";

/** The longest that a change made with plain SQL, which no limiter hears of, takes to hold. */
export const KEY_CACHE_TTL_MS = 60_000;

/** Some 300 bytes each: 3 MB of the isolate's 128. */
export const KEY_CACHE_SIZE = 10_000;

type Entry = { readonly record: KeyRecord; readonly loadedAtMs: number };

export class KeyCache {
  readonly #entries = new Map<string, Entry>();

  /** The record if it was loaded within the last 60 s; a clock that ran backwards makes it unknown. */
  get(hash: string, nowMs: number): KeyRecord | undefined {
    const entry = this.#entries.get(hash);
    if (!entry) return undefined;
    const ageMs = nowMs - entry.loadedAtMs;
    return ageMs >= 0 && ageMs < KEY_CACHE_TTL_MS ? entry.record : undefined;
  }

  /** Whether this isolate has ever let this key through and still remembers, however long ago. */
  has(hash: string): boolean {
    return this.#entries.has(hash);
  }

  set(hash: string, record: KeyRecord, nowMs: number): void {
    this.#entries.delete(hash);
    if (this.#entries.size >= KEY_CACHE_SIZE) this.#dropOldest();
    this.#entries.set(hash, { record, loadedAtMs: nowMs });
  }

  delete(hash: string): void {
    this.#entries.delete(hash);
  }

  #dropOldest(): void {
    for (const hash of this.#entries.keys()) {
      this.#entries.delete(hash);
      return;
    }
  }
}
