/** What the platform gives a Durable Object, on vitest's fake timers: a disk, an alarm, a name, and crashes. */
import type { Counted, Verdict } from "../../../src/limiter/index.ts";
import type { RateLimiter } from "../../../src/limiter/object.ts";

export type { Counted };

export const KEY = "key_simulated";

type Constructor<T> = new (ctx: DurableObjectState, env: unknown) => T;

export class Platform<T extends RateLimiter> {
  readonly #construct: Constructor<T>;
  #rows = new Map<string, string>();
  #alarm: ReturnType<typeof setTimeout> | undefined;
  #object: T | undefined;
  #lives = 0;
  writes = 0;
  /** Whether the storage refuses writes. */
  isReadOnly = false;

  constructor(construct: Constructor<T>) {
    this.#construct = construct;
  }

  /** The object, which is made when it is first called. */
  get object(): T {
    this.#object ??= new this.#construct(this.#context(), {});
    return this.#object;
  }

  get isEmpty(): boolean {
    return this.#rows.size === 0;
  }

  /** Loses what is in memory. What the old object still does has no effect on the disk. */
  crash(): void {
    this.#object = undefined;
    this.#lives++;
  }

  #context(): DurableObjectState {
    const mine = this.#lives;
    const isAlive = () => mine === this.#lives;
    const storage = {
      kv: {
        get: (name: string) => JSON.parse(this.#rows.get(name) ?? "null") ?? undefined,
        put: (name: string, value: unknown) => {
          if (this.isReadOnly) throw new Error("the storage cannot be written");
          if (!isAlive()) return;
          this.#rows.set(name, JSON.stringify(value));
          this.writes++;
        },
      },
      setAlarm: async (atMs: number) => {
        if (isAlive()) this.#setAlarm(atMs);
      },
      deleteAll: async () => {
        if (!isAlive()) return;
        this.#rows.clear();
        clearTimeout(this.#alarm);
      },
    };
    // The package uses these members only.
    return { id: { name: KEY }, storage, waitUntil: () => undefined } as unknown as DurableObjectState;
  }

  #setAlarm(atMs: number): void {
    clearTimeout(this.#alarm);
    this.#alarm = setTimeout(() => this.object.alarm(), Math.max(0, atMs - Date.now()));
  }
}

/** A linear congruential generator, as in Numerical Recipes: repeatable, and good enough for gaps. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export function counted(verdict: Verdict): Counted {
  if (verdict.kind === "unknown") throw new Error(`unexpected: ${verdict.reason}`);
  return verdict;
}
