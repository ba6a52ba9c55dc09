/** Time that passes when nothing else is to do, so that hours take milliseconds. */
import type { Clock } from "../../fetch.ts";

type Timer = { readonly atMs: number; readonly call: () => void };

export class VirtualTime implements Clock {
  #nowMs: number;
  #timers: Timer[] = [];

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  setTimer(call: () => void, ms: number): () => void {
    const timer = { atMs: this.#nowMs + ms, call };
    const next = this.#timers.findIndex(({ atMs }) => atMs > timer.atMs);
    this.#timers.splice(next === -1 ? this.#timers.length : next, 0, timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.setTimer(resolve, ms));
  }

  /** Until no timer is left, or until a time. */
  async run(untilMs = Number.POSITIVE_INFINITY): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const [next] = this.#timers;
      if (next === undefined || next.atMs > untilMs) return;
      this.#timers.shift();
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.call();
    }
  }
}
