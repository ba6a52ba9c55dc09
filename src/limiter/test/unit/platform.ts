/** What the platform gives a Durable Object, on fake timers: a disk, an alarm, a name, and crashes. */
import type { Row } from "../../core/state.ts";
import type { Counted, Verdict } from "../../index.ts";
import type { RateLimiter } from "../../object.ts";

export type { Counted };

export const KEY = "key_simulated";

type Constructor<T> = new (ctx: DurableObjectState, env: unknown) => T;

export class Platform<T extends RateLimiter> {
  readonly #construct: Constructor<T>;
  /** What is durable, and what the object reads: its writes become durable later, in their order. */
  readonly #disk = new Map<string, string>();
  #rows = new Map<string, string>();
  readonly #durableAfterMs: (() => number) | undefined;
  #writing: Promise<void> = Promise.resolve();
  #alarm: ReturnType<typeof setTimeout> | undefined;
  #object: T | undefined;
  #lives = 0;
  writes = 0;
  /** Whether the storage refuses writes. */
  isReadOnly = false;
  /** Whether the platform loses alarms. */
  losesAlarms = false;

  /** Without `durableAfterMs`, a write is durable at once. */
  constructor(construct: Constructor<T>, durableAfterMs?: () => number) {
    this.#construct = construct;
    this.#durableAfterMs = durableAfterMs;
  }

  /** The output gate: an answer leaves when the writes before it are durable. Rejects after a crash. */
  async answerOf<A>(call: (object: T) => Promise<A>): Promise<A> {
    const life = this.#lives;
    const answer = await call(this.object);
    await this.#writing;
    if (life !== this.#lives) throw new Error("the object has crashed");
    return answer;
  }

  /** The object, which is made when it is first called. */
  get object(): T {
    this.#object ??= new this.#construct(this.#context(), {});
    return this.#object;
  }

  /** What is durable: the newest row. */
  get row(): Row | undefined {
    const [text] = this.#disk.values();
    return text === undefined ? undefined : JSON.parse(text);
  }

  get isEmpty(): boolean {
    return this.#disk.size === 0;
  }

  /** A timer of an object that has crashed can still run here. In workerd such a timer ends with the object. */
  isAlive(object: RateLimiter): boolean {
    return object === this.#object;
  }

  /** Loses what is in memory. What the old object still does has no effect on the disk. */
  crash(): void {
    this.#object = undefined;
    this.#lives++;
    this.#rows = new Map(this.#disk);
    this.#writing = Promise.resolve();
  }

  /** The object starts on rows that another version could have left. */
  changeRow(change: (row: Row) => object): void {
    for (const [name, text] of this.#disk) this.#disk.set(name, JSON.stringify(change(JSON.parse(text))));
    this.crash();
  }

  async #write(name: string, text: string, isAlive: () => boolean, before: Promise<void>): Promise<void> {
    await before;
    await new Promise<void>((resolve) => setTimeout(resolve, this.#durableAfterMs?.()));
    if (isAlive()) this.#disk.set(name, text);
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
          const text = JSON.stringify(value);
          this.#rows.set(name, text);
          this.writes++;
          if (this.#durableAfterMs === undefined) this.#disk.set(name, text);
          else this.#writing = this.#write(name, text, isAlive, this.#writing);
        },
      },
      setAlarm: async (atMs: number) => {
        if (isAlive()) this.#setAlarm(atMs);
      },
      deleteAll: async () => {
        if (!isAlive()) return;
        this.#rows.clear();
        this.#disk.clear();
        clearTimeout(this.#alarm);
      },
    };
    // The package uses these members only.
    return { id: { name: KEY }, storage, waitUntil: () => undefined } as unknown as DurableObjectState;
  }

  #setAlarm(atMs: number): void {
    clearTimeout(this.#alarm);
    if (this.losesAlarms) return;
    if (atMs >= Date.UTC(2190)) throw new TypeError("This API doesn't support dates after 2189.");
    // A longer timer would overflow, and fire at once.
    const delayMs = Math.min(Math.max(0, atMs - Date.now()), 2 ** 31 - 1);
    this.#alarm = setTimeout(() => this.object.alarm(), delayMs);
  }
}

export function counted(verdict: Verdict | undefined): Counted {
  if (verdict === undefined || verdict.kind === "unknown") throw new Error(`unexpected: ${verdict?.reason}`);
  return verdict;
}
