/** An object's state in memory and in one row, because rows written are what a limiter costs. */
import { covers } from "./core/reservation.ts";
import { NEW_STATE, type State } from "./core/state.ts";
import type { Count } from "./core/windows.ts";

/** A subclass may have rows under other names. */
const ROW = "hono-durable-limiter";
/** After this long without a change a burst is over, and the exact state is stored. */
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
  #storedCounts: readonly Count[];
  /** Set while what is stored is not exact. The timer keeps the object in memory until then. */
  #idleFlush: ReturnType<typeof setTimeout> | null = null;

  constructor(ctx: DurableObjectState, options: StoreOptions) {
    this.#ctx = ctx;
    this.#options = options;
    this.#state = ctx.storage.kv.get<State>(ROW) ?? NEW_STATE;
    this.#storedCounts = this.#state.counts;
  }

  get state(): State {
    return this.#state;
  }

  /** Whether counts need no write: what is stored has reserved them. */
  covers(counts: readonly Count[]): boolean {
    return covers(this.#storedCounts, counts);
  }

  /** Stored with the next save or idle flush. */
  adopt(state: State): void {
    this.#state = state;
    if (this.#options.isDurable) this.#flushLater();
  }

  /**
   * Stores the state now, with `counts` that are reserved, and sets the alarm. A state that cannot be stored is not adopted: the caller gets
   * an error, and the request must not have been counted.
   */
  save(state: State, nowMs: number, counts = state.counts): void {
    if (!this.#options.isDurable) {
      this.#state = state;
      return;
    }
    const dueAtMs = this.#newAlarmAtMs(state, nowMs);
    const saved = dueAtMs === null ? state : { ...state, alarmAtMs: dueAtMs };
    this.#ctx.storage.kv.put<State>(ROW, { ...saved, counts });
    if (dueAtMs !== null) this.#ctx.waitUntil(this.#ctx.storage.setAlarm(dueAtMs));
    this.#state = saved;
    this.#storedCounts = counts;
    this.#cancelFlush();
    if (counts !== state.counts) this.#flushLater();
  }

  saveIfInexact(nowMs: number): void {
    if (this.#idleFlush !== null) this.save(this.#state, nowMs);
  }

  /** Forgets first, so that a request which comes during the deletion is counted from zero, and stays counted. */
  async clear(): Promise<void> {
    this.#state = NEW_STATE;
    this.#storedCounts = NEW_STATE.counts;
    this.#cancelFlush();
    await this.#ctx.storage.deleteAll();
  }

  /** Null if the alarm that is set is in time. */
  #newAlarmAtMs(state: State, nowMs: number): number | null {
    const dueAtMs = this.#options.alarmDueAtMs(state, nowMs);
    const { alarmAtMs } = state;
    if (dueAtMs === null || alarmAtMs === null) return dueAtMs;
    return alarmAtMs <= dueAtMs && nowMs - alarmAtMs < ALARM_LOST_AFTER_MS ? null : dueAtMs;
  }

  #flushLater(): void {
    this.#cancelFlush();
    this.#idleFlush = setTimeout(() => this.save(this.#state, Date.now()), IDLE_FLUSH_MS);
  }

  #cancelFlush(): void {
    if (this.#idleFlush !== null) clearTimeout(this.#idleFlush);
    this.#idleFlush = null;
  }
}
