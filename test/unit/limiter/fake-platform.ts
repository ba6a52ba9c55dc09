/** What the platform gives a Durable Object, on fake timers: a disk, an alarm that may be late, and crashes. */
import type { Bindings } from "../../../src/worker/context.ts";
import type { KeyLimiter } from "../../../src/worker/limiter/key-limiter.ts";

type Constructor = new (ctx: DurableObjectState, env: Bindings) => KeyLimiter;

export class FakePlatform {
  readonly #construct: Constructor;
  #row: string | undefined;
  #alarm: ReturnType<typeof setTimeout> | undefined;
  #limiter: KeyLimiter | undefined;
  #living = 0;
  /** How late alarms are. */
  alarmDelayMs = 0;
  alarmAtMs: number | null = null;
  deletions = 0;
  /** Whether the storage refuses writes. */
  isReadOnly = false;

  constructor(construct: Constructor) {
    this.#construct = construct;
  }

  /** The object, which is made when it is first called. */
  get limiter(): KeyLimiter {
    // The limiter passes its bindings to D1 only, which the test replaces.
    this.#limiter ??= new this.#construct(this.#context(), {} as Bindings);
    return this.#limiter;
  }

  get isEmpty(): boolean {
    return this.#row === undefined;
  }

  /** Loses what is in memory. What the old object still does has no effect. */
  crash(): void {
    this.#limiter = undefined;
    this.#living++;
  }

  #context(): DurableObjectState {
    const mine = this.#living;
    const isAlive = () => mine === this.#living;
    const storage = {
      sql: { exec: (query: string, state = "") => this.#exec(query, state, isAlive()) },
      setAlarm: async (atMs: number) => {
        if (isAlive()) this.#setAlarm(atMs);
      },
      deleteAll: async () => {
        if (!isAlive()) return;
        this.#row = undefined;
        this.deletions++;
        clearTimeout(this.#alarm);
      },
    };
    // The limiter uses these members only.
    return { storage, waitUntil: () => undefined } as unknown as DurableObjectState;
  }

  #exec(query: string, state: string, isAlive: boolean) {
    if (query.startsWith("insert") && this.isReadOnly) throw new Error("the storage cannot be written");
    if (query.startsWith("insert") && isAlive) this.#row = state;
    return {
      toArray: () => (query.startsWith("select") && this.#row !== undefined ? [{ state: this.#row }] : []),
    };
  }

  #setAlarm(atMs: number): void {
    clearTimeout(this.#alarm);
    this.alarmAtMs = atMs;
    const delayMs = Math.max(0, atMs - Date.now()) + this.alarmDelayMs;
    this.#alarm = setTimeout(() => {
      this.alarmAtMs = null;
      return this.limiter.alarm();
    }, delayMs);
  }
}
