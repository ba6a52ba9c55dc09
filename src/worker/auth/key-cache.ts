/**
 * One isolate's cache of key records, by the hash of the secret. A hit may only admit a request: the key's limiter
 * answers `stale` to a record that is too old, and a refusal is always read from D1 (ADR-4).
 *
 * Pure: `nowMs` is a parameter.
 */
import type { KeyRecord } from "./key-record.ts";

/** A change made with plain SQL, of which no limiter is notified, takes effect within this time. */
export const KEY_CACHE_TTL_MS = 60_000;

/** Some 540 bytes each with short names, up to 1,444 with the longest: 5 to 14 MB of the isolate's 128. */
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

  /** The id of the key if the cache has its record, also one that is too old for `get`. */
  idOf(hash: string): string | undefined {
    return this.#entries.get(hash)?.record.id;
  }

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
