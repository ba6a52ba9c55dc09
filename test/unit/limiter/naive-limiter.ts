/**
 * The limiter as one would explain it: lists of times, searched anew for each request. It shares no code and no number
 * with the real one, has no windows that roll and nothing that is reserved.
 */
import type { Limits } from "../../../src/worker/limiter/core/quota.ts";

const minuteOf = (ms: number) => Math.floor(ms / 60_000);
const dayOf = (ms: number) => Math.floor(ms / 86_400_000);

export class NaiveLimiter {
  /** When each admitted request was, by the newest time that any request came at. */
  readonly admittedAt: number[] = [];
  readonly refusedAt: number[] = [];
  /** The first refusal of the exhausted window, named by when it ends. */
  #first = { windowEnd: -1, at: 0 };
  #strikes: number[] = [];
  #bans: { length: number; end: number }[] = [];
  #newest = 0;

  request(limits: Limits, now: number): "admitted" | "limited" | "banned" {
    this.#newest = Math.max(this.#newest, now);
    if (now < this.banEnd) return "banned";
    const { minute, day } = this.used();
    if (minute < limits.perMinute && day < limits.perDay) {
      this.admittedAt.push(this.#newest);
      return "admitted";
    }
    this.refusedAt.push(now);
    const windowEnd =
      day >= limits.perDay ? (dayOf(this.#newest) + 1) * 86_400_000 : (minuteOf(this.#newest) + 1) * 60_000;
    if (windowEnd !== this.#first.windowEnd) this.#first = { windowEnd, at: now };
    else if (now - this.#first.at >= 1_000) this.#strike(now);
    return now < this.banEnd ? "banned" : "limited";
  }

  used(): { minute: number; day: number } {
    const newest = this.#newest;
    return {
      minute: this.admittedAt.filter((at) => minuteOf(at) === minuteOf(newest)).length,
      day: this.admittedAt.filter((at) => dayOf(at) === dayOf(newest)).length,
    };
  }

  get banEnd(): number {
    return this.#bans.at(-1)?.end ?? 0;
  }

  #strike(now: number): void {
    this.#strikes = [...this.#strikes.filter((at) => at > now - 600_000), now];
    if (this.#strikes.length < 20) return;
    this.#strikes = [];
    const last = this.#bans.at(-1);
    const isSoon = last !== undefined && now < last.end + 86_400_000;
    const length = isSoon ? Math.min(last.length * 2, 86_400_000) : 300_000;
    this.#bans.push({ length, end: Math.ceil((now + length) / 1_000) * 1_000 });
  }
}
