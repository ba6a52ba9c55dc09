/** An object's state in memory and in one row, because rows written are what a limiter costs. */
import { covers } from "./core/reservation.ts";
import { NEW_STATE, type Row, rowOf, type State, stateOf } from "./core/state.ts";

/** A subclass may have rows under other names. */
const ROW = "hono-durable-limiter";
/** After one to two of these without a change a burst is over, and the exact state is stored. */
const IDLE_FLUSH_MS = 1_000;
/** An alarm that is this late was lost: the platform drops an alarm that failed several times. */
const ALARM_LOST_AFTER_MS = 600_000;

export type StoreOptions = {
  readonly isDurable: boolean;
  /** When the alarm is due; null for never. */
  readonly alarmDueAtMs: (state: State, nowMs: number) => number | null;
};

export class Store {
  readonly #ctx: DurableObjectState;
  readonly #options: StoreOptions;
  #state: State;
  /** What the row has: not the state while requests are reserved ahead, or a change waits for the flush. */
  #stored: State;
  /** Set while what is stored is not exact. The timer keeps the object in memory until then. */
  #flush: ReturnType<typeof setTimeout> | null = null;
  #hasChangedSinceTimer = false;

  constructor(ctx: DurableObjectState, options: StoreOptions) {
    this.#ctx = ctx;
    this.#options = options;
    const row = ctx.storage.kv.get<Row>(ROW);
    this.#state = row === undefined ? NEW_STATE : stateOf(row);
    this.#stored = this.#state;
  }

  get state(): State {
    return this.#state;
  }

  /** Whether counts need no write: what is stored has reserved them, and at most `reserve` beyond them. */
  covers(state: State, reserve: number): boolean {
    return covers(this.#stored.counts, state.counts, reserve);
  }

  /** Stored with the next save or flush. */
  adopt(state: State): void {
    this.#state = state;
    if (this.#options.isDurable) this.#flushLater();
  }

  /**
   * Stores the state now, or what is reserved `ahead` of it, and sets the alarm. A state that cannot be
   * stored is not adopted: the caller gets an error, and the request must not have been counted.
   */
  save(state: State, nowMs: number, ahead: Partial<State> = {}): void {
    if (!this.#options.isDurable) {
      this.#state = state;
      return;
    }
    const dueAtMs = this.#newAlarmAtMs(state, nowMs);
    const saved = dueAtMs === null ? state : { ...state, alarmAtMs: dueAtMs };
    this.#put({ ...saved, ...ahead });
    if (dueAtMs !== null) this.#ctx.waitUntil(this.#ctx.storage.setAlarm(dueAtMs));
    this.#state = saved;
    if (ahead.counts === undefined) this.#cancelFlush();
    else this.#flushLater();
  }

  saveIfInexact(nowMs: number): void {
    if (this.#flush !== null) this.save(this.#state, nowMs);
  }

  /** Drops the policy from memory and the row, which keeps its reserve. The answer waits for the write. */
  dropPolicy(): void {
    this.#state = { ...this.#state, loaded: undefined };
    if (this.#stored.loaded !== undefined) this.#put({ ...this.#stored, loaded: undefined });
  }

  /** Forgets first: a request that comes during the deletion is counted from zero, and stays counted. */
  async clear(): Promise<void> {
    this.#state = NEW_STATE;
    this.#stored = NEW_STATE;
    this.#cancelFlush();
    await this.#ctx.storage.deleteAll();
  }

  #put(state: State): void {
    this.#ctx.storage.kv.put<Row>(ROW, rowOf(state));
    this.#stored = state;
  }

  /** Null if the alarm that is set is in time. */
  #newAlarmAtMs(state: State, nowMs: number): number | null {
    const dueAtMs = this.#options.alarmDueAtMs(state, nowMs);
    const { alarmAtMs } = state;
    if (dueAtMs === null || alarmAtMs === null) return dueAtMs;
    return alarmAtMs <= dueAtMs && nowMs - alarmAtMs < ALARM_LOST_AFTER_MS ? null : dueAtMs;
  }

  /** One timer for many changes: setting a timer for each change takes longer than the decision. */
  #flushLater(): void {
    this.#hasChangedSinceTimer = true;
    if (this.#flush === null) this.#setTimer();
  }

  #setTimer(): void {
    this.#hasChangedSinceTimer = false;
    this.#flush = setTimeout(() => {
      const isOver = !this.#hasChangedSinceTimer;
      // A save ends this timer. One that fails is repeated.
      this.#setTimer();
      if (isOver) this.save(this.#state, Date.now());
    }, IDLE_FLUSH_MS);
  }

  #cancelFlush(): void {
    if (this.#flush !== null) clearTimeout(this.#flush);
    this.#flush = null;
  }
}
