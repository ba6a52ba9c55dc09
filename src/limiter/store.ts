/** An object's state, in memory and in a single row: most of a limiter's cost is rows written. */
import { covers } from "./core/reservation.ts";
import { NEW_STATE, type Row, rowOf, type State, stateOf } from "./core/state.ts";
import { coversUsage } from "./core/usage.ts";
import type { Quota } from "./core/windows.ts";

/** A subclass may have rows under other names. */
const ROW = "hono-durable-limiter";
/** A burst is over after one to two of these intervals without a change. Then the exact state is stored. */
const IDLE_FLUSH_MS = 1_000;
/** An alarm that is this late was lost: the platform drops an alarm after several failures. */
const ALARM_LOST_AFTER_MS = 600_000;

export class Store {
  readonly #ctx: DurableObjectState;
  readonly #alarmDueAtMs: (state: State, nowMs: number) => number | null;
  #state: State;
  /** The row's content. The state differs while requests are reserved or a change waits for the flush. */
  #stored: State;
  /** Set while the row is not exact. The timer keeps the object in memory until the exact state is stored. */
  #flush: ReturnType<typeof setTimeout> | null = null;
  #hasChangedSinceTimer = false;

  /** `alarmDueAtMs` returns null for never. */
  constructor(ctx: DurableObjectState, alarmDueAtMs: (state: State, nowMs: number) => number | null) {
    this.#ctx = ctx;
    this.#alarmDueAtMs = alarmDueAtMs;
    const row = ctx.storage.kv.get<Row>(ROW);
    this.#state = row === undefined ? NEW_STATE : stateOf(row);
    this.#stored = this.#state;
  }

  get state(): State {
    return this.#state;
  }

  /** Whether the state needs no write, because an earlier write has reserved its counts and its requests. */
  covers(state: State, quota: Quota): boolean {
    const { outbox } = this.#stored;
    return covers(this.#stored, state, quota) && coversUsage(outbox, state.outbox, ["admitted"]);
  }

  /** Takes a state that the next save or flush stores. */
  adopt(state: State): void {
    this.#state = state;
    this.#flushLater();
  }

  /** Stores a state now, unless a flush is set: the flush costs no further row, and the block goes on. */
  saveUnlessFlushed(state: State, nowMs: number): void {
    if (this.#flush === null) this.save(state, nowMs);
    else this.adopt(state);
  }

  /**
   * Stores the state now, with the reserved counts in `ahead`, and sets the alarm. A state that cannot be
   * stored is not adopted: the caller gets an error, and the request must not be counted.
   */
  save(state: State, nowMs: number, ahead: Partial<State> = {}): void {
    const dueAtMs = this.#newAlarmAtMs(state, nowMs);
    const saved = dueAtMs === null ? state : { ...state, alarmAtMs: dueAtMs };
    this.#put({ ...saved, ...ahead });
    if (dueAtMs !== null) this.#ctx.waitUntil(this.#ctx.storage.setAlarm(dueAtMs));
    this.#state = saved;
    if (ahead.counts === undefined) this.#cancelFlush();
    else this.#flushLater();
  }

  /** Stores the exact state if the row has lower figures: a crash must not lower a figure that was reported. */
  saveBeforeReport(nowMs: number): void {
    if (!coversUsage(this.#stored.outbox, this.#state.outbox)) this.save(this.#state, nowMs);
  }

  /** Drops the policy from memory and from the row. The row keeps its reserve. */
  dropPolicy(): void {
    this.#state = { ...this.#state, loaded: undefined };
    if (this.#stored.loaded !== undefined) this.#put({ ...this.#stored, loaded: undefined });
  }

  /** Forgets the state first, so that a request during the deletion counts from zero and stays counted. */
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

  /** Returns null if the alarm that is set comes in time. */
  #newAlarmAtMs(state: State, nowMs: number): number | null {
    const dueAtMs = this.#alarmDueAtMs(state, nowMs);
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
      // A save that succeeds ends the new timer. After a failed save the timer repeats it.
      this.#setTimer();
      if (isOver) this.save(this.#state, Date.now());
    }, IDLE_FLUSH_MS);
  }

  #cancelFlush(): void {
    if (this.#flush !== null) clearTimeout(this.#flush);
    this.#flush = null;
  }
}
