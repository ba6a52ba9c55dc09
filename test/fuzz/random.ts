/** Repeatable random choices: the same seed gives the same inputs, in each version of Node. */

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to below 1. mulberry32, which is short and good enough to choose inputs. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** From 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.#next() * end);
  }

  chance(probability: number): boolean {
    return this.#next() < probability;
  }

  pick<T>(values: readonly T[]): T {
    const value = values[this.below(values.length)];
    if (value === undefined) throw new RangeError("nothing to pick from");
    return value;
  }

  /** Up to `max` values. */
  some<T>(max: number, make: () => T): T[] {
    return Array.from({ length: this.below(max + 1) }, make);
  }

  /** Bytes as Latin-1 text, of any value. */
  bytes(count: number): string {
    return Array.from({ length: count }, () => String.fromCharCode(this.below(256))).join("");
  }

  lettersAndDigits(count: number): string {
    const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    return Array.from({ length: count }, () => this.pick([...alphabet])).join("");
  }
}
