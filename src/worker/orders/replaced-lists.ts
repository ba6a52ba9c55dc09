/** The lists that later ones replaced in the cache, for as long as readers hold them: their chunks are bounded (ADR-6). */
import { bytesOf, MAX_CACHED_LIST_BYTES } from "./order-list-snapshot.ts";
import type { SharedList } from "./shared-list.ts";

/** All chunks that the cached list does not share. With it, or with the one being read: two lists of the largest size. */
export const MAX_REPLACED_BYTES = MAX_CACHED_LIST_BYTES;

type Replaced = {
  /** Without readers it is collected. A reader whose request the runtime cancels gives no notice. */
  readonly list: WeakRef<SharedList>;
  /** Bytes that no later list has, of this one and of those after it that were collected. */
  bytes: number;
};

export class ReplacedLists {
  #oldestFirst: Replaced[] = [];

  /** Counts what the next one does not share, and abandons the oldest lists beyond the bound. */
  add(list: SharedList, next: SharedList | null): void {
    const shared = new Set(next?.snapshot?.chunks);
    const replaced = list.snapshot?.chunks.filter((chunk) => !shared.has(chunk)) ?? [];
    this.#oldestFirst.push({ list: new WeakRef(list), bytes: bytesOf(replaced) });
    this.#forgetCollected();
    let bytes = this.#oldestFirst.reduce((sum, each) => sum + each.bytes, 0);
    while (bytes > MAX_REPLACED_BYTES) {
      const oldest = this.#oldestFirst.shift();
      oldest?.list.deref()?.abandon();
      bytes -= oldest?.bytes ?? bytes;
    }
  }

  /** An earlier list may share the chunks of a collected one. */
  #forgetCollected(): void {
    const held: Replaced[] = [];
    for (const each of this.#oldestFirst) {
      const earlier = held.at(-1);
      if (each.list.deref()) held.push(each);
      else if (earlier) earlier.bytes += each.bytes;
    }
    this.#oldestFirst = held;
  }
}
